import assert from "node:assert/strict";
import { type Former, type Memory } from "../../provider/rotation/memory";
import { type Change } from "./overlapAccount";
import { type Program, type Settings, type Up } from "./overlapSteps";

/** What a state has of a secret. */
export interface Seen {
  readonly memory: Memory;
  readonly rotationCount: number;
  readonly outcome: "reset" | "adopted" | "unknown" | "unproven";
  /** Why a rotation that is due waits. */
  readonly waits?: string;
  /** The password of a user, if the state has it. */
  readonly password?: string;
  /** The current value; undefined if neither the state nor the age file has it. */
  readonly value: string | undefined;
}

/** What one step did. */
export interface Taken {
  readonly before: Seen | undefined;
  readonly after: Seen | undefined;
  readonly up: Up | undefined;
  /** What the preview of an `up` has said. */
  readonly announced: string;
  readonly sent: readonly Change[];
  readonly proven: ReadonlySet<string>;
  /** Whether all requests were responded to, and no one else has interfered. */
  readonly isHonest: boolean;
  /** Whether the consumers were given what was saved, and whether the verification that followed succeeded. */
  readonly isHandedOver: boolean;
  readonly isVerified: boolean;
  /** Why the rotation and the verification failed. */
  readonly failures: readonly string[];
  readonly program: Program;
  readonly settings: Settings;
  readonly ownToken: string | undefined;
  readonly leakedAt: string | undefined;
  readonly now: number;
  /** Where the program says that the secret is, what was accepted there before it, and what is at a host after it. */
  readonly host: string;
  readonly validBefore: ReadonlySet<string>;
  readonly validAt: (host: string | undefined) => ReadonlySet<string>;
  /** Of a user: the value that a server lists by a hash. */
  readonly valueBy: ((hash: string) => string | undefined) | undefined;
  /** Whether a read of the rotation was responded to. */
  readonly isRead: boolean;
  /** What others have added, have removed, and have brought back; and what they had brought back before it. */
  readonly ofOthers: ReadonlySet<string>;
  readonly removedByOthers: ReadonlySet<string>;
  readonly back: ReadonlySet<string>;
  readonly backBefore: ReadonlySet<string>;
}

type Due = "created" | "again" | "trigger" | "rotatedSince" | "schedule" | "handed back";

const hour = 3_600_000;

/** Why an `up` may fail although all requests were responded to. */
const permitted =
  /the new (token|password) is not saved, and|REKEY_QUEUE_TOKEN_IN_USE|REKEY_INPUT_INVALID|REKEY_NOT_ENCRYPTED|REKEY_REPEATEDLY_UNCONFIRMED|scheduledResets is off/;
const isGone = /does not have the current password/;
const isRefused = /^Not verified:[^]*is refused/;
const isAccepted = /^Not verified:[^]*an old password is still accepted/;

/** What must hold for a secret of which two may be valid. It knows the rules, and no code. */
export class OverlapRules {
  /** The version of the last rotation or adoption that was saved. */
  #applied = 0;
  /** What the consumers have, and where, unless it was removed for a reason that the rules permit. */
  #held: { readonly value: string; readonly host: string | undefined } | undefined;
  /** Values that were added and not handed out; those of killed runs are not known to Rekey any more. */
  readonly #unproven = new Set<string>();
  readonly #orphans = new Set<string>();
  /** With \`overlap: "none"\`, what is saved was replaced. */
  readonly #removedByKilled = new Set<string>();
  /** What others have made, and Rekey has saved; of a user also what it had at its first rotation. */
  readonly #takenOver = new Set<string>();

  /** @param reached collects what has happened: what did not is not tested */
  constructor(
    private readonly isUser: boolean,
    private readonly reached: Set<string>,
  ) {}

