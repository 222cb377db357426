import assert from "node:assert/strict";
import { valuesOf } from "../../provider/records/fields";
import { type Place } from "./steps";
import {
  isFirst,
  isKilled,
  isOlder,
  isRotated,
  madeBy,
  overlaps,
  savedPlace,
  type Seen,
  type Taken,
  timeAfter,
} from "./taken";

type Due = "created" | "trigger" | "again" | "rotatedSince" | "schedule";

/** What a consumer has, and where. */
export interface Consumer {
  readonly value: string;
  readonly place: Place;
  /** Whether it has it from the Retirement, so that an old one is deleted before that of the Retirement. */
  readonly isOfRetirement: boolean;
  /** Whether another one has replaced it, so that it serves until it is deleted. */
  readonly isOld: boolean;
}

/** What a user would know of one secret, without the code: what asks for a rotation, and what became of its values. */
export class History {
  /** Values that were saved, and of these, those that a confirmed rotation has replaced. */
  readonly known = new Set<string>();
  readonly former = new Set<string>();
  /** Values that only responses have delivered, in a run that was not killed. */
  readonly delivered = new Set<string>();
  /** Values that were added and not handed out; those of killed runs are not known to Rekey any more. */
  readonly unproven = new Set<string>();
  readonly orphans = new Set<string>();
  /** What a run that was killed has removed: it is still saved. */
  readonly removedByKilled = new Set<string>();
  /** What consumers have, unless it was removed for a reason that the rules permit. */
  consumers: readonly Consumer[] = [];
  isImported = false;
  /** Of keys: the account that they belong to, and the last roll. */
  home: Place = "home";
  rolledAt = -Infinity;
  /** Versions of the last confirmed rotation or adoption, and of the resets that are not confirmed. */
  #applied = 0;
  #attempted = 0;
  #unconfirmed = 0;
  /** What others have made, and Rekey has saved; of a user also what it had at its first rotation. */
  readonly #takenOver = new Set<string>();

  /** @param reached collects what has happened: what did not is not tested */
  constructor(private readonly reached: Set<string>) {}

  lose(): void {
    this.#applied = this.#attempted = this.#unconfirmed = 0;
    this.rolledAt = -Infinity;
    this.isImported = false;
    for (const each of [this.known, this.former, this.delivered]) each.clear();
  }

