import assert from "node:assert/strict";
import { type Memory } from "../../provider/rotation/memory";
import { type Change } from "./overlapAccount";
import { type Program, type Settings, type Up } from "./overlapSteps";

/** What a state has of a secret. */
export interface Seen {
  readonly memory: Memory;
  readonly rotationCount: number;
  readonly outcome: "reset" | "adopted" | "unknown";
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
  /** What is accepted after it, and what others have added. */
  readonly valid: ReadonlySet<string>;
  readonly ofOthers: ReadonlySet<string>;
  readonly removedByOthers: ReadonlySet<string>;
  /** What others had added before it. */
  readonly ofOthersBefore: ReadonlySet<string>;
}

type Due = "created" | "again" | "trigger" | "rotatedSince" | "schedule";

const hour = 3_600_000;

/** Why an `up` may fail although all requests were responded to. */
const permitted =
  /the new (token|password) is not saved, and|REKEY_QUEUE_TOKEN_IN_USE|REKEY_INPUT_INVALID|REKEY_NOT_ENCRYPTED|REKEY_REPEATEDLY_UNCONFIRMED|scheduledResets is off/;
const isRefused = /^Not verified:[^]*is refused/;
const isAccepted = /^Not verified:[^]*an old password is still accepted/;

/** What must hold for a secret of which two may be valid. It knows the rules, and no code. */
export class OverlapRules {
  /** The version of the last rotation or adoption that was saved. */
  #applied = 0;
  /** What the consumers have, unless it was removed for a reason that the rules permit. */
  #held: string | undefined;
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
    const due = this.#due(taken.before, taken);
    for (const change of taken.sent) this.#checkChange(change, taken, due);
    this.#checkConsumers(taken);
    this.#remember(taken, due);
    this.#checkSaved(taken);
    if (taken.up && taken.isHonest) this.#checkHonest(taken, due);
  }

  /** What is valid of what Rekey knows: nothing that others, or killed runs, have left. */
  known({ valid, ofOthers }: Pick<Taken, "valid" | "ofOthers">): string[] {
    return [...valid].filter((value) => !this.#isOfOthers(value, { ofOthers }) && !this.#orphans.has(value));
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
    const { memory, outcome } = saved;
    if (memory.added || outcome === "unknown") return "again";
    if (version > 0 && version !== this.#applied) return "trigger";
    if (isLeaked && isOlder(memory.current.generatedAt, leakedAt)) return "rotatedSince";
    const isDue = timeAfter(memory.scheduledFrom, 12 * 0.9) <= now;
    return rotateEvery && isDue ? "schedule" : undefined;
  }

  /** What asks for the former one to be retired by the rotation itself. */
  #retirement({ memory }: Seen, { program, settings, leakedAt, now }: Taken): "date" | "time" | undefined {
    const { overlap } = memory;
    if (!overlap) return undefined;
    const isAsked = program.isLeaked && isOlder(overlap.formerGeneratedAt, leakedAt);
    if (overlap.isUrgent || isAsked) return "date";
    const isOver = overlap.lasts === "none" || (overlap.lasts === "6h" && timeAfter(overlap.since, 6) <= now);
    return isOver && settings.scheduledResets === "on" ? "time" : undefined;
  }

  #checkChange(change: Change, taken: Taken, due: Due | undefined): void {
    const { phase, request, removed } = change;
    const { before, after, program, announced } = taken;
    assert.ok(phase === "rotation" || phase === "verification", `${request} is sent by a preview or a refresh`);
    const isFirst = (before?.rotationCount ?? 0) === 0;
    for (const value of removed) {
      const isOfOthers = this.isUser && this.#isOfOthers(value, taken);
      assert.ok(isFirst || !isOfOthers, `${value} of others is removed`);
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
    } else if (request === "retire") {
      this.#checkRetirement(change, taken, due);
    } else {
      assert.ok(due, `${request}, although nothing is due`);
      assert.match(
        announced,
        /(Rotates|Resets) the|may (then )?be (rotated|reset)/,
        "a rotation that is not announced",
      );
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
      assert.ok(before?.memory.overlap, `${value} is retired, although only one is valid`);
      assert.notEqual(value, before.value, "what is current is retired");
      const isFirst = due !== undefined && due !== "schedule";
      const why = isFirst ? "first" : this.#retirement(before, taken);
      assert.ok(why, `${value} is retired, although nothing asks for it`);
      assert.match(
        announced,
        /is retired, if it is still valid|the older one is retired first|the rotation waits until only one is/,
        "a retirement that is not announced",
      );
      this.reached.add(`retired: ${why}`);
    }
  }

  /** What the consumers have is valid, unless a rule of the issue has retired it, or someone else. */
  #checkConsumers({ after, sent, valid, removedByOthers, isHandedOver }: Taken): void {
    // Each removal by a rotation is checked: that of what is current is permitted with `overlap: "none"` only.
    const isRemoved = sent.some(({ phase, removed }) => phase === "rotation" && removed.includes(this.#held ?? ""));
    if (isHandedOver) this.#held = after?.value;
    else if (isRemoved) this.#held = undefined;
    const held = this.#held;
    if (held === undefined || valid.has(held)) return;
    const isExcused = removedByOthers.has(held) || this.#removedByKilled.has(held);
    assert.ok(isExcused, `${held}, which consumers have, is refused`);
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
    if (this.isUser && isRotated && !before?.rotationCount) {
      for (const value of taken.ofOthersBefore) this.#takenOver.add(value);
    }
    if (isRotated && due === "again") this.reached.add("again");
    for (const value of added) {
      if (this.isUser) this.#rememberAdded(value, after);
    }
  }

  /** A server may list a token under a hash that is not certain: then it is never retired. */
  #rememberAdded(value: string, after: Seen | undefined): void {
    const isCurrent = value === after?.value;
    const hash = isCurrent ? after.memory.ofSource.hash : after?.memory.added?.hash;
    if (hash === undefined) this.#orphans.add(value);
    else if (!isCurrent) this.#unproven.add(value);
  }

  #checkSaved(taken: Taken): void {
    const { before, after, up, sent, valid, proven, removedByOthers } = taken;
    if (!after || up?.killedAfter === "rotation") return;
    const added = sent.flatMap((one) => (one.request === "add" ? one.added : []));
    const isRotated = after.rotationCount > (before?.rotationCount ?? 0);
    for (const value of isRotated ? added : []) {
      assert.ok(proven.has(value), `${value} is current, and was not proven`);
      assert.equal(after.value, value, "what was made current is lost");
    }
    const isOwn = (one: string) => !taken.ofOthers.has(one) && !this.#unproven.has(one);
    assert.ok(this.known(taken).filter(isOwn).length <= 2, "more than two are valid");
    const { value, outcome } = after;
    if (value === undefined || outcome === "unknown" || valid.has(value)) return;
    assert.ok(removedByOthers.has(value) || this.#removedByKilled.has(value), `${value} is saved, and refused`);
  }

  /** Without faults, an `up` does what is due, and nothing is left that is to be retired. */
  #checkHonest(taken: Taken, due: Due | undefined): void {
    const { before, after, up, sent, failures, settings, program, valid } = taken;
    const isRemoved = after?.value !== undefined && !valid.has(after.value);
    const isOrphanValid = this.orphansIn(valid).length > 0;
    for (const failure of failures) {
      const isPermitted =
        permitted.test(failure) ||
        (isRemoved && isRefused.test(failure)) ||
        (isOrphanValid && isAccepted.test(failure));
      assert.ok(isPermitted, `an \`up\` without faults fails: ${failure}`);
    }
    if (failures.length > 0 || up?.killedAfter || !after) return;
    const left = this.#due(after, taken);
    const isScheduled = left === "schedule" || (left === "again" && after.memory.added?.reason === "schedule");
    const waits = isScheduled && (settings.scheduledResets === "off" || before?.memory.overlap !== undefined);
    const isOfUnknownAge = left === "rotatedSince" && after.memory.current.generatedAt === undefined;
    assert.ok(left === undefined || waits || isOfUnknownAge, `${left} is due after an \`up\` that succeeded`);
    const isRotated = due !== undefined && sent.some(({ request }) => request !== "retire");
    const isAsked = before && this.#retirement(before, taken);
    const isChanged = before?.memory.overlap?.lasts !== (program.overlap ?? "verified");
    // The former one is kept if someone else has removed the current one.
    const isKept = this.isUser && isRemoved;
    if (isAsked && !isRotated && !isKept && !(isAsked === "time" && isChanged)) {
      assert.equal(after.memory.overlap, undefined, `the former one is not retired (${isAsked})`);
    }
    if (taken.isVerified && program.verification === "retires") this.#checkRetired(taken);
  }

  #checkRetired(taken: Taken): void {
    const { after, ownToken } = taken;
    const isExpected = (value: string) => value === after?.value || value === ownToken || this.#unproven.has(value);
    const left = this.known(taken).filter((value) => !isExpected(value));
    if (after?.value !== undefined) assert.deepEqual(left, [], "more is valid after a retirement");
  }
}

function timeAfter(since: string, hours: number): number {
  return Date.parse(since) + hours * hour;
}

function isOlder(at: string | undefined, date: string | undefined): boolean {
  return date !== undefined && (at === undefined || Date.parse(at) < Date.parse(date));
}
