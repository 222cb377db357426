import assert from "node:assert/strict";
import { unsealed } from "../../provider/rotation/memory";
import { type Properties } from "../support/wire";
import { Account, type Deliveries, honest, type Kind } from "./account";
import { type Program, type Settings } from "./steps";

/** What a state has of one secret. */
export interface Seen extends Properties {
  readonly outcome: "reset" | "adopted" | "unknown";
  readonly rotationCount: number;
  readonly rotatedAt?: string;
  /** From when a schedule counts. */
  readonly scheduledFrom: string;
  /** When it was generated, as far as known. */
  readonly generatedAt?: string;
  /** Of keys: the account that they belong to. */
  readonly place?: string;
  /** The mark of the current key. */
  readonly keyMark?: string;
}

/** What one step did about a secret. */
export interface Taken {
  readonly before: Seen | undefined;
  readonly after: Seen | undefined;
  /** What the preview of an `up` has said; undefined for any other step. */
  readonly announced?: string | undefined;
  readonly isKilled: boolean;
  /** The requests to reset it that were made. */
  readonly requests: number;
  /** Why the `up` failed for it. */
  readonly failure: string | undefined;
  readonly program: Program;
  readonly settings: Settings;
  readonly now: number;
}

type Due = "created" | "trigger" | "again" | "rotatedSince" | "schedule";

const hour = 3_600_000;

/** One secret: its accounts, what a user would know of it, and what must hold. It knows the rules, and no code. */
export class Secret {
  readonly accounts: { readonly home: Account; readonly elsewhere: Account };
  /** Versions of the last confirmed reset or adoption, and of the resets that are not confirmed. */
  #applied = 0;
  #attempted = 0;
  #unconfirmed = 0;
  #isImported = false;
  /** Of keys: the account that they belong to, and the last roll. */
  #home: Account | undefined;
  #rolledAt = -Infinity;
  /** Values that were saved, and, of these, those that a confirmed reset has replaced. */
  readonly #known = new Set<string>();
  readonly #former = new Set<string>();

  /** @param reached collects what has happened: what did not is not tested */
  constructor(
    private readonly kind: Kind,
    readonly id: string,
    private readonly reached: Set<string>,
  ) {
    this.accounts = { home: new Account(kind, `${id}-h`), elsewhere: new Account(kind, `${id}-e`) };
  }

  accountAt({ place }: Settings): Account {
    return place === "elsewhere" ? this.accounts.elsewhere : this.accounts.home;
  }

  /** Begins a step. */
  begin(deliveries: Deliveries = honest, { isHiding }: Settings): void {
    const reads = deliveries.reads.map((read) => (isHiding ? ({ ...read, mask: "nothing" } as const) : read));
    for (const one of Object.values(this.accounts)) one.begin({ ...deliveries, reads }, this.#known);
  }

  lose(): void {
    for (const { delivered } of Object.values(this.accounts)) delivered.clear();
    this.#known.clear();
    this.#former.clear();
    this.#applied = this.#attempted = this.#unconfirmed = 0;
    this.#rolledAt = -Infinity;
    this.#isImported = false;
    this.#home = undefined;
  }

  import(): void {
    this.#isImported = true;
  }

  /** Checks what a step did, and what it saved in the state and in age files. */
  check(taken: Taken, inState: ReadonlySet<string>, inFile: ReadonlySet<string>): void {
    const { before, after, announced, requests, isKilled, failure, program, settings } = taken;
    const due = this.#due(before, taken);
    if (requests > 0) {
      this.#assertMayReset(taken, due);
      this.reached.add(`reset: ${due}`);
    }
    const wasImported = this.#isImported;
    if (!isKilled) this.#remember(taken);
    if (after) this.#checkValues(inState, inFile);
    if (announced === undefined || isKilled || failure !== undefined || !after) return;
    const left = this.#due(after, taken);
    // Keys wait for minInterval; what an import or a read has shown is due in the next run.
    assert.notEqual(after.outcome, "unknown", "an `up` succeeds although a reset is not confirmed");
    const isOff = settings.scheduledResets === "off" && left === "schedule";
    // An earlier reset that was not confirmed may have made it.
    const isUnsure = left === "rotatedSince" && before?.outcome === "unknown";
    const waits = this.#isKeys || wasImported || isOff || isUnsure;
    assert.ok(left === undefined || waits, `${left} is due after an \`up\` that succeeded`);
    const isHidden = !program.form.startsWith("saved");
    // A changed form takes effect with the next reset or adoption.
    const isNew = before === undefined || wasImported || after.rotationCount > before.rotationCount;
    if (isHidden && isNew && this.accountAt(settings).isHonest) this.#assertHidden(after, inFile, settings);
  }

  get #isKeys(): boolean {
    return this.kind.idInput === undefined;
  }

