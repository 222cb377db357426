import { type Fault } from "./fault";

/** Credentials by name. */
export type Credentials = Readonly<Record<string, string>>;

/** A record and its newest credentials. After a reset that is not applied yet, they are not valid. */
export type Secret<R, C extends Credentials> = C & {
  /** The record in responses, without credentials. */
  readonly record: R;
  /** How often the credentials were reset since the start or the last `reset()` of the platform. */
  readonly resets: number;
};

/** How a reset differs from the usual one, which is applied before its response is sent. */
export type ResetFault = Pick<Fault, "applyAfterMs" | "keepFormerPassword">;

/** What a store starts with. */
interface Initial<R, C> {
  readonly id: string;
  readonly record: R;
  /** Credentials that are not random. */
  readonly credentials?: Partial<C> | undefined;
}

interface Options<R, C> {
  /** What has such a secret, for errors: `database`. */
  readonly kind: string;
  readonly initial: readonly Initial<R, C>[];
  /** New credentials. @param current those that are accepted now; undefined for the first ones */
  readonly make: (current: C | undefined) => C;
  /** The record as responses have it, such as with the address of the platform. Default: unchanged. */
  readonly toShow?: (record: R, hasNext: boolean) => R;
  /** Makes another server accept credentials. @returns undefined if that is done synchronously */
  readonly onAccept?: (id: string, record: R, accepted: readonly C[]) => Promise<void> | undefined;
}

interface Held<R, C> {
  readonly record: R;
  readonly newest: C;
  /** The credentials that are valid: first those that a read shows, then former ones. */
  readonly accepted: readonly C[];
  /** Further ones, which are valid as well until they are the current ones. */
  readonly next: C | undefined;
  readonly resets: number;
}

/** Secrets of one kind, in memory. */
export class SecretStore<R, C extends Credentials> {
  readonly #held = new Map<string, Held<R, C>>();
  /** The resets that are not applied yet. */
  readonly #late = new Map<string, NodeJS.Timeout>();

  /** `restore` creates the secrets. */
  constructor(private readonly options: Options<R, C>) {}

  get kind(): string {
    return this.options.kind;
  }

  get all(): ReadonlyMap<string, Secret<R, C>> {
    return new Map([...this.#held].map(([id, held]) => [id, this.#shown(held, held.newest)]));
  }

  /** Number of resets of all of them. */
  get resetCount(): number {
    return [...this.#held.values()].reduce((count, { resets }) => count + resets, 0);
  }

  /** With the credentials that are accepted now. Undefined if it does not exist. */
  read(id: string): Secret<R, C> | undefined {
    const held = this.#held.get(id);
    return held && this.#shown(held, held.accepted[0] ?? held.newest);
  }

  /** All credentials that are valid now. */
  accepted(id: string): readonly C[] {
    const { accepted = [], next } = this.#held.get(id) ?? {};
    return next === undefined ? accepted : [...accepted, next];
  }

  /** The credentials that were prepared. Undefined if there are none. */
  next(id: string): C | undefined {
    return this.#held.get(id)?.next;
  }

  /**
   * Makes further credentials, which are valid in addition to the current ones until any are replaced. Those that were
   * prepared before stay the same.
   *
   * @returns undefined if the secret does not exist
   */
  prepare(id: string): C | undefined {
    const held = this.#held.get(id);
    if (held === undefined) return undefined;
    const next = held.next ?? this.options.make(held.accepted[0]);
    this.#held.set(id, { ...held, next });
    return next;
  }

  /**
   * Replaces the credentials, and those that were prepared or are of a reset that is not applied yet.
   *
   * @param by Default: new ones
   * @returns undefined if it does not exist
   * @throws Error if the other server did not confirm it; nothing has changed then
   */
  async reset(id: string, fault: ResetFault = {}, by?: C): Promise<Secret<R, C> | undefined> {
    if (!this.#held.has(id)) return undefined;
    const newest = await this.#replace(id, fault, 1, by);
    return this.#shown(this.#found(id), newest);
  }

  /** The same without a reset. @throws RangeError if it does not exist; Error as `reset` */
  change(id: string): Promise<unknown> {
    this.#found(id);
    return this.#replace(id, {}, 0);
  }

  /** Changes fields of the record. @throws RangeError if it does not exist */
  changeRecord(id: string, fields: Partial<R>): void {
    const held = this.#found(id);
    this.#held.set(id, { ...held, record: { ...held.record, ...structuredClone(fields) } });
  }

  /** Restores the initial secrets, with new credentials if none were given. */
  async restore(): Promise<void> {
    this.stop();
    const restored = this.options.initial.map(({ id, record, credentials }) => {
      const newest = { ...this.options.make(undefined), ...credentials };
      this.#held.set(id, { record, newest, accepted: [], next: undefined, resets: 0 });
      return this.#accept(id, [newest]);
    });
    await Promise.all(restored.filter((asynchronous) => asynchronous !== undefined));
  }

  /** Forgets the resets that are not applied yet. */
  stop(): void {
    this.#late.forEach((timer) => clearTimeout(timer));
    this.#late.clear();
  }

  async #replace(id: string, { applyAfterMs = 0, keepFormerPassword }: ResetFault, resets: number, by?: C): Promise<C> {
    const { accepted } = this.#found(id);
    const newest = by ?? this.options.make(accepted[0]);
    const apply = () => this.#accept(id, [newest, ...(keepFormerPassword ? accepted.slice(0, 1) : [])]);
    clearTimeout(this.#late.get(id));
    if (applyAfterMs === 0) {
      const asynchronous = apply();
      if (asynchronous !== undefined) await asynchronous;
    } else if (applyAfterMs !== "never") {
      // The response was sent long ago: a Redis that is away by then never gets the password.
      const applyLate = (): void => void Promise.resolve(apply()).catch(() => undefined);
      this.#late.set(id, setTimeout(applyLate, applyAfterMs));
    }
    // Another reset may have been confirmed in the meantime.
    const held = this.#found(id);
    this.#held.set(id, { ...held, newest, resets: held.resets + resets });
    return newest;
  }

  #accept(id: string, accepted: readonly C[]): Promise<void> | undefined {
    const done = (): undefined => void this.#held.set(id, { ...this.#found(id), accepted, next: undefined });
    const asynchronous = this.options.onAccept?.(id, this.#found(id).record, accepted);
    return asynchronous === undefined ? done() : asynchronous.then(done);
  }

  #shown({ record, next, resets }: Held<R, C>, credentials: C): Secret<R, C> {
    return { record: this.options.toShow?.(record, next !== undefined) ?? record, ...credentials, resets };
  }

  #found(id: string): Held<R, C> {
    const held = this.#held.get(id);
    if (held === undefined) throw new RangeError(`Local platform: ${this.kind} ${JSON.stringify(id)} does not exist`);
    return held;
  }
}
