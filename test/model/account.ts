import { type Credentials } from "../../provider/records/fields";
import { type SecretResponse } from "../../provider/records/response";
import { notSent, rejected, unconfirmed } from "../support/fakeRun";

/** What the resources of a walk rotate, by their types. A fleet has two databases. */
export const kinds = {
  PasswordRotation: { ids: ["db"], idInput: "databaseId", names: ["password", "restToken"] },
  PasswordRotationFleet: { ids: ["db-a", "db-b"], idInput: "databases", names: ["password", "restToken"] },
  // The response to its reset has no record.
  VectorTokenRotation: { ids: ["idx"], idInput: "indexId", names: ["token", "readOnlyToken"], responds: false },
  QueueTokenRotation: { ids: ["user"], idInput: "queueUserId", names: ["token", "readOnlyToken"] },
  // A roll makes the next key the current one.
  SigningKeyRotation: { ids: ["signing-keys"], names: ["currentKey", "nextKey"] },
} as const satisfies Record<string, Kind>;
export type KindName = keyof typeof kinds;

export interface Kind {
  readonly ids: readonly string[];
  /** Undefined for the keys, of which an account has one pair. */
  readonly idInput?: string;
  /** The credentials, the best first. */
  readonly names: readonly [keyof Credentials, keyof Credentials];
  readonly responds?: false;
}

/** A marker for the values of a walk. */
export const anyValue = /value-[\w-]+-\d+-\w/g;

/** How a record shows its credentials. */
export const masks = ["all", "nothing", "the best", "the other"] as const;
type Mask = (typeof masks)[number];

/** One choice for each read of a step, used in turn. */
export interface ReadChoice {
  readonly mask: Mask;
  /** Whether it shows what the last change of this step or the one before it has replaced. */
  readonly isLate: boolean;
  readonly isFailing: boolean;
}

/** What happens to a reset. */
export const outcomes = [
  "confirmed",
  "repeats the record from before",
  "lost, applied",
  "lost, not applied",
  "lost, not applied, and changed by someone else",
  "rejected",
  "not sent",
] as const;

/** What the platform does about one secret in one step. */
export interface Deliveries {
  readonly outcome: (typeof outcomes)[number];
  readonly response: Mask;
  readonly reads: readonly ReadChoice[];
}

export const honest: Deliveries = {
  outcome: "confirmed",
  response: "all",
  reads: [{ mask: "all", isLate: false, isFailing: false }],
};

/** One secret in one account: each change makes another generation of its credentials. */
export class Account {
  /** Values that a response has delivered in a run that was not killed, or a read has shown. */
  readonly delivered = new Set<string>();
  readonly shown = new Set<string>();
  /** Resets of this step that may have been applied. */
  sent = 0;
  /** Whether the last of them was confirmed by a response. */
  isAnswered = false;
  /** Whether a response or a read of this step has shown the best of the current credentials. */
  isSeen = false;
  #generation = 1;
  #deliveries: Deliveries = honest;
  #showed: Credentials[] = [];
  #known: ReadonlySet<string> = new Set();
  #reads = 0;
  /** The last step that changed it, and what that replaced. */
  #changedIn = -Infinity;
  #former = 0;
  #step = 0;
  #returned: string[] = [];

  /** @param label makes its values others than those of any other account */
  constructor(
    private readonly kind: Kind,
    private readonly label: string,
  ) {}

  /** @param known values that Rekey remembers: an old record of others cannot be recognized by anyone */
  begin(deliveries: Deliveries, known: ReadonlySet<string>): void {
    this.#deliveries = deliveries;
    this.#known = known;
    this.#reads = this.sent = 0;
    this.isSeen = this.isAnswered = false;
    this.#step++;
    this.#returned = [];
  }

  /** Whether a read has shown a value since `forget`. */
  showed(name: keyof Credentials, value: string | undefined): boolean {
    return this.#showed.some((one) => one[name] === value);
  }

  /** Whether the reads of this step neither fail nor are late. */
  get isHonest(): boolean {
    return this.#deliveries.reads.every(({ isLate, isFailing }) => !isLate && !isFailing);
  }

  forget(): void {
    this.#showed = [];
  }

  /** Ends a run that could save what it got. */
  save(): void {
    for (const value of this.#returned) this.delivered.add(value);
  }

  /** Whether a value is, or was, one of this account. */
  has(value: string): boolean {
    return value.startsWith(`value-${this.label}-`);
  }

  /** Only what this step has delivered is remembered. */
  forgetDelivered(): void {
    this.delivered.clear();
    this.save();
  }

  get current(): Credentials {
    return this.#credentials(this.#generation);
  }

  get values(): string[] {
    return Object.values(this.current) as string[];
  }

  /** Someone changes it. */
  change(times = 1): void {
    this.#former = this.#generation;
    this.#generation += times;
    this.#changedIn = this.#step;
    this.isSeen = false;
  }

  read(): Partial<SecretResponse> {
    const { reads } = this.#deliveries;
    const { mask, isLate, isFailing } = reads[this.#reads++ % reads.length] ?? honest.reads[0]!;
    if (isFailing) return notSent();
    const isOld = isLate && this.#isRemembered && this.#changedIn >= this.#step - 1;
    const response = this.#show(isOld ? this.#former : this.#generation, mask);
    this.#showed.push(response.credentials ?? {});
    for (const value of valuesIn(response)) this.shown.add(value);
    return response;
  }

  reset(): Partial<SecretResponse> {
    const { outcome, response } = this.#deliveries;
    if (outcome === "rejected") return rejected();
    if (outcome === "not sent") return notSent();
    this.sent++;
    if (outcome === "lost, not applied") return unconfirmed();
    // A roll makes the next key the current one; other keys are someone else's.
    this.change(outcome.endsWith("someone else") ? 2 : 1);
    if (outcome.startsWith("lost")) return unconfirmed();
    this.isAnswered = true;
    if (this.kind.responds === false) return {};
    if (outcome === "repeats the record from before" && this.#isRemembered) return this.#show(this.#former, response);
    const shown = this.#show(this.#generation, response);
    // No platform shows a credential without the one that identifies its record: such a response only confirms.
    if (response !== "the other") this.#returned.push(...valuesIn(shown));
    return shown;
  }

  /** Whether Rekey can recognize the record from before, by its best credential. */
  get #isRemembered(): boolean {
    const [name] = this.kind.names;
    const best = this.#credentials(this.#former)[name];
    return this.#known.has(best ?? "") || this.showed(name, best);
  }

  #credentials(n: number): Credentials {
    const [best, other] = this.kind.names;
    const isKey = other === "nextKey";
    const value = (name: string, nth: number) => `value-${this.label}-${nth}-${isKey ? "k" : name.slice(0, 1)}`;
    return { [best]: value(best, n), [other]: value(other, isKey ? n + 1 : n) };
  }

  #show(generation: number, mask: Mask): Partial<SecretResponse> {
    const [best] = this.kind.names;
    const isShown = (name: string) =>
      mask === "all" || (mask === "the best" && name === best) || (mask === "the other" && name !== best);
    const all = Object.entries(this.#credentials(generation)).filter(([name]) => isShown(name));
    const credentials: Credentials = Object.fromEntries(all);
    if (generation === this.#generation && credentials[best] !== undefined) this.isSeen = true;
    return { record: { endpoint: "db.example.com", port: 6379, tls: true }, credentials };
  }
}

/** All values of a walk in something that can be written as JSON. */
export function valuesIn(something: unknown): Set<string> {
  return new Set(JSON.stringify(something ?? {}).match(anyValue));
}