  /** What asks for a rotation. */
  due(saved: Seen | undefined, { program, settings, leakedAt, now }: Taken): Due | undefined {
    const { version, rotateEvery, isLeaked, initialRotation } = program;
    if (!saved) return initialRotation || isLeaked ? "created" : undefined;
    if (saved.outcome === "unproven") return "again";
    if (saved.outcome === "unknown") {
      if (version > 0 && version !== this.#attempted) return "trigger";
      if (this.#unconfirmed < 3) return "again";
      // Nothing is sent any more, unless a read shows that the last one was applied.
      return settings.canRead && (isLeaked || rotateEvery) ? "rotatedSince" : undefined;
    }
    if (this.isImported) return undefined;
    if (version > 0 && version !== this.#applied) return "trigger";
    const { current, scheduledFrom } = saved.memory;
    if (isLeaked && isOlder(current.generatedAt, leakedAt, now)) return "rotatedSince";
    const isDue = timeAfter(scheduledFrom, 12 * 0.9) <= now;
    return rotateEvery && isDue ? "schedule" : undefined;
  }

  isOfOthers(value: string, { account }: Pick<Taken, "account">): boolean {
    return account.ofOthers.has(value) && !this.#takenOver.has(value);
  }

  /** What is valid of what Rekey knows: nothing that others, or killed runs, have left. */
  own(valid: ReadonlySet<string>, of: Pick<Taken, "account">): string[] {
    return [...valid].filter((value) => !this.isOfOthers(value, of) && !this.orphans.has(value));
  }

  /** What is valid, and what only a person can remove. */
  orphansIn(valid: ReadonlySet<string>): string[] {
    return [...this.orphans].filter((value) => valid.has(value));
  }

  /** Follows what was saved. */
  follow(taken: Taken, due: Due | undefined): void {
    const { account, before, after, up, program, isHandedOver } = taken;
    if (isKilled(taken)) {
      for (const value of [...madeBy("add", taken), ...madeBy("reset", taken)]) this.orphans.add(value);
      for (const value of account.sent.flatMap(({ removed }) => removed)) this.removedByKilled.add(value);
      return;
    }
    if (!after) return;
    if (up) this.reached.add(isHandedOver ? "handed over" : "not handed over");
    if (before === undefined) this.home = taken.settings.place;
    const isAdopted = before === undefined && after.outcome === "adopted" && !account.sent.some(isReset);
    if (isAdopted) this.#applied = program.version;
    this.#followResets(taken, after);
    if (isRotated(taken) && due === "again") this.reached.add("again");
    this.#followValues(taken, after);
    if (up === undefined || taken.failures.length > 0 || !this.isImported) return;
    this.isImported = false;
    this.#applied = program.version;
  }

  #followResets(taken: Taken, after: Seen): void {
    const { account, before, program, now } = taken;
    const isSent = account.sent.some((one) => isReset(one) && one.mayBeApplied);
    const isOpen = after.outcome === "unknown";
    const confirmed = after.rotationCount - (before?.rotationCount ?? 0);
    const isNew = after.value !== before?.value && account.proven.has(after.value ?? "");
    const isMade = (isSent && !isOpen) || (isNew && account.sent.some(({ request }) => request === "add"));
    // A read may show that the last reset was applied, before another one is sent.
    const isSettled = this.#unconfirmed > 0 && confirmed > (isMade ? 1 : 0);
    assert.ok(confirmed <= (isMade || isSent ? 2 : 1), "a rotation is counted twice");
    if (isSettled) {
      this.reached.add("settled");
      this.#apply();
    }
    // Someone else has rolled the keys. Clocks may have been set back since the last roll.
    const [key, keyBefore] = [after, before].map((one) => one?.memory.current.marks.currentKey);
    if (!isSent && !isSettled && keyBefore && key !== keyBefore) this.rolledAt = now;
    if (isSent) {
      const isAgain = this.#unconfirmed > 0 && [0, this.#attempted].includes(program.version);
      if (!isAgain) this.#attempted = program.version;
      this.#unconfirmed = isAgain ? this.#unconfirmed + 1 : 1;
      this.rolledAt = now;
      if (confirmed > (isSettled ? 1 : 0)) this.#apply();
    } else if (confirmed > (isSettled ? 1 : 0)) {
      this.#applied = program.version || this.#applied;
    }
    if (!isOpen && this.#unconfirmed > 0) {
      this.reached.add("overtaken");
      this.#attempted = this.#unconfirmed = 0;
    }
  }

  /** What was attempted is applied. */
  #apply(): void {
    this.#applied = this.#attempted || this.#applied;
    this.#attempted = this.#unconfirmed = 0;
  }

  #followValues(taken: Taken, after: Seen): void {
    const { subject, account, settings } = taken;
    const pairs = account.credentialsAt(savedPlace(after)).map(valuesOf);
    const current = pairs.find((one) => one.includes(after.value ?? "")) ?? [];
    if (isRotated(taken)) {
      // If nothing shows the current key, it is the next one of before, as far as anyone can know. A reset that is not
      // confirmed replaces nothing, also in a run in which a read has settled the one before it.
      const isShown = subject.shape !== "rolls" || account.isCurrentShown;
      const isCertain = isShown && after.outcome !== "unknown";
      const here = overlaps(subject) ? current : account.valuesAt([settings.place]);
      const isHere = (value: string) => overlaps(subject) || value.startsWith(prefixOf(here[0]));
      const replaced = [...this.known].filter((value) => isHere(value) && !here.includes(value));
      for (const value of isCertain ? replaced : []) this.former.add(value);
    }
    for (const value of current) this.former.delete(value);
    if (!overlaps(subject)) for (const value of account.returned) this.delivered.add(value);
    else if (isRotated(taken)) {
      this.delivered.clear();
      for (const value of current) if (account.returned.has(value)) this.delivered.add(value);
    }
    if (after.value !== undefined) {
      this.#takenOver.add(after.value);
      // A pair of tokens that a killed run has made is handed out by the next one.
      if (subject.shape !== "redis") this.orphans.delete(after.value);
    }
    if (subject.shape !== "redis") return;
    if (isRotated(taken) && isFirst(taken)) {
      // At another server, what was retired before is forgotten.
      const valid = account.validAt();
      const retired = [...this.known, ...this.#takenOver].filter((value) => !valid.has(value));
      for (const value of retired) this.orphans.add(value);
      // What a list hides is not known to be former.
      for (const value of settings.isHiding ? [] : taken.validBefore) this.#takenOver.add(value);
      for (const value of taken.validBefore) this.orphans.delete(value);
    }
    for (const value of madeBy("add", taken)) this.#followAdded(value, after, taken);
    // What was not proven at another server is forgotten once another one was added here.
    const isLeft = (value: string) => account.valuesAt().includes(value) && !account.validAt().has(value);
    if (madeBy("add", taken).length > 0) for (const one of this.unproven) if (isLeft(one)) this.orphans.add(one);
  }

  /** A server may list a token under a hash that is not certain: then it is never retired. */
  #followAdded(value: string, after: Seen, { account, settings }: Taken): void {
    const valid = account.validAt();
    const isCurrent = value === after.value;
    const hash = isCurrent ? after.memory.kindFacts.hash : after.memory.attempt?.expects;
    const isLost = !isCurrent && !valid.has(value);
    // Without a list, the hash of a token that was added is a guess.
    const isGuess = !isCurrent && settings.isHiding && settings.server === "makes tokens with other hashes";
    const isUncertain = hash === undefined || isGuess || (isLost && settings.server !== "plain");
    if (isUncertain) this.orphans.add(value);
    else if (!isCurrent) this.unproven.add(value);
  }
}

const isReset = ({ request }: { readonly request: string }) => request === "reset";

/** What the values of one account have in common. */
const prefixOf = (value = "") => value.replace(/\d+-\w$/, "");
