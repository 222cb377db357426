import { Client, credentials, Metadata, type ServiceError, status } from "@grpc/grpc-js";
import { ResourceProviderService } from "@pulumi/pulumi/proto/provider_grpc_pb";
import * as messages from "@pulumi/pulumi/proto/provider_pb";
import { Status } from "@pulumi/pulumi/proto/status_pb";
import { Child } from "./child";
import { EngineError } from "./errors";
import { type ResourceState } from "./format";
import { type ProviderDiff } from "./plan";
import { annotateSecrets, containsUnknown, fromStruct, type PropertyMap, toProvider, toStruct } from "./values";

/** A resource that a provider created, updated or read. */
export interface Made {
  readonly id: string | undefined;
  readonly outputs: PropertyMap;
}

/** The provider created or updated the resource, but its initialization failed. Its current outputs are saved. */
export class InitError extends Error implements Made {
  constructor(
    readonly id: string,
    readonly outputs: PropertyMap,
    readonly reasons: string[],
  ) {
    const count = reasons.length === 1 ? "1 error" : `${reasons.length} errors`;
    const list = reasons.map((reason) => `\t* ${reason}\n`).join("");
    super(reasons.length === 0 ? "resource init failed" : `${count} occurred:\n${list}\n`);
  }
}

/** The provider's process has ended or cannot be reached. It is unknown whether it made the requested change. */
export class HostGone extends EngineError {}

export interface CheckResult {
  readonly inputs: PropertyMap;
  readonly failures: { property: string; reason: string }[];
}

/**
 * The SDK's process for dynamic providers. It gets secrets in plain text; outputs are marked as secret again by name.
 */
export class DynamicHost {
  private constructor(
    private readonly child: Child,
    private readonly client: Client,
    private readonly unsavedChangeAdvice: string,
  ) {}

  /** Starts the process and sends it the stack's configuration. */
  static async start(
    options: {
      engine: string;
      cwd: string;
      env: NodeJS.ProcessEnv;
      config: PropertyMap;
      unsavedChangeAdvice: string;
    },
    onLine: (line: string) => void,
  ): Promise<DynamicHost> {
    let announce: ((port: string) => void) | undefined;
    const port = new Promise<string>((resolve) => (announce = resolve));
    const child = Child.start("cmd/dynamic-provider/index.js", [options.engine], options, (line, from) => {
      if (!announce || from === "stderr" || !/^\d+$/.test(line)) return onLine(line);
      announce(line);
      announce = undefined;
    });
    const died = child.exit.then(({ code }): never => {
      const how = `the dynamic provider host ended before it was ready, with exit code ${String(code)}`;
      throw new EngineError(`${how}. Nothing was sent. See its output in the diagnostics`);
    });
    died.catch(() => undefined);
    const client = new Client(`127.0.0.1:${await Promise.race([port, died])}`, credentials.createInsecure(), {
      "grpc.max_receive_message_length": -1,
      "grpc.max_send_message_length": -1,
    });
    const host = new DynamicHost(child, client, options.unsavedChangeAdvice);
    const request = new messages.ConfigureRequest().setArgs(toStruct(options.config));
    await host.#call(ResourceProviderService.configure, request.setAcceptsecrets(true).setAcceptresources(true));
    return host;
  }

  async check(urn: string, olds: PropertyMap, news: PropertyMap): Promise<CheckResult> {
    const request = new messages.CheckRequest().setUrn(urn).setOlds(toProvider(olds)).setNews(toProvider(news));
    const response = await this.#call(ResourceProviderService.check, request);
    return {
      inputs: annotateSecrets(fromStruct(response.getInputs()), news),
      failures: response.getFailuresList().map((f) => ({ property: f.getProperty(), reason: f.getReason() })),
    };
  }

  async diff(old: ResourceState, inputs: PropertyMap, urn = old.urn): Promise<ProviderDiff> {
    const request = new messages.DiffRequest().setUrn(urn).setId(old.id ?? "");
    request.setOlds(toProvider(old.outputs)).setNews(toProvider(inputs));
    const response = await this.#call(ResourceProviderService.diff, request);
    const { DIFF_NONE, DIFF_SOME } = messages.DiffResponse.DiffChanges;
    const changes = response.getChanges();
    return {
      changed: changes === DIFF_NONE ? false : changes === DIFF_SOME ? true : undefined,
      replaces: response.getReplacesList(),
      deleteBeforeReplace: response.getDeletebeforereplace(),
    };
  }

