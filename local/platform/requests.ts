/** A request that reached the local platform. Headers and bodies are not kept, because they contain credentials. */
export interface PlatformRequest {
  /** HTTP method in upper case. */
  readonly method: string;
  /** Path and query as sent, percent-encoded. */
  readonly path: string;
  /** Whether the credentials were correct for the path. */
  readonly authorized: boolean;
  /** Status of the response; undefined while there is none, and permanently if the connection was closed. */
  readonly status: number | undefined;
}

/** Minimum number of requests that are kept. */
const least = 10_000;

/** The requests in the order of their arrival. */
export class RequestLog {
  readonly #entries: { -readonly [K in keyof PlatformRequest]: PlatformRequest[K] }[] = [];

  get all(): readonly PlatformRequest[] {
    return this.#entries;
  }

  /** Records a request. @returns the entry, and a function that sets its status */
  add(request: Omit<PlatformRequest, "status">): {
    readonly entry: PlatformRequest;
    readonly setStatus: (status: number) => void;
  } {
    const entry = { ...request, status: undefined as number | undefined };
    this.#entries.push(entry);
    // Several at once, which is cheaper.
    if (this.#entries.length > least * 1.1) this.#entries.splice(0, this.#entries.length - least);
    return { entry, setStatus: (status) => void (entry.status = status) };
  }

  clear(): void {
    this.#entries.length = 0;
  }
}
