import { LateResets, type ResetFault } from "./lateResets";
import { newSecret } from "./secrets";

/** The keys that sign messages, and how often they were rolled. */
export interface SigningKeys {
  /** The key that signs messages. */
  readonly current: string;
  /** The key that signs messages after the next roll. */
  readonly next: string;
  /**
   * How often the keys were rolled since the start or the last `reset()` of the platform, plus the count of a saved
   * state.
   */
  readonly rolls: number;
}

/** Signing keys in a seed or an option: random unless given. */
export type SavedSigningKeys = { readonly [K in keyof SigningKeys]?: SigningKeys[K] | undefined };

/** The signing keys, in memory. */
export class SigningKeyStore {
  readonly #late = new LateResets();
  #newest!: SigningKeys;
  #inUse!: SigningKeys;

  constructor(private readonly initial: SavedSigningKeys = {}) {
    this.restore();
  }

  /** The newest keys. After a roll that is not applied yet, they are not in use. */
  get newest(): SigningKeys {
    return this.#newest;
  }

  /** The keys that sign messages, and that a read returns. */
  get inUse(): SigningKeys {
    return this.#inUse;
  }

  /** Number of rolls. */
  get resetCount(): number {
    return this.#newest.rolls;
  }

  /** Makes the next key the current one. A roll that is not applied yet is replaced. @returns the newest keys */
  roll(fault: ResetFault = {}): SigningKeys {
    return this.#replace(this.#newest.rolls + 1, fault);
  }

  /** Rolls the keys without counting it. */
  change(): void {
    this.#replace(this.#newest.rolls);
  }

  /** Restores the initial keys, with new random ones if none were given. */
  restore(): void {
    this.stop();
    const { current = newSigningKey(), next = newSigningKey(), rolls = 0 } = this.initial;
    this.#newest = this.#inUse = { current, next, rolls };
  }

  /** Forgets a roll that is not applied yet. */
  stop(): void {
    this.#late.clear();
  }

  #replace(rolls: number, fault: ResetFault = {}): SigningKeys {
    const keys = { current: this.#inUse.next, next: newSigningKey(), rolls };
    this.#newest = keys;
    this.#late.apply("keys", fault, () => (this.#inUse = keys));
    return keys;
  }
}

function newSigningKey(): string {
  return `sig_${newSecret(14)}`;
}