  async create({ urn, inputs }: ResourceState): Promise<Made> {
    const request = new messages.CreateRequest().setUrn(urn).setProperties(toProvider(inputs));
    const response = await this.#call(ResourceProviderService.create, request, inputs);
    if (response.getId() === "") throw new EngineError("the provider did not return an ID from Create");
    return made(response.getId(), response, inputs);
  }

  async update(old: ResourceState, { urn, inputs }: ResourceState): Promise<Made> {
    const request = new messages.UpdateRequest().setUrn(urn).setId(old.id ?? "");
    request.setOlds(toProvider(old.outputs)).setNews(toProvider(inputs));
    return made(old.id, await this.#call(ResourceProviderService.update, request, inputs), inputs);
  }

  /** @returns undefined if the resource no longer exists; the inputs only if the provider returns them */
  async read(old: ResourceState): Promise<(Made & { inputs: PropertyMap | undefined }) | undefined> {
    const request = new messages.ReadRequest().setUrn(old.urn).setId(old.id ?? "");
    const response = await this.#call(ResourceProviderService.read, request.setProperties(toProvider(old.outputs)));
    if (response.getId() === "") return undefined;
    const inputs = response.hasInputs() ? annotateSecrets(fromStruct(response.getInputs()), old.inputs) : undefined;
    return { ...made(response.getId(), response, old.outputs), inputs };
  }

  async delete({ urn, id = "", outputs }: ResourceState): Promise<void> {
    const request = new messages.DeleteRequest().setUrn(urn).setId(id).setProperties(toProvider(outputs));
    await this.#call(ResourceProviderService.delete, request);
  }

  async stop(): Promise<void> {
    this.client.close();
    await this.child.stop(2000);
  }

  #call<Request, Response>(
    { path, requestSerialize, responseDeserialize }: Method<Request, Response>,
    request: Request,
    inputs: PropertyMap = {},
  ): Promise<Response> {
    return new Promise((resolve, reject) => {
      const onResponse = (error: ServiceError | null, response?: Response): void => {
        if (error) reject(fromServiceError(error, inputs, this.unsavedChangeAdvice));
        else resolve(response as Response);
      };
      this.client.makeUnaryRequest(
        path,
        requestSerialize,
        responseDeserialize,
        request,
        new Metadata(),
        {},
        onResponse,
      );
    });
  }
}

interface Method<Request, Response> {
  readonly path: string;
  readonly requestSerialize: (value: Request) => Buffer;
  readonly responseDeserialize: (bytes: Buffer) => Response;
}

/**
 * Reads a response, in which no value may be unknown. @param like properties that determine which outputs are secret
 */
function made(
  id: string | undefined,
  response: messages.CreateResponse | messages.UpdateResponse | messages.ReadResponse,
  like: PropertyMap,
): Made {
  const outputs = annotateSecrets(fromStruct(response.getProperties()), like);
  const lost = Object.keys(outputs).find((key) => containsUnknown(outputs[key] ?? null));
  if (lost !== undefined) throw new EngineError(`unexpected unknown property value for ${JSON.stringify(lost)}`);
  return { id, outputs };
}

function fromServiceError(error: ServiceError, inputs: PropertyMap, unsavedChangeAdvice: string): Error {
  for (const detail of error.metadata.get("grpc-status-details-bin")) {
    for (const any of Status.deserializeBinary(Buffer.from(detail)).getDetailsList()) {
      if (any.getTypeName() !== "pulumirpc.ErrorResourceInitFailed") continue;
      const failed = messages.ErrorResourceInitFailed.deserializeBinary(any.getValue_asU8());
      const outputs = annotateSecrets(fromStruct(failed.getProperties()), inputs);
      return new InitError(failed.getId(), outputs, failed.getReasonsList());
    }
  }
  const { UNAVAILABLE, INTERNAL } = status;
  if (error.code !== UNAVAILABLE && error.code !== INTERNAL) return new EngineError(error.details, { cause: error });
  const happened = `the provider's process ended or cannot be reached (${error.details})`;
  return new HostGone(`${happened}. It is unknown whether it made the change.\n${unsavedChangeAdvice}`, {
    cause: error,
  });
}