  /** What asks for a reset. */
  #due(saved: Seen | undefined, { program, settings, now }: Taken): Due | undefined {
    const { version, rotateEvery, isLeaked, initialRotation } = program;
    if (saved === undefined) return initialRotation || isLeaked ? "created" : undefined;
    const { outcome, generatedAt, scheduledFrom } = saved;
    if (outcome === "unknown") {
      if (version > 0 && version !== this.#attempted) return "trigger";
      if (this.#unconfirmed < 3) return "again";
      // Nothing is sent any more, unless a read shows that the last one was applied.
      return settings.canRead && (isLeaked || rotateEvery) ? "rotatedSince" : undefined;
    }
    if (this.#isImported) return undefined;
    if (version > 0 && version !== this.#applied) return "trigger";
    const at = generatedAt === undefined ? NaN : Date.parse(generatedAt);
    // A time in the future is that of a clock that was ahead.
    const isOlder = this.#isKeys || !(at >= now && at <= now + hour / 12);
    if (isLeaked && isOlder) return "rotatedSince";
    const interval = 12 * hour;
    const isDue = Date.parse(scheduledFrom) + interval - interval / 10 <= now;
    return rotateEvery && isDue ? "schedule" : undefined;
  }

  #assertMayReset({ before, announced, requests, program, settings, now }: Taken, due: Due | undefined): void {
    const account = this.accountAt(settings);
    const isOpen = account.sent === 0;
    assert.ok(announced !== undefined, "a reset without an `up`");
    assert.ok(requests <= (isOpen ? 2 : 1), "more than one reset in a run");
    assert.match(announced, /(Resets|Rolls) the|may (then )?be (reset|rolled)/, "a reset that was not announced");
    assert.ok(due, "a reset that nothing asks for");
    if (due === "schedule") assert.equal(settings.scheduledResets, "on", "a scheduled reset");
    if (!this.#isKeys || !before) return;
    const elapsed = now - this.#rolledAt;
    const isRecent = elapsed >= 0 && elapsed < hour;
    assert.ok(program.minInterval === "0s" || !isRecent, "a second roll within minInterval");
    assert.equal(account, this.#home, "keys of another account are rolled");
  }

  /** Follows what was saved. */
  #remember({ before, after, announced, failure, program, settings, now }: Taken): void {
    if (!after) return;
    const account = this.accountAt(settings);
    const isSent = account.sent > 0;
    const isOpen = after.outcome === "unknown";
    const confirmed = after.rotationCount - (before?.rotationCount ?? 0);
    if (!before) this.#home = account;
    if (!before && after.outcome === "adopted" && !isSent) this.#applied = program.version;
    // A read may show that the last reset was applied, before another one is sent.
    const isSettled = this.#unconfirmed > 0 && confirmed > (isSent && !isOpen ? 1 : 0);
    assert.ok(confirmed <= (isSent ? 2 : 1), "a reset is counted twice");
    if (isSettled) {
      this.reached.add("settled");
      this.#apply();
    }
    // Someone else has rolled the keys. Clocks may have been set back since the last roll.
    if (!isSent && !isSettled && before?.keyMark && before.keyMark !== after.keyMark) this.#rolledAt = now;
    if (isSent) {
      const isAgain = this.#unconfirmed > 0 && [0, this.#attempted].includes(program.version);
      if (!isAgain) this.#attempted = program.version;
      this.#unconfirmed = isAgain ? this.#unconfirmed + 1 : 1;
      this.#rolledAt = now;
      if (confirmed > (isSettled ? 1 : 0)) this.#apply();
    }
    if (confirmed > 0) this.#replace(account);
    if (!isOpen && this.#unconfirmed > 0) {
      this.reached.add("overtaken");
      this.#attempted = this.#unconfirmed = 0;
    }
    if (announced === undefined || failure !== undefined || !this.#isImported) return;
    this.#isImported = false;
    this.#applied = program.version;
  }

  /** What was attempted is applied. */
  #apply(): void {
    this.#applied = this.#attempted || this.#applied;
    this.#attempted = this.#unconfirmed = 0;
  }

  /** All known values of the account but the current ones are former. */
  #replace(account: Account): void {
    // If nothing shows the current key, it is the next one of before, as far as anyone can know.
    if (this.#isKeys && !account.isSeen) return;
    for (const value of this.#known) {
      if (account.has(value) && !account.values.includes(value)) this.#former.add(value);
    }
  }

  /** No value that was delivered is lost, and none that a confirmed reset has replaced is saved. */
  #checkValues(inState: ReadonlySet<string>, inFile: ReadonlySet<string>): void {
    for (const { delivered, shown, values } of Object.values(this.accounts)) {
      for (const value of values) {
        if (!delivered.has(value) || shown.has(value)) continue;
        assert.ok(inState.has(value) || inFile.has(value), `${value} is lost`);
      }
    }
    const own = (values: ReadonlySet<string>) =>
      [...values].filter((value) => Object.values(this.accounts).some((one) => one.has(value)));
    // A file stays if it is the only place that has the key that was the next one.
    const isOnlyPlace = this.#isKeys && own(inFile).some((value) => !this.#former.has(value) && !inState.has(value));
    for (const value of own(inState)) assert.ok(!this.#former.has(value), `the former ${value} is saved`);
    for (const value of own(inFile)) {
      assert.ok(isOnlyPlace || !this.#former.has(value), `the former ${value} is in the age file`);
    }
    for (const value of own(new Set([...inState, ...inFile]))) this.#known.add(value);
  }

  #assertHidden(after: Seen, inFile: ReadonlySet<string>, settings: Settings): void {
    const account = this.accountAt(settings);
    for (const name of this.kind.names) {
      const value = after[name] as string | undefined;
      const isElsewhere = value !== undefined && (inFile.has(value) || account.showed(name, value));
      assert.ok(!isElsewhere, `${name} stays, although it is elsewhere`);
    }
  }
}

/** A secret in the outputs of a resource: of a fleet, by the id of a database. */
export function seenIn(outputs: Properties, id: string, isFleet: boolean): Seen | undefined {
  const text = outputs["memory"] as string | undefined;
  if (text === undefined) return undefined;
  const memory = JSON.parse(text) as unknown;
  if (!isFleet) return seen(outputs, memory);
  const all = Object.entries(outputs["states"] as Record<string, Properties>);
  const [name, state] = all.find(([, { databaseId }]) => databaseId === id) ?? [];
  if (name === undefined || !state || state["outcome"] === "none") return undefined;
  const credentials = (outputs["credentials"] as Record<string, Properties>)[name];
  const access = JSON.parse(outputs["access"] as string) as Record<string, { count: number }>;
  return seen({ ...state, rotationCount: access[name]?.count, ...credentials }, (memory as Properties)[id]);
}

function seen(values: Properties, memory: unknown): Seen {
  const { ofSource, current, scheduledFrom } = unsealed(memory);
  const { generatedAt, marks } = current;
  return {
    ...values,
    place: ofSource.account,
    scheduledFrom,
    generatedAt,
    keyMark: marks.currentKey,
  } as unknown as Seen;
}
