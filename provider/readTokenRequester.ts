import { RequestError, type RequestFacts } from "./platform/errors";
import { isRejected } from "./platform/failures";
import { type ApiRequest, type ApiResponse, factsOf, isIdempotent, type Requester } from "./platform/http";
import { queueToken } from "./platform/queueToken";
import { ownerOf } from "./platform/secretKind";
import { type SecretOperations } from "./platform/secretOperations";
import { type SecretResponse } from "./records/response";

/** The queue's user as this process has read it last. */
export interface ReadUser {
  current?: Promise<Pick<SecretResponse, "credentials">> | undefined;
}

/** What a `ReadTokenRequester` needs. */
interface Sources {
  /** `rekey:queueUserId` */
  readonly userId: string;
  readonly baseUrl: string;
  readonly users: Pick<SecretOperations, "read">;
  readonly requesterWith: (token: string) => Requester;
}

/** Sends requests to the queue with a token that is read when it is first needed, and once more if it is refused. */
export class ReadTokenRequester implements Requester {
  constructor(
    private readonly user: ReadUser,
    private readonly sources: Sources,
    readonly secrets: Requester["secrets"],
  ) {}

  async send(request: ApiRequest): Promise<ApiResponse> {
    const { baseUrl, requesterWith } = this.sources;
    const facts = factsOf(request, baseUrl);
    const first = this.#read();
    const token = await this.#tokenIn(first, facts);
    try {
      return await requesterWith(token).send(request);
    } catch (error) {
      if (!isIdempotent(request) || !isRejected(error) || error.status !== 401) throw error;
      // Another process has reset it. Requests that were refused together read it once.
      if (this.user.current === first) this.user.current = undefined;
      const renewed = await this.#tokenIn(this.#read(), facts);
      if (renewed === token) throw error;
      return requesterWith(renewed).send(request);
    }
  }

  #read(): NonNullable<ReadUser["current"]> {
    const current = (this.user.current ??= this.sources.users.read(this.sources.userId));
    current.catch(() => {
      if (this.user.current === current) this.user.current = undefined;
    });
    return current;
  }

  /** @throws RequestError: the request was not sent */
  async #tokenIn(read: NonNullable<ReadUser["current"]>, facts: RequestFacts): Promise<string> {
    const user = `${ownerOf({ kind: queueToken, id: this.sources.userId })} (rekey:queueUserId)`;
    const { credentials } = await read.catch((error: unknown) => {
      if (!(error instanceof RequestError)) throw error;
      const { happened, advice } = error;
      throw new RequestError("not sent", facts, {
        happened: `the token of ${user} could not be read: ${happened}`,
        advice,
      });
    });
    // Only visible ASCII can be sent.
    if (/^[\x21-\x7e]+$/.test(credentials.token ?? "")) return credentials.token ?? "";
    const happened = `the platform does not show the token of ${user}`;
    const advice = "Set rekey:queueToken instead of rekey:queueUserId.";
    throw new RequestError("not sent", facts, { happened, advice });
  }
}
