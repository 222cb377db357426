import assert from "node:assert/strict";
import { type Change } from "./account";
import { History } from "./history";
import { type Subject } from "./steps";
import {
  formerOf,
  formersIn,
  isFirst,
  isKilled,
  isOnlyRead,
  isRotated,
  isSamePlace,
  isTimed,
  madeBy,
  overlaps,
  removedIn,
  retirementOf,
  savedPlace,
  type Seen,
  type Taken,
  validIn,
} from "./taken";

type Due = ReturnType<History["due"]>;

/** What must hold for a secret in every step. It knows the rules, and no code. */
export class Rules {
  readonly history: History;

  /** @param reached collects what has happened: what did not is not tested */
  constructor(
    private readonly subject: Subject,
    private readonly reached: Set<string>,
  ) {
    this.history = new History(reached);
  }

  check(taken: Taken): void {
    const { history } = this;
    const due = history.due(taken.before, taken);
    const { isImported } = history;
    this.#checkCount(taken);
    // An engine that repeats a call shows what the last one has done.
    if (!taken.up?.isRepeated) this.#checkTexts(taken);
    for (const change of taken.account.sent) this.#checkChange(change, taken, due);
    if (overlaps(this.subject)) this.#checkConsumers(taken);
    history.follow(taken, due);
    if (taken.after) this.#checkValues(taken);
    if (taken.after && !isKilled(taken)) this.#checkSaved(taken.after, taken);
    if (!taken.up || isKilled(taken)) return;
    if (taken.failures.length === 0 && taken.after) this.#checkDone(taken.after, taken, isImported);
    if (taken.isHonest) this.#checkHonest(taken, due);
  }

