import { type SecretResponse } from "../records/secretResponse";
import { RequestError, type RequestFacts } from "../domain/errors";
import { type ApiRequest, type ApiResponse, factsOf, isIdempotent, type Requester } from "./http";
import { type KnownSecrets } from "./redact";
import { ownerOf, queueToken } from "../domain/secretKind";
import { type SecretOperations } from "./secretOperations";

/** The queue's user as this process has read it last. */
export interface QueueUser {
  current?: Promise<Pick<SecretResponse, "credentials">> | undefined;
}

/** Sends requests to the queue with a token that is read when it is first needed, and once more if it is refused. */
export class ReadTokenRequester implements Requester {
  constructor(
    private readonly user: QueueUser,
    private readonly sources: {
      /** `rekey:queueUserId` */
      readonly userId: string;
      readonly baseUrl: string;
      readonly users: Pick<SecretOperations, "read">;
      readonly requesterWith: (token: string) => Requester;
    },
    readonly secrets: KnownSecrets,
  ) {}

  async send(request: ApiRequest): Promise<ApiResponse> {
    const { baseUrl, requesterWith } = this.sources;
    const facts = factsOf(request, baseUrl);
    const first = this.#read();
    const token = await this.#tokenIn(first, facts);
    try {
      return await requesterWith(token).send(request);
    } catch (error) {
      if (!isIdempotent(request) || !(error instanceof RequestError) || error.status !== 401) {
        throw error;
      }
      // Another process has reset it. Requests that were refused together read it once.
      if (this.user.current === first) this.user.current = undefined;
      const renewed = await this.#tokenIn(this.#read(), facts);
      if (renewed === token) throw error;
      return requesterWith(renewed).send(request);
    }
  }

  #read(): NonNullable<QueueUser["current"]> {
    const current = (this.user.current ??= this.sources.users.read(this.sources.userId));
    current.catch(() => {
      if (this.user.current === current) this.user.current = undefined;
    });
    return current;
  }

  async #tokenIn(read: NonNullable<QueueUser["current"]>, facts: RequestFacts): Promise<string> {
    const user = `${ownerOf({ kind: queueToken, id: this.sources.userId })} (rekey:queueUserId)`;
    const notSent = (happened: string, advice: string) =>
      new RequestError("not sent", facts, { happened, advice });
    const { credentials } = await read.catch((error: unknown) => {
      if (!(error instanceof RequestError)) throw error;
      throw notSent(`the token of ${user} could not be read: ${error.happened}`, error.advice);
    });
    const { token = "" } = credentials;
    // Only visible ASCII can be sent.
    if (/^[\x21-\x7e]+$/.test(token)) return token;
    throw notSent(
      `the platform does not show the token of ${user}`,
      "Use an API key that is not read-only, or set rekey:queueToken instead of rekey:queueUserId.",
    );
  }
}