  check(taken: Taken): void {
    // What was never handed out is not remembered once it is removed.
    for (const value of taken.back) if (this.#unproven.has(value)) this.#orphans.add(value);
    const due = this.#due(taken.before, taken) ?? this.#dueOfLost(taken);
    for (const change of taken.sent) this.#checkChange(change, taken, due);
    this.#checkConsumers(taken);
    this.#remember(taken, due);
    this.#checkSaved(taken);
    if (taken.up && taken.isHonest) this.#checkHonest(taken, due);
  }

  /** What is valid of what Rekey knows: nothing that others, or killed runs, have left. */
  known(valid: ReadonlySet<string>, of: Pick<Taken, "ofOthers">): string[] {
    return [...valid].filter((value) => !this.#isOfOthers(value, of) && !this.#orphans.has(value));
  }

  /** What is valid, and what only a person can remove. */
  orphansIn(valid: ReadonlySet<string>): string[] {
    return [...this.#orphans].filter((value) => valid.has(value));
  }

  #isOfOthers(value: string, { ofOthers }: Pick<Taken, "ofOthers">): boolean {
    return ofOthers.has(value) && !this.#takenOver.has(value);
  }

  /** What asks for a rotation. */
  #due(saved: Seen | undefined, { program, leakedAt, now }: Taken): Due | undefined {
    const { version, rotateEvery, isLeaked, initialRotation } = program;
    if (!saved) return initialRotation || isLeaked ? "created" : undefined;
    const { memory } = saved;
    if (memory.attempt) return "again";
    if (version > 0 && version !== this.#applied) return "trigger";
    if (isLeaked && isOlder(memory.current.generatedAt, leakedAt)) return "rotatedSince";
    const isDue = timeAfter(memory.scheduledFrom, 12 * 0.9) <= now;
    return rotateEvery && isDue ? "schedule" : undefined;
  }

  /** A token that is the current one again, because the next one is lost, may be older than a date. */
  #dueOfLost({ before, program, leakedAt, validBefore }: Taken): Due | undefined {
    if (this.isUser || !before || validBefore.has(before.value ?? "")) return undefined;
    const isDue = program.isLeaked && validIn(before.memory).some((one) => isOlder(one.generatedAt, leakedAt));
    return isDue ? "handed back" : undefined;
  }

  /** What asks for a former one to be retired by the rotation itself. */
  #retirement(former: Former, { program, settings, leakedAt, now }: Taken): "date" | "time" | "back" | undefined {
    const { lasts, since, isBack, generatedAt } = former;
    if (lasts === "next up" || (program.isLeaked && isOlder(generatedAt, leakedAt))) return "date";
    if (settings.scheduledResets === "off") return undefined;
    if (isBack) return (program.overlap ?? "verified") === "verified" ? undefined : "back";
    return lasts === "none" || (lasts === "6h" && timeAfter(since, 6) <= now) ? "time" : undefined;
  }

