import { type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { Client, type ClientUnaryCall, credentials, Metadata, type MethodDefinition } from "@grpc/grpc-js";
import { ResourceProviderService } from "@pulumi/pulumi/proto/provider_grpc_pb";
import { ConfigureRequest, type ConfigureResponse } from "@pulumi/pulumi/proto/provider_pb";
import { type Properties, toStruct } from "./wire";

/** A client of a provider, over a real socket. */
export class ProviderClient {
  readonly #client: Client;
  readonly #calls = new Set<ClientUnaryCall>();

  constructor(port: number) {
    this.#client = new Client(`127.0.0.1:${port}`, credentials.createInsecure(), {
      "grpc.max_receive_message_length": -1,
      "grpc.max_send_message_length": -1,
    });
  }

  /** The client of a process that was just started: it prints its port first. */
  static async of({ stdout }: ChildProcess): Promise<ProviderClient> {
    if (!stdout) throw new Error("the output of the provider is needed");
    const lines = createInterface({ input: stdout });
    const [port] = (await Promise.race([once(lines, "line"), once(lines, "close")])) as [string | undefined];
    if (!/^\d+$/.test(port ?? "")) throw new Error(`the provider did not start: ${port}`);
    return new ProviderClient(Number(port));
  }

  /** @throws ServiceError, with the trailers of the failed call */
  call<Request, Response>(method: MethodDefinition<Request, Response>, request: Request): Promise<Response> {
    const { path, requestSerialize, responseDeserialize } = method;
    return new Promise((resolve, reject) => {
      const call = this.#client.makeUnaryRequest(
        path,
        requestSerialize,
        responseDeserialize,
        request,
        new Metadata(),
        { deadline: Date.now() + 300_000 },
        (error, response) => {
          this.#calls.delete(call);
          if (response !== undefined) resolve(response);
          else reject(error ?? new Error(`no response to ${path}`));
        },
      );
      this.#calls.add(call);
    });
  }

  configure(urn: string, args: Properties): Promise<ConfigureResponse> {
    const request = new ConfigureRequest().setUrn(urn).setId("provider-id").setArgs(toStruct(args));
    return this.call(ResourceProviderService.configure, request.setAcceptsecrets(true).setSendsOldInputs(true));
  }

  /** Ends the connection, and the calls on it, as a process that is killed does. */
  close(): void {
    for (const call of this.#calls) call.cancel();
    this.#client.close();
  }
}
