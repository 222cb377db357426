import { type Credentials } from "../../provider/records/credentials";
import { type SecretResponse } from "../../provider/records/response";
import { notSent, rejected, unconfirmed } from "../support/fakeRun";

/** The kinds of secrets of a walk, by the type that rotates them. */
export const kinds = {
  PasswordRotation: {
    id: "db",
    inputs: { databaseId: "db" },
    best: "password",
    credentials: (n: number): Credentials => ({ password: `value-${n}-p`, restToken: `value-${n}-r` }),
  },
  // The response to its reset has no record.
  VectorTokenRotation: {
    id: "idx",
    inputs: { indexId: "idx" },
    best: "token",
    responds: false,
    credentials: (n: number): Credentials => ({ token: `value-${n}-t`, readOnlyToken: `value-${n}-o` }),
  },
  SigningKeyRotation: {
    id: "signing-keys",
    inputs: {},
    best: "currentKey",
    credentials: (n: number): Credentials => ({ currentKey: `value-${n}-k`, nextKey: `value-${n + 1}-k` }),
  },
} as const;
export type KindName = keyof typeof kinds;

/** How a record shows its credentials. */
export const masks = ["all", "nothing", "the best", "the others"] as const;

/** One choice for each read of a step, used in turn. */
export interface ReadChoice {
  readonly mask: (typeof masks)[number];
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

/** What the platform does in one step. */
export interface Deliveries {
  readonly outcome: (typeof outcomes)[number];
  readonly response: (typeof masks)[number];
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
  #deliveries: Deliveries = honest;
  #showed: Credentials[] = [];
  #known: ReadonlySet<string> = new Set();
  #reads = 0;
  /** The last step that changed it, and what that replaced. */
  #changedIn = -Infinity;
  #former = 0;
  #step = 0;
  #returned: string[] = [];

  constructor(
    readonly kind: (typeof kinds)[KindName],
    public generation: number,
  ) {}

  /** @param known values that Rekey remembers: an old record of others cannot be recognized by anyone */
  begin(deliveries: Deliveries, known: ReadonlySet<string>): void {
    this.#deliveries = deliveries;
    this.#known = known;
    this.#reads = 0;
    this.#step++;
    this.#returned = [];
  }

  /** Whether a read has shown a value since `forget`. */
  showed(name: string, value: string): boolean {
    return this.#showed.some((one) => one[name as keyof Credentials] === value);
  }

  forget(): void {
    this.#showed = [];
  }

  /** Ends a run that could save what it got. */
  save(): void {
    for (const value of this.#returned) this.delivered.add(value);
  }

  /** Whether a value is one of this account, by its generation. */
  has(value: string): boolean {
    return Number(value.split("-")[1]) > 1000 === this.generation > 1000;
  }

  get current(): Credentials {
    return this.kind.credentials(this.generation);
  }

  /** Someone changes it. */
  change(times = 1): void {
    this.#former = this.generation;
    this.generation += times;
    this.#changedIn = this.#step;
  }

  read(): Partial<SecretResponse> | Error {
    const { reads } = this.#deliveries;
    const { mask, isLate, isFailing } = reads[this.#reads++ % reads.length] ?? honest.reads[0]!;
    if (isFailing) return notSent();
    const former = this.kind.credentials(this.#former) as Readonly<Record<string, string>>;
    const best = former[this.kind.best] ?? "";
    const isRemembered = this.#known.has(best) || this.showed(this.kind.best, best);
    const isOld = isLate && isRemembered && this.#changedIn >= this.#step - 1;
    const response = this.#show(isOld ? this.#former : this.generation, mask);
    this.#showed.push(response.credentials ?? {});
    for (const value of Object.values(response.credentials ?? {}) as string[]) this.shown.add(value);
    return response;
  }

  reset(): Partial<SecretResponse> | Error {
    const { outcome, response } = this.#deliveries;
    if (outcome === "rejected") return rejected();
    if (outcome === "not sent") return notSent();
    if (outcome === "lost, not applied") return unconfirmed();
    // A roll makes the next key the current one; other keys are someone else's.
    this.change(outcome.endsWith("someone else") ? 2 : 1);
    if (outcome.startsWith("lost")) return unconfirmed();
    const isOld = outcome === "repeats the record from before";
    if ("responds" in this.kind) return {};
    const shown = this.#show(isOld ? this.#former : this.generation, response);
    if (!isOld) this.#returned.push(...(Object.values(shown.credentials ?? {}) as string[]));
    return shown;
  }

  #show(generation: number, mask: (typeof masks)[number]): Partial<SecretResponse> {
    const all = Object.entries(this.kind.credentials(generation));
    const isShown = (name: string) =>
      mask === "all" ||
      (mask === "the best" && name === this.kind.best) ||
      (mask === "the others" && name !== this.kind.best);
    const record = { endpoint: "db.example.com", port: 6379, tls: true };
    return { record, credentials: Object.fromEntries(all.filter(([name]) => isShown(name))) };
  }
}