  /** What is remembered of a value that was valid before. What is valid again may not be known before the read. */
  #formerOf(value: string, { before, valueBy, program, backBefore, removedByOthers }: Taken): Former | undefined {
    const formers = before ? validIn(before.memory) : [];
    const known = valueBy ? formers.find(({ by = "" }) => valueBy(by) === value) : formers[0];
    const isBack = known === undefined && (backBefore.has(value) || removedByOthers.has(before?.value ?? ""));
    return isBack ? { since: "", lasts: program.overlap ?? "verified", isBack } : known;
  }

  /** Whether all passwords of a user are those that the rotation replaces. */
  #isFirst({ before, host, validBefore }: Taken): boolean {
    if (!this.isUser || !before?.memory.current.marks.password) return true;
    return hostOf(before) !== host && !validBefore.has(before.value ?? "");
  }

  #checkChange(change: Change, taken: Taken, due: Due | undefined): void {
    const { phase, request, removed } = change;
    const { after, program, announced } = taken;
    assert.ok(phase === "rotation" || phase === "verification", `${request} is sent by a preview or a refresh`);
    for (const value of removed) {
      const isOfOthers = this.isUser && this.#isOfOthers(value, taken);
      assert.ok(this.#isFirst(taken) || !isOfOthers, `${value} of others is removed`);
    }
    if (phase === "verification" && request === "add") {
      assert.deepEqual([change.added, removed], [[], []], "a verification reads the next token, and makes none");
    } else if (phase === "verification") {
      assert.equal(request, "retire");
      assert.equal(program.verification, "retires");
      assert.ok(taken.isHandedOver, "what is former is retired before the hand-over");
      assert.match(announced, /retired after the (new|current) one is accepted/);
      for (const value of removed) assert.notEqual(value, after?.value, "a verification retires the current one");
      if (removed.length > 0) this.reached.add("retired: verification");
      if (removed.some((value) => taken.backBefore.has(value))) this.reached.add("retired: again by a verification");
    } else if (request === "retire") {
      this.#checkRetirement(change, taken, due);
    } else {
      assert.ok(due, `${request}, although nothing is due`);
      const isAnnounced = /(Rotates|Resets) the|may (then )?be (rotated|reset)/.test(announced);
      assert.ok(isAnnounced || due === "handed back", "a rotation that is not announced");
      if (request === "reset") assert.equal(program.overlap, "none");
      this.reached.add(`${request}: ${due}`);
    }
  }

  /** The rotation retires: what a run has left, what a rule permits, or with `overlap: "none"` what it has replaced. */
  #checkRetirement({ removed }: Change, taken: Taken, due: Due | undefined): void {
    const { before, announced, program, proven, sent } = taken;
    const added = sent.flatMap((one) => (one.request === "add" ? one.added : []));
    for (const value of removed) {
      if (this.#unproven.has(value)) {
        this.reached.add("retired: not proven");
        continue;
      }
      if (program.overlap === "none" && due && added.length > 0 && added.every((one) => proven.has(one))) {
        this.reached.add("retired: none");
        continue;
      }
      const former = this.#formerOf(value, taken);
      // A next token that is older than a date takes the place of the current one, and is replaced.
      const isForDate = !this.isUser && this.#isAttemptOlder(taken);
      // A user of the queue has two tokens: without a retirement, a current one that is too old stays.
      const isInTheWay = !this.isUser && due === "rotatedSince";
      const why = isForDate || isInTheWay ? "date" : former && this.#retirement(former, taken);
      assert.ok(isForDate || value !== before?.value, "what is current is retired");
      assert.ok(why, `${value} is retired, although nothing asks for it`);
      // Only the read before shows what is valid again.
      if (former?.since !== "") {
        assert.match(announced, why === "date" ? warnsOfDate : announcesRetirement, "it is not announced");
      }
      this.reached.add(`retired: ${why}`);
    }
  }

  #isAttemptOlder({ before, program, leakedAt }: Taken): boolean {
    const { attempt } = before?.memory ?? {};
    return attempt?.adds === true && program.isLeaked && isOlder(attempt.firstSentAt, leakedAt);
  }

  /** What the consumers have is valid, unless a rule of the issue has retired it, or someone else. */
  #checkConsumers({ after, sent, validAt, removedByOthers, isHandedOver }: Taken): void {
    const held = this.#held;
    // Each removal by a rotation is checked: it is permitted for a date, for a time that is over, and with `none`.
    const isRemoved = sent.some(({ phase, removed }) => phase === "rotation" && removed.includes(held?.value ?? ""));
    if (isHandedOver) this.#held = after?.value === undefined ? undefined : { value: after.value, host: hostOf(after) };
    else if (isRemoved) this.#held = undefined;
    if (!this.#held || validAt(this.#held.host).has(this.#held.value)) return;
    const { value } = this.#held;
    const isExcused = removedByOthers.has(value) || this.#removedByKilled.has(value);
    assert.ok(isExcused, `${value}, which consumers have, is refused`);
    this.#held = undefined;
  }

  #remember(taken: Taken, due: Due | undefined): void {
    const { before, after, up, sent, program, isHandedOver } = taken;
    const added = sent.flatMap((one) => (one.phase === "rotation" && one.request !== "retire" ? one.added : []));
    if (up?.killedAfter === "rotation") {
      for (const value of added) this.#orphans.add(value);
      for (const value of sent.flatMap(({ removed }) => removed)) this.#removedByKilled.add(value);
      return;
    }
    if (up) this.reached.add(isHandedOver ? "handed over" : "not handed over");
    const isRotated = (after?.rotationCount ?? 0) > (before?.rotationCount ?? 0);
    const isAdopted = before === undefined && after?.outcome === "adopted";
    if (isRotated || isAdopted) this.#applied = program.version || this.#applied;
    if (after?.value !== undefined) {
      this.#takenOver.add(after.value);
      // A pair of tokens that a killed run has made is handed out by the next one.
      if (!this.isUser) this.#orphans.delete(after.value);
    }
    if (isRotated && this.isUser && this.#isFirst(taken)) {
      for (const value of taken.validBefore) this.#takenOver.add(value);
      for (const value of taken.validBefore) this.#orphans.delete(value);
    }
    if (isRotated && due === "again") this.reached.add("again");
    for (const value of added) {
      if (this.isUser) this.#rememberAdded(value, after);
    }
  }

  /** A server may list a token under a hash that is not certain: then it is never retired. */
  #rememberAdded(value: string, after: Seen | undefined): void {
    const isCurrent = value === after?.value;
    const hash = isCurrent ? after.memory.ofSource.hash : after?.memory.attempt?.expects;
    if (hash === undefined) this.#orphans.add(value);
    else if (!isCurrent) this.#unproven.add(value);
  }

  #checkSaved(taken: Taken): void {
    const { before, after, up, sent, proven, removedByOthers } = taken;
    if (!after || up?.killedAfter === "rotation") return;
    const valid = taken.validAt(hostOf(after));
    const added = sent.flatMap((one) => (one.request === "add" ? one.added : []));
    const isRotated = after.rotationCount > (before?.rotationCount ?? 0);
    for (const value of isRotated ? added : []) {
      assert.ok(proven.has(value), `${value} is current, and was not proven`);
      assert.equal(after.value, value, "what was made current is lost");
    }
    const isOwn = (one: string) => ![taken.ofOthers, this.#unproven, taken.back].some((all) => all.has(one));
    const limit = this.isUser ? 10 : 2;
    assert.ok(this.known(valid, taken).filter(isOwn).length <= limit, `more than ${limit} are valid`);
    const { value, outcome } = after;
    if (value === undefined || outcome === "unknown" || valid.has(value)) return;
    assert.ok(removedByOthers.has(value) || this.#removedByKilled.has(value), `${value} is saved, and refused`);
  }

  /** Without faults, an `up` does what is due, and nothing is left that is to be retired. */
  #checkHonest(taken: Taken, due: Due | undefined): void {
    const { before, after, up, sent, failures, program, host, validBefore } = taken;
    const valid = taken.validAt(host);
    const isRemoved = after?.value !== undefined && !valid.has(after.value);
    const wasRemoved = before?.value !== undefined && !validBefore.has(before.value);
    const isOrphanValid = this.orphansIn(valid).length > 0;
    for (const failure of failures) {
      const isPermitted =
        permitted.test(failure) ||
        (wasRemoved && isGone.test(failure)) ||
        (isRemoved && isRefused.test(failure)) ||
        (isOrphanValid && isAccepted.test(failure));
      assert.ok(isPermitted, `an \`up\` without faults fails: ${failure}`);
      if (isGone.test(failure)) this.reached.add(hostOf(before) === host ? "gone" : "moved");
    }
    if (failures.length > 0 || up?.killedAfter || !after) return;
    if (before?.memory.current.isUnread) assert.ok(taken.isRead, "an `up` after a refresh that found it gone reads");
    // Only a login proves that a password is gone, and only the lack of a next token that a token is.
    const isKnown = this.isUser ? before === undefined || before.password !== undefined : valid.size === 1;
    if (taken.isRead && isKnown) assert.ok(!isRemoved, `${after.value} was read to be refused, and is handed over`);
    if (hostOf(before) !== host && before) this.reached.add("moved, and the same");
    if (wasRemoved && !isRemoved && after.rotationCount === before.rotationCount) this.reached.add("handed back");
    this.#checkWaits(after, taken);
    const isRotated = due !== undefined && sent.some(({ request }) => request !== "retire");
    const isChanged = (former: Former) =>
      former.lasts !== "next up" && former.lasts !== (program.overlap ?? "verified");
    const asked = before ? validIn(before.memory).filter((one) => this.#retirement(one, taken)) : [];
    for (const one of isRotated || isRemoved ? [] : asked) {
      const isLeft = validIn(after.memory).some(({ by }) => by === one.by);
      const mayStay = isChanged(one) && this.#retirement(one, taken) === "time";
      assert.ok(!isLeft || mayStay, `a former one is not retired (${this.#retirement(one, taken)})`);
    }
    if (taken.isVerified && program.verification === "retires") this.#checkRetired(taken);
  }

  /** What is due and not made waits, and says so: for a former one that is valid, or for a run with schedules. */
  #checkWaits(after: Seen, taken: Taken): void {
    const { settings } = taken;
    const left = this.#due(after, taken);
    const { attempt, current, ofSource } = after.memory;
    const isScheduled = left === "schedule" || (left === "again" && attempt?.reason === "schedule");
    // Its preview says so, and nothing is saved for it.
    const isOff = isScheduled && settings.scheduledResets === "off";
    const isOfUnknownAge = left === "rotatedSince" && current.generatedAt === undefined;
    const isDone = left === undefined || isOff || isOfUnknownAge;
    assert.ok(isDone || after.waits !== undefined, `${left} is due after an \`up\``);
    if (after.waits === undefined) return;
    const valid = validIn(after.memory);
    const isFull = valid.length >= 9 || ofSource.hash === undefined;
    const mayWait = valid.length > 0 && (isScheduled || !this.isUser || isFull);
    assert.ok(isOff || mayWait, `${left} waits: ${after.waits}`);
    this.reached.add(`waits: ${left}`);
  }

  #checkRetired(taken: Taken): void {
    const { after, ownToken, valueBy, back } = taken;
    const values = after && validIn(after.memory).map(({ by = "" }) => valueBy?.(by));
    // What is valid again is known to Rekey once it has read it.
    const isOpen = (value: string) => back.has(value) && !values?.includes(value);
    const isExpected = (value: string) =>
      value === after?.value || value === ownToken || this.#unproven.has(value) || isOpen(value);
    const left = this.known(taken.validAt(taken.host), taken).filter((value) => !isExpected(value));
    if (after?.value !== undefined) assert.deepEqual(left, [], "more is valid after a retirement");
  }
}

const announcesRetirement = /is retired, if it is still valid|retired first|the rotation waits until only one is/;
const warnsOfDate = /clients that still use it are refused/;

function validIn({ formers }: Memory): Former[] {
  return formers.filter(({ by }) => by !== undefined);
}

/** Where a secret that is saved is. Undefined for the queue. */
function hostOf(seen: Seen | undefined): string | undefined {
  return seen?.memory.ofSource.server?.endpoint?.host;
}

function timeAfter(since: string, hours: number): number {
  return Date.parse(since) + hours * hour;
}

function isOlder(at: string | undefined, date: string | undefined): boolean {
  return date !== undefined && (at === undefined || Date.parse(at) < Date.parse(date));
}