  /** One secret is made in a run, and one request is repeated if it was certainly not applied. */
  #checkCount(taken: Taken): void {
    const { account } = taken;
    const resets = account.sent.filter(({ request }) => request === "reset");
    const applied = resets.filter(({ mayBeApplied }) => mayBeApplied);
    assert.ok(applied.length <= 1 && resets.length <= 2, "more than one reset in a run");
    const added = account.sent.filter((one) => one.request === "add" && one.added.length > 0);
    if (taken.isHonest) assert.ok(added.length <= 1, "more than one is added in a run");
  }

  /** What a failure or a notice says that the run has done, it has done, and nothing else. */
  #checkTexts(taken: Taken): void {
    const { account, before, after, failures, said } = taken;
    const valid = account.validAt();
    const added = madeBy("add", taken);
    const removed = removedIn("rotation", taken).filter((value) => !this.history.unproven.has(value));
    const atEnd = removedIn("deletes", taken);
    const isLeft = (value: string) =>
      valid.has(value) || atEnd.includes(value) || account.removedByOthers.has(value) || !taken.validBefore.has(value);
    const stays = [before?.value, ...(isKilled(taken) ? [] : formersIn(taken))];
    const all: readonly (readonly [text: RegExp, isTrue: () => boolean])[] = [
      [/[Nn]othing was changed/, () => added.every((one) => account.removedByOthers.has(one)) && removed.length === 0],
      [/It has retired none that clients may use/, () => removed.length === 0],
      [/has retired the older one|was retired first\. /, () => removedIn("rotation", taken).length > 0],
      // The next token may be that of an earlier run.
      [/has added a new one/, () => account.sent.some(({ request }) => request === "add")],
      [/which was not handed out/, () => !added.includes(after?.value ?? "")],
      [/was not retired/, () => atEnd.length === 0],
      [/was retired, but is still accepted/, () => valid.size > 1],
      [
        /each former \w+ that waited for its Retirement was retired|it is refused now/,
        () => this.#leftOf(taken).length === 0,
      ],
      [/(former \w+|it) stays valid|stay valid\. /, () => stays.every((one = "") => isLeft(one))],
    ];
    for (const [text, isTrue] of all) {
      const line = [...failures, ...said].find((one) => text.test(one));
      if (line) this.reached.add(`says: ${text.source}`);
      assert.ok(!line || isTrue(), line);
    }
  }

  #checkChange(change: Change, taken: Taken, due: Due): void {
    const { phase, request, removed, recognized } = change;
    const { program, announced, settings, ownToken, before } = taken;
    assert.ok(phase === "rotation" || phase === "deletes", `${request} is sent by a ${phase}`);
    assert.ok(!recognized.includes(ownToken ?? ""), "rekey:queueToken was retired or reset");
    for (const value of this.subject.shape === "redis" ? removed : []) {
      assert.ok(isFirst(taken) || !this.history.isOfOthers(value, taken), `${value} of others is removed`);
    }
    if (phase === "deletes") return this.#checkDelete(change, taken);
    if (request === "retire") return this.#checkRetirement(change, taken, due);
    if (!due && isOnlyRead(this.subject, change)) return;
    assert.ok(due, `${request}, although nothing is due`);
    if (due === "schedule") assert.equal(settings.scheduledResets, "on", "a rotation by schedule");
    const isAnnounced = /(Rotates|Resets|Rolls) the|may (then )?be (rotated|reset|rolled)/.test(announced);
    assert.ok(isAnnounced, "a rotation that is not announced");
    // Of a user of the same server, the list of before says it.
    const isFirstElsewhere = before?.memory.current.marks.password !== undefined && isFirst(taken);
    if (this.subject.shape === "redis" && isFirstElsewhere) assert.match(announced, /this is its first rotation/);
    if (request === "reset" && overlaps(this.subject)) assert.equal(program.overlap, "none");
    if (this.subject.shape === "rolls" && before) this.#checkRoll(taken);
    this.reached.add(`${request}: ${due}`);
  }

  #checkRoll({ now, program, settings }: Taken): void {
    const elapsed = now - this.history.rolledAt;
    const isRecent = elapsed >= 0 && elapsed < 3_600_000;
    assert.ok(program.minInterval === "0s" || !isRecent, "a second roll within minInterval");
    assert.ok(isSamePlace(settings.place, this.history.home), "keys of another account are rolled");
  }

  /** A Retirement that was replaced retires, after everything else, what waits for that. */
  #checkDelete({ request, removed }: Change, taken: Taken): void {
    const { after, program, announced, isHandedOver, mayRetire, backBefore } = taken;
    assert.equal(request, "retire");
    assert.ok(program.retires && mayRetire, "a Retirement retires that must not");
    assert.ok(isHandedOver, "what is former is retired before the hand-over");
    assert.match(announced, /is retired at the end of this `up`|its Retirement may be replaced/);
    for (const value of removed) {
      assert.notEqual(value, after?.value, "a Retirement retires the current one");
      assert.ok(!isTimed(value, taken), `${value}, whose time is not over, is retired`);
    }
    if (removed.length > 0) this.reached.add("retired: at the end");
    if (removed.some((value) => backBefore.has(value))) this.reached.add("retired: again at the end");
  }

  /** The rotation retires: what a run has left, what a rule permits, or with `overlap: "none"` what it has replaced. */
  #checkRetirement({ removed }: Change, taken: Taken, due: Due): void {
    const { before, announced, program, account } = taken;
    const added = madeBy("add", taken);
    for (const value of removed) {
      if (this.history.unproven.has(value)) {
        this.reached.add("retired: not proven");
        continue;
      }
      if (program.overlap === "none" && due && added.length > 0 && added.every((one) => account.proven.has(one))) {
        this.reached.add("retired: none");
        continue;
      }
      const former = formerOf(value, taken);
      // A user of the queue has two tokens: without a retirement, a current one that is too old stays.
      const isInTheWay = this.subject.shape === "adds" && due === "rotatedSince";
      const why = isInTheWay ? "date" : former && retirementOf(former, taken);
      assert.notEqual(value, before?.value, "what is current is retired");
      assert.ok(why, `${value} is retired, although nothing asks for it`);
      // Only the read before shows what is valid again.
      if (former?.since !== "") {
        assert.match(announced, why === "date" ? warnsOfDate : announcesRetirement, "it is not announced");
      }
      this.reached.add(`retired: ${why}`);
    }
  }

  /** What consumers have is valid, unless a date, `none`, the end of a duration or someone else has retired it. */
  #checkConsumers(taken: Taken): void {
    const { after, account, up, isHandedOver, isOfRetirement, isEnded, mayRetire } = taken;
    const { history } = this;
    // Each removal by a rotation is checked: it is permitted for a date, for a time that is over, and with `none`.
    const removed = removedIn("rotation", taken);
    let all = history.consumers.filter(({ value }) => !removed.includes(value));
    // Until the first rotation, nothing may be handed out.
    if (isHandedOver && after?.memory.current.marks[account.best] !== undefined) {
      const { value = "" } = after;
      const made = { value, place: savedPlace(after), isOfRetirement, isOld: false };
      const old = up?.isReplaced ? all : all.filter(({ isOld }) => isOld);
      all = [...(value ? [made] : []), ...old.map((one) => ({ ...one, isOld: true }))];
      if (old.length > 0) this.reached.add("replaced consumers");
    }
    // What consumers have from elsewhere may be retired at the same time as they are deleted.
    if (isEnded) all = all.filter(({ isOld, isOfRetirement: isOf }) => !isOld || (!isOf && !mayRetire));
    for (const { value, place } of all) {
      if (account.validAt(place).has(value)) continue;
      const isExcused = account.removedByOthers.has(value) || history.removedByKilled.has(value);
      assert.ok(isExcused, `${value}, which consumers have, is refused`);
    }
    history.consumers = all.filter(
      ({ value, place, isOld }) => account.validAt(place).has(value) && !(isEnded && isOld),
    );
  }

  /** No value that was delivered is lost, and none that a confirmed rotation has replaced is saved. */
  #checkValues({ account, inState, inFile }: Taken): void {
    const { delivered, former, known } = this.history;
    for (const value of account.valuesAt()) {
      if (!delivered.has(value) || account.shown.has(value)) continue;
      assert.ok(inState.has(value) || inFile.has(value), `${value} is lost`);
    }
    // A file stays if it is the only place that has the key that was the next one.
    const isKeys = this.subject.shape === "rolls";
    const isOnlyPlace = isKeys && [...inFile].some((value) => !former.has(value) && !inState.has(value));
    for (const value of inState) assert.ok(!former.has(value), `the former ${value} is saved`);
    for (const value of inFile) {
      assert.ok(isOnlyPlace || !former.has(value), `the former ${value} is in the age file`);
    }
    for (const value of [...inState, ...inFile]) known.add(value);
  }

  #checkSaved(after: Seen, taken: Taken): void {
    const { account } = taken;
    const { history } = this;
    if (!overlaps(this.subject)) return;
    const valid = account.validAt(savedPlace(after));
    for (const value of isRotated(taken) ? madeBy("add", taken) : []) {
      assert.ok(account.proven.has(value), `${value} is current, and was not proven`);
      assert.equal(after.value, value, "what was made current is lost");
    }
    const isOwn = (one: string) => ![account.ofOthers, history.unproven, account.back].some((all) => all.has(one));
    const limit = this.subject.shape === "redis" ? 10 : 2;
    assert.ok(history.own(valid, taken).filter(isOwn).length <= limit, `more than ${limit} are valid`);
    const { value, outcome } = after;
    if (value === undefined || outcome === "unknown" || valid.has(value)) return;
    const isExcused = account.removedByOthers.has(value) || history.removedByKilled.has(value);
    assert.ok(isExcused, `${value} is saved, and refused`);
  }

  /** After an `up` that succeeded, nothing is due, or it waits and says so. */
  #checkDone(after: Seen, taken: Taken, wasImported: boolean): void {
    const { before, program, settings, account, inFile } = taken;
    assert.notEqual(after.outcome, "unknown", "an `up` succeeds although a reset is not confirmed");
    const left = this.history.due(after, taken);
    const isOff = settings.scheduledResets === "off" && left === "schedule";
    const isUnknownAge = left === "rotatedSince" && after.memory.current.generatedAt === undefined;
    // An earlier run, which could not confirm or prove it, may have made it.
    const isUnsure = left === "rotatedSince" && ["unknown", "unproven"].includes(before?.outcome ?? "");
    // What a read has shown for the first time may be due in the next run.
    const mayWait = wasImported || isOff || isUnknownAge || isUnsure || this.subject.shape === "rolls";
    const isDone = left === undefined || mayWait || after.waits !== undefined;
    if (!overlaps(this.subject) || taken.isHonest) assert.ok(isDone, `${left} is due after an \`up\` that succeeded`);
    // A changed form takes effect with the next rotation or adoption.
    const isNew = before === undefined || wasImported || isRotated(taken);
    if (program.form.startsWith("saved") || !isNew || !taken.isHonest) return;
    for (const name of account.names) {
      const value = after.outputs[name] as string | undefined;
      const isElsewhere = value !== undefined && (inFile.has(value) || account.shownAsInUp.has(`${name} ${value}`));
      assert.ok(!isElsewhere, `${name} stays, although it is elsewhere`);
    }
  }

  /** Without faults, an `up` does what is due, and nothing is left that is to be retired. */
  #checkHonest(taken: Taken, due: Due): void {
    const { before, after, account, failures, settings, validBefore, up } = taken;
    const valid = account.validAt();
    const isRemoved = after?.value !== undefined && !valid.has(after.value);
    const wasRemoved = before?.value !== undefined && !validBefore.has(before.value);
    const isMoved = before !== undefined && savedPlace(before) !== settings.place;
    for (const failure of failures) {
      const isPermitted =
        permitted.test(failure) ||
        (settings.isHiding && /does not list|does not show|lists its passwords there/.test(failure)) ||
        (wasRemoved && isGone.test(failure)) ||
        (isRemoved && isRefused.test(failure)) ||
        ([...account.back, ...this.history.orphans].some((one) => valid.has(one)) && isAccepted.test(failure));
      if (overlaps(this.subject)) assert.ok(isPermitted, `an \`up\` without faults fails: ${failure}`);
      if (isGone.test(failure)) this.reached.add(isMoved ? "moved" : "gone");
    }
    if (failures.length > 0 || up?.killedAfter || !after || !overlaps(this.subject)) return;
    if (before?.memory.current.mustRead) {
      assert.ok(account.isRead, "an `up` after a refresh that found it gone reads");
    }
    // A list proves that a password is gone, as does the use of a password or a token.
    const isUser = this.subject.shape === "redis";
    const isListed = isUser && settings.server === "plain" && !settings.isHiding;
    const isKnown = isListed || before === undefined || before.outputs[isUser ? "password" : "token"] !== undefined;
    if (account.isRead && isKnown) assert.ok(!isRemoved, `${after.value} was read to be refused, and is handed over`);
    if (isMoved) this.reached.add("moved, and the same");
    this.#checkWaits(after, taken);
    this.#checkFormers(after, taken, due, isRemoved);
    if (taken.mayRetire) assert.deepEqual(this.#leftOf(taken), [], "more is valid after a retirement");
  }

  /** What is due waits only for a former one that is valid, or for a run with schedules. */
  #checkWaits(after: Seen, taken: Taken): void {
    const { waits, memory } = after;
    if (waits === undefined) return;
    const left = this.history.due(after, taken);
    const isScheduled = left === "schedule" || (left === "again" && memory.attempt?.reason === "schedule");
    const isOff = isScheduled && taken.settings.scheduledResets === "off";
    const formers = validIn(memory).length;
    const isUncertain = memory.current.marks.password !== undefined && memory.kindFacts.hash === undefined;
    const isFull = this.subject.shape === "adds" || formers >= 9 || isUncertain;
    assert.ok(isOff || (formers > 0 && (isScheduled || isFull)), `${left} waits: ${waits}`);
    this.reached.add(`waits: ${left}`);
  }

  #checkFormers(after: Seen, taken: Taken, due: Due, isRemoved: boolean): void {
    const { before, account, program } = taken;
    const isMade = due !== undefined && account.sent.some(({ request }) => request !== "retire");
    const asked = before ? validIn(before.memory).filter((one) => retirementOf(one, taken)) : [];
    for (const one of isMade || isRemoved ? [] : asked) {
      const isLeft = validIn(after.memory).some(({ retireHash }) => retireHash === one.retireHash);
      const isChanged = one.validFor !== "next up" && one.validFor !== program.overlap;
      const mayStay = isChanged && retirementOf(one, taken) === "time";
      assert.ok(!isLeft || mayStay, `a former one is not retired (${retirementOf(one, taken)})`);
    }
  }

  /** What is valid, but neither current nor former for a time, and Rekey knows it. */
  #leftOf(taken: Taken): string[] {
    const { account, after } = taken;
    const formers = formersIn(taken);
    // What is valid again is known to Rekey once it has read it.
    const isOpen = (value: string) => account.back.has(value) && !formers.includes(value);
    const isExpected = (value: string) =>
      value === after?.value || this.history.unproven.has(value) || isOpen(value) || isTimed(value, taken);
    const isKnown = after?.value !== undefined;
    return isKnown ? this.history.own(account.validAt(), taken).filter((value) => !isExpected(value)) : [];
  }
}

/** Why an `up` may fail although all requests were responded to: what was not saved cannot be tried later. */
const permitted =
  /the new (token|password) is not saved, and|REKEY_QUEUE_TOKEN_IN_USE|REKEY_INPUT_INVALID|REKEY_NOT_ENCRYPTED|REKEY_REPEATEDLY_UNCONFIRMED|REKEY_RESET_LIMIT|scheduledResets is off|an old token could not be tried:[^]*The next `up` fails again/;
const isGone = /does not (have|show) the current password|the queue refuses the token that was handed out/;
const isRefused = /^Not verified:[^]*is refused/;
const isAccepted = /^Not verified:[^]*an old password is still accepted|was retired, but is still accepted/;
const announcesRetirement = /is retired, if it is still valid|retired first|the rotation waits\.|is retired again/;
const warnsOfDate = /clients that still use it are refused/;
