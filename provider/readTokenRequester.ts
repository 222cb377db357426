import { NotSentError, RejectedError, RequestError } from "./platform/errors";
import { type ApiRequest, type ApiResponse, factsOf, isIdempotent, type Requester } from "./platform/http";
import { queueToken } from "./platform/queueToken";
import { ownerOf } from "./platform/secretKind";
import { type SecretOperations } from "./platform/secretOperations";
import { nameOf } from "./settings/table";

/** The queue's token as far as this process has read it. */
export interface ReadToken {
  current?: Promise<string> | undefined;
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
    private readonly token: ReadToken,
    private readonly sources: Sources,
    readonly secrets: Requester["secrets"],
  ) {}

  async send(request: ApiRequest): Promise<ApiResponse> {
    const { requesterWith } = this.sources;
    const used = this.#current();
    const token = await this.#orNotSent(used, request);
    try {
      return await requesterWith(token).send(request);
    } catch (error) {
      if (!isIdempotent(request) || !(error instanceof RejectedError) || error.status !== 401) throw error;
      // Requests that were refused together read it once.
      if (this.token.current === used) this.token.current = undefined;
      const renewed = await this.#orNotSent(this.#current(), request);
      if (renewed === token) throw error;
      return requesterWith(renewed).send(request);
    }
  }

  #current(): Promise<string> {
    const current = (this.token.current ??= this.#read());
    current.catch(() => {
      if (this.token.current === current) this.token.current = undefined;
    });
    return current;
  }

  /** @throws NotRead */
  async #read(): Promise<string> {
    const { userId, users } = this.sources;
    const setting = nameOf("queueUserId");
    const user = `${ownerOf({ kind: queueToken, id: userId })} (${setting})`;
    const { credentials } = await users.read(userId).catch((error: unknown) => {
      if (!(error instanceof RequestError)) throw error;
      throw new NotRead(`the token of ${user} could not be read: ${error.happened}`, error.advice);
    });
    const { token } = credentials;
    // Only visible ASCII can be sent.
    if (token !== undefined && /^[\x21-\x7e]+$/.test(token)) return token;
    const advice = `Set ${nameOf("queueToken")} instead of ${setting}.`;
    throw new NotRead(`the platform does not show the token of ${user}`, advice);
  }

  /** An error of the read is none of the request: its status means nothing there. */
  async #orNotSent(token: Promise<string>, request: ApiRequest): Promise<string> {
    try {
      return await token;
    } catch (error) {
      throw error instanceof NotRead ? new NotSentError(factsOf(request, this.sources.baseUrl), error) : error;
    }
  }
}

/** The token could not be read. */
class NotRead extends Error {
  constructor(
    readonly happened: string,
    readonly advice: string,
  ) {
    super(happened);
  }
}
