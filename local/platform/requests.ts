import { addBounded } from "./bounded";

/** A request that reached the local platform. Headers and bodies are not kept: they carry credentials. */
export interface PlatformRequest {
  /** In capitals. */
  readonly method: string;
  /** As it was sent: percent-encoded, with the query. */
  readonly path: string;
  /** Whether it carried the right credentials for its path. */
  readonly authorized: boolean;
  /** Status of the answer; undefined while there is none, and for ever where the connection was cut. */
  readonly status: number | undefined;
}

/** At least so many of the newest requests are kept. */
const least = 10_000;

/** The requests, in the order in which they arrived. */
export class RequestLog {
  readonly #entries: { -readonly [K in keyof PlatformRequest]: PlatformRequest[K] }[] = [];

  get all(): readonly PlatformRequest[] {
    return this.#entries;
  }

  /** Notes a request; the returned function fills in its status. */
  add(request: Omit<PlatformRequest, "status">): {
    readonly entry: PlatformRequest;
    readonly answered: (status: number) => void;
  } {
    const entry = { ...request, status: undefined as number | undefined };
    addBounded(this.#entries, entry, least);
    return { entry, answered: (status) => void (entry.status = status) };
  }

  clear(): void {
    this.#entries.length = 0;
  }
}
