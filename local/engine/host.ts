import { Client, credentials, Metadata, type ServiceError, status } from "@grpc/grpc-js";
import { ResourceProviderService } from "@pulumi/pulumi/proto/provider_grpc_pb";
import * as messages from "@pulumi/pulumi/proto/provider_pb";
import { Status } from "@pulumi/pulumi/proto/status_pb";
import { Child } from "./child";
import { EngineError } from "./errors";
import { type DiffAnswer } from "./plan";
import { annotateSecrets, containsUnknown, fromStruct, type PropertyMap, toStruct } from "./values";

/** The provider made or changed the resource, and it is not well; what there is of it is saved. */
export class InitError extends Error {
  constructor(
    readonly id: string,
    readonly properties: PropertyMap,
    readonly reasons: string[],
  ) {
    const count = reasons.length === 1 ? "1 error" : `${reasons.length} errors`;
    super(
      reasons.length === 0
        ? "resource init failed"
        : `${count} occurred:\n${reasons.map((r) => `\t* ${r}\n`).join("")}\n`,
    );
  }
}

/** The provider's process is gone, or out of reach: nobody knows whether it did what it was asked. */
export class HostGone extends EngineError {}

export interface CheckAnswer {
  readonly inputs: PropertyMap;
  readonly failures: { property: string; reason: string }[];
}

/** The SDK's own process for dynamic providers. It is told secrets in plain; what it answers is marked secret again by name. */
export class DynamicHost {
  private constructor(
    private readonly child: Child,
    private readonly client: Client,
  ) {}

  /** Starts the process and tells it the stack's configuration. */
  static async start(
    options: { engine: string; cwd: string; env: NodeJS.ProcessEnv; config: PropertyMap },
    onLine: (line: string) => void,
  ): Promise<DynamicHost> {
    let announce: (port: string) => void = () => undefined;
    const port = new Promise<string>((resolve) => (announce = resolve));
    let announced = false;
    const child = Child.start("cmd/dynamic-provider/index.js", [options.engine], options, (line, from) => {
      if (announced || from === "stderr" || !/^\d+$/.test(line)) return onLine(line);
      announced = true;
      announce(line);
    });
    const died = child.exit.then(({ code }): never => {
      throw new EngineError(`the dynamic provider host ended before it was ready, with exit code ${String(code)}`);
    });
    died.catch(() => undefined);
    const client = new Client(`127.0.0.1:${await Promise.race([port, died])}`, credentials.createInsecure(), {
      "grpc.max_receive_message_length": -1,
      "grpc.max_send_message_length": -1,
    });
    const host = new DynamicHost(child, client);
    await host.configure(options.config);
    return host;
  }

  private async configure(config: PropertyMap): Promise<void> {
    const request = new messages.ConfigureRequest();
    request.setArgs(toStruct(config, { secrets: true, resources: true }));
    request.setAcceptsecrets(true).setAcceptresources(true).setSendsOldInputs(true).setSendsOldInputsToDelete(true);
    await this.call(ResourceProviderService.configure, request);
  }

  async check(urn: string, olds: PropertyMap, news: PropertyMap): Promise<CheckAnswer> {
    const request = new messages.CheckRequest().setUrn(urn).setOlds(plain(olds)).setNews(plain(news));
    const response = await this.call(ResourceProviderService.check, request);
    return {
      inputs: annotateSecrets(fromStruct(response.getInputs()), news),
      failures: response.getFailuresList().map((f) => ({ property: f.getProperty(), reason: f.getReason() })),
    };
  }

  async diff(
    urn: string,
    id: string,
    oldInputs: PropertyMap,
    olds: PropertyMap,
    news: PropertyMap,
  ): Promise<DiffAnswer> {
    const request = new messages.DiffRequest().setUrn(urn).setId(id).setOldInputs(plain(oldInputs));
    const response = await this.call(ResourceProviderService.diff, request.setOlds(plain(olds)).setNews(plain(news)));
    const { DIFF_NONE, DIFF_SOME } = messages.DiffResponse.DiffChanges;
    const changes = response.getChanges();
    return {
      changes: changes === DIFF_NONE ? "none" : changes === DIFF_SOME ? "some" : "unknown",
      replaces: response.getReplacesList(),
      deleteBeforeReplace: response.getDeletebeforereplace(),
    };
  }

