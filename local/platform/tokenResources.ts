import { LateResets, type ResetFault } from "./lateResets";
import { isSecret, newSecret } from "./secrets";

/**
 * The record of a vector index, a search index or a queue user, without tokens. Any field may have any value,
 * `undefined` omits it, and unknown fields may be added.
 */
export type TokenResourceRecord = {
  /** Id of the index or the user. */
  readonly id: string;
} & {
  readonly [field: string]: unknown;
};

/** A vector index, a search index or a queue user: each has a token and a read-only token. */
export interface TokenResource {
  /** The record in responses. The `endpoint` of an index is a URL of the platform, unless another was given. */
  readonly record: TokenResourceRecord;
  /** The newest token. After a reset that is not applied yet, it is refused. */
  readonly token: string;
  /** The newest read-only token. */
  readonly readOnlyToken: string;
  /**
   * How often the tokens were reset since the start or the last `reset()` of the platform, plus the count of a saved
   * state.
   */
  readonly resets: number;
}

/** An index or a queue user with its state: the record exactly as given, and random tokens if none are given. */
export type SavedTokenResource = Pick<TokenResource, "record"> & {
  readonly [K in keyof Omit<TokenResource, "record">]?: TokenResource[K] | undefined;
};

type Tokens = Pick<TokenResource, "token" | "readOnlyToken">;

/** Vector indexes, search indexes or queue users, with their tokens. */
export class TokenResources {
  /** With their records as given. */
  readonly #resources = new Map<string, TokenResource>();
  /** The tokens that are accepted: first the current ones, then former ones that are still valid. */
  readonly #accepted = new Map<string, readonly Tokens[]>();
  readonly #late = new LateResets();

  /**
   * @param kind the name of one of them, for errors
   * @param withAddress adds the address of the platform to a record
   */
  constructor(
    readonly kind: string,
    private readonly initial: readonly SavedTokenResource[],
    private readonly withAddress = (record: TokenResourceRecord) => record,
  ) {
    this.restore();
  }

  get all(): ReadonlyMap<string, TokenResource> {
    return new Map([...this.#resources].map(([id, resource]) => [id, this.#withAddress(resource)]));
  }

  /** Number of resets of all of them. */
  get resetCount(): number {
    return [...this.#resources.values()].reduce((count, { resets }) => count + resets, 0);
  }

  /** The state from which the same ones can be created again. */
  get saved(): SavedTokenResource[] {
    return [...this.#resources.values()];
  }

  has(id: string): boolean {
    return this.#resources.has(id);
  }

  /** A resource with the tokens that it accepts now. Undefined if it does not exist. */
  read(id: string): TokenResource | undefined {
    const resource = this.#resources.get(id);
    return resource && { ...this.#withAddress(resource), ...this.#accepted.get(id)?.[0] };
  }

  /** Whether a token is valid. The read-only token is valid for reads alone. */
  accepts(id: string, token: string, isRead: boolean): boolean {
    const accepted = this.#accepted.get(id) ?? [];
    return accepted.some(
      (tokens) => isSecret(token, tokens.token) || (isRead && isSecret(token, tokens.readOnlyToken)),
    );
  }

  /** Replaces both tokens. @returns undefined if the resource does not exist */
  reset(id: string, fault: ResetFault = {}): TokenResource | undefined {
    const resource = this.#resources.get(id);
    return resource && this.#replaceTokens({ ...resource, resets: resource.resets + 1 }, fault);
  }

  /** Replaces both tokens without a reset. @throws RangeError if the resource does not exist */
  change(id: string): void {
    const resource = this.#resources.get(id);
    if (resource === undefined) {
      throw new RangeError(`Local platform: ${this.kind} ${JSON.stringify(id)} does not exist`);
    }
    this.#replaceTokens(resource);
  }

  /** Restores the initial state, with new random tokens if none were given. */
  restore(): void {
    this.stop();
    for (const { record, resets = 0, token = newSecret(), readOnlyToken = newSecret() } of this.initial) {
      this.#resources.set(record.id, { record, token, readOnlyToken, resets });
      this.#accepted.set(record.id, [{ token, readOnlyToken }]);
    }
  }

  /** Forgets the resets that are not applied yet. */
  stop(): void {
    this.#late.clear();
  }

  #replaceTokens(resource: TokenResource, fault: ResetFault = {}): TokenResource {
    const { id } = resource.record;
    const tokens = { token: newSecret(), readOnlyToken: newSecret() };
    const former = fault.keepFormerPassword ? (this.#accepted.get(id)?.slice(0, 1) ?? []) : [];
    this.#late.apply(id, fault, () => this.#accepted.set(id, [tokens, ...former]));
    const replaced = { ...resource, ...tokens };
    this.#resources.set(id, replaced);
    return this.#withAddress(replaced);
  }

  #withAddress(resource: TokenResource): TokenResource {
    return { ...resource, record: this.withAddress(resource.record) };
  }
}

/** The state of an index or a queue user, given as an id, as fields that override a sample, or as a whole. */
export function asSaved(
  given: string | TokenResourceRecord | SavedTokenResource,
  sample: (id: string) => TokenResourceRecord,
): SavedTokenResource {
  if (typeof given === "string") {
    return { record: sample(given) };
  }
  return "id" in given ? { record: { ...sample(given.id), ...structuredClone(given) } } : structuredClone(given);
}