  async create(urn: string, inputs: PropertyMap, timeout: number): Promise<{ id: string; outputs: PropertyMap }> {
    const request = new messages.CreateRequest().setUrn(urn).setProperties(plain(inputs)).setTimeout(timeout);
    const response = await this.call(ResourceProviderService.create, request, inputs);
    if (response.getId() === "") throw new EngineError("the provider did not return an ID from Create");
    return { id: response.getId(), outputs: known(annotateSecrets(fromStruct(response.getProperties()), inputs)) };
  }

  async update(
    urn: string,
    id: string,
    old: { inputs: PropertyMap; outputs: PropertyMap },
    inputs: PropertyMap,
    options: { timeout: number; ignoreChanges: string[] },
  ): Promise<PropertyMap> {
    const request = new messages.UpdateRequest()
      .setUrn(urn)
      .setId(id)
      .setOlds(plain(old.outputs))
      .setNews(plain(inputs));
    request.setOldInputs(plain(old.inputs)).setTimeout(options.timeout).setIgnorechangesList(options.ignoreChanges);
    const response = await this.call(ResourceProviderService.update, request, inputs);
    return known(annotateSecrets(fromStruct(response.getProperties()), inputs));
  }

  /** @returns undefined when the resource is gone */
  async read(
    urn: string,
    id: string,
    old: { inputs: PropertyMap; outputs: PropertyMap },
  ): Promise<{ id: string; inputs: PropertyMap | undefined; outputs: PropertyMap } | undefined> {
    const request = new messages.ReadRequest().setUrn(urn).setId(id);
    request.setProperties(plain(old.outputs)).setInputs(plain(old.inputs));
    const response = await this.call(ResourceProviderService.read, request);
    if (response.getId() === "") return undefined;
    const inputs = response.hasInputs() ? annotateSecrets(fromStruct(response.getInputs()), old.inputs) : undefined;
    return {
      id: response.getId(),
      inputs,
      outputs: known(annotateSecrets(fromStruct(response.getProperties()), old.outputs)),
    };
  }

  async delete(
    urn: string,
    id: string,
    old: { inputs: PropertyMap; outputs: PropertyMap },
    timeout: number,
  ): Promise<void> {
    const request = new messages.DeleteRequest().setUrn(urn).setId(id).setTimeout(timeout);
    await this.call(
      ResourceProviderService.delete,
      request.setProperties(plain(old.outputs)).setOldInputs(plain(old.inputs)),
    );
  }

  async stop(): Promise<void> {
    this.client.close();
    await this.child.stop(2000);
  }

  private call<Request, Response>(
    method: Method<Request, Response>,
    request: Request,
    inputs: PropertyMap = {},
  ): Promise<Response> {
    return new Promise((resolve, reject) => {
      const { path, requestSerialize, responseDeserialize } = method;
      this.client.makeUnaryRequest(
        path,
        requestSerialize,
        responseDeserialize,
        request,
        new Metadata(),
        {},
        (error, response) => {
          if (error) reject(fromServiceError(error, inputs));
          else if (response === undefined) reject(new EngineError(`the provider answered nothing to ${path}`));
          else resolve(response);
        },
      );
    });
  }
}

interface Method<Request, Response> {
  readonly path: string;
  readonly requestSerialize: (value: Request) => Buffer;
  readonly responseDeserialize: (bytes: Buffer) => Response;
}

function plain(values: PropertyMap): ReturnType<typeof toStruct> {
  return toStruct(values, { secrets: false, resources: false });
}

/** Nothing that was made can be unknown. */
function known(outputs: PropertyMap): PropertyMap {
  const unknown = Object.entries(outputs).find(([, value]) => containsUnknown(value));
  if (unknown) throw new EngineError(`unexpected unknown property value for ${JSON.stringify(unknown[0])}`);
  return outputs;
}

function fromServiceError(error: ServiceError, inputs: PropertyMap): Error {
  for (const detail of error.metadata.get("grpc-status-details-bin")) {
    for (const any of Status.deserializeBinary(Buffer.from(detail)).getDetailsList()) {
      if (any.getTypeName() !== "pulumirpc.ErrorResourceInitFailed") continue;
      const failed = messages.ErrorResourceInitFailed.deserializeBinary(any.getValue_asU8());
      const properties = annotateSecrets(fromStruct(failed.getProperties()), inputs);
      return new InitError(failed.getId(), properties, failed.getReasonsList());
    }
  }
  const { UNAVAILABLE, INTERNAL } = status;
  if (error.code !== UNAVAILABLE && error.code !== INTERNAL) return new EngineError(error.details, { cause: error });
  const message = `the provider's process ended, or cannot be reached (${error.details}): whether it did what it was asked is unknown`;
  return new HostGone(message, { cause: error });
}
