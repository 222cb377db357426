import { type CredentialName } from "../../records/fields";
import { type SecretResponse } from "../../records/secretResponse";
import { compare, identityIn, replacedMarks, knownCredential } from "../plan/compare";
import { formerWith, onlyValid } from "../program/formers";
import { type Finding, type StateChange } from "../messages/findings";
import { currentKeyGeneratedAt, formerOf, handOver, withCurrent } from "./handOver";
import { type Marks, marksOf, namesIn, triggerMark } from "../memory/marks";
import { emptyMemory, withMustRead } from "../memory/memory";
import { type Context, maySettle } from "../program/plan";
import { type Program, savedProgram } from "../program/program";
import { isFuture, pastTime } from "../memory/schedule";
import { isOtherAccount } from "../plan/signingKeys";
import { type ReadResult } from "./source";
import {
  type AttemptedState,
  isSame,
  outcomeOf,
  type State,
  withoutValues,
  withRecord,
} from "../memory/state";

/** The state after a read, also while an attempt is open. What is masked or missing is not shown, not gone. */
export function afterRead(saved: State, readResult: ReadResult, context: Context): StateChange {
  const shown = marksOf(saved.memory, readResult.credentials);
  const here = inAccount(saved, shown, context);
  if (here === undefined) {
    const why = "it was read with different settings than before, and may be a different pair";
    return { state: saved, findings: [{ kind: "notCompared", why }] };
  }
  const { memory } = here;
  const { attempt } = memory;
  const verdict = compare(memory, shown, context.kind);
  if (attempt && !attempt.adds && verdict !== "foreign") {
    const isSettled = verdict === "new" && maySettle(memory, context);
    if (isSettled) return settled({ ...here, memory: { ...memory, attempt } }, readResult, context);
    const isLate = verdict === "late" && !formerWith(memory, shown.token);
    return { state: here, findings: isLate ? [showsOld] : [] };
  }
  switch (verdict) {
    case "hidden":
      return afterHidden(here, readResult, context);
    case "unchanged":
      return afterSame(here, readResult, shown, context);
    case "late":
      return afterLate(here, readResult, shown);
    default:
      return afterChange(here, readResult, shown, context);
  }
}

/** The state in the account of the settings; undefined if that is another one, and the pair is not the known one. */
function inAccount(saved: State, shown: Marks, context: Context): State | undefined {
  const { memory } = saved;
  if (!isOtherAccount(memory, context)) return saved;
  const known = [...memory.past, ...replacedMarks(context.kind, memory.current.marks)];
  const isKnown = replacedMarks(context.kind, shown).some((mark) => known.includes(mark));
  if (!isKnown) return undefined;
  return {
    ...saved,
    memory: { ...memory, kindFacts: { ...memory.kindFacts, ...context.account } },
  };
}

/** A read shows the result of the open attempt. */
function settled(saved: AttemptedState, readResult: ReadResult, context: Context): StateChange {
  const { attempt } = saved.memory;
  const generatedAt = pastTime(attempt.firstSentAt, context.now);
  const formers = [formerOf(saved, attempt.lastSentAt, context)];
  const state = handOver(saved, { responses: [readResult], generatedAt, formers }, context);
  const unknown = noLongerKnown(saved.memory.current.marks, state.memory.current.marks);
  return { state, findings: [{ kind: "settled" }, ...unknown] };
}

/**
 * A read that shows an old credential is outdated, and changes nothing, except that of a token, of which a platform
 * shows the former one until a roll retires it.
 */
function afterLate(saved: State, { goneReason }: ReadResult, shown: Marks): StateChange {
  const { memory } = saved;
  if (!formerWith(memory, shown.token)) return { state: saved, findings: [showsOld] };
  const isGone = goneReason !== undefined;
  return {
    state: { ...saved, memory: withMustRead(memory, isGone) },
    findings: isGone ? [{ kind: "warning", why: `${goneReason}.` }] : [],
  };
}

/** It may have become an old one by a late read, and be the valid one. */
const showsOld: Finding = {
  kind: "notCompared",
  why: "the platform still shows an old credential. If it keeps doing so, set a new version, which resets it once more",
};

/**
 * Takes only the fields that are not credentials. It also ends the wait for the credentials of the last rotation: a
 * platform that hides them now, as Upstash does with Credential Protection, will not show them to the next read.
 */
function afterHidden(saved: State, readResult: ReadResult, context: Context): StateChange {
  const { memory } = saved;
  const { current } = memory;
  const names = namesIn(current.marks);
  // Without a next token, what was the next one is the only one.
  const next = readResult.hasNext === false ? onlyValid(memory, []) : memory;
  const state = {
    ...withRecord(saved, readResult),
    otherFields: saved.otherFields,
    memory: withMustRead(next, false),
  };
  const unseen: Finding[] = current.mustRead ? [{ kind: "unknown" }] : hidden(names);
  return {
    state: withCreationTime(state, context),
    findings: [...found("drift", changedFields(saved, readResult)), ...unseen],
  };
}

/**
 * The secret is unchanged; other credentials of its record may be new, or shown for the first time. A platform shows a
 * former token until it is retired, so that is not valid any more.
 */
function afterSame(
  saved: State,
  readResult: ReadResult,
  shown: Marks,
  context: Context,
): StateChange {
  const { memory } = saved;
  const { current } = memory;
  const known = namesIn(current.marks);
  const changed = known.filter(
    (name) => shown[name] !== undefined && shown[name] !== current.marks[name],
  );
  const missing = known.filter((name) => shown[name] === undefined);
  const state: State = {
    ...withRecord(saved, readResult),
    ...readResult.credentials,
    otherFields: readResult.otherFields,
    memory: withMustRead(
      { ...onlyValid(memory, []), current: { ...current, marks: { ...current.marks, ...shown } } },
      false,
    ),
  };
  const drift = found("drift", [...changed, ...changedFields(saved, readResult)]);
  return { state: withCreationTime(state, context), findings: [...drift, ...hidden(missing)] };
}

/** Someone else has changed the secret, or it was not known before. What is shown is handed over. */
function afterChange(
  saved: State,
  readResult: ReadResult,
  shown: Marks,
  context: Context,
): StateChange {
  const { memory } = saved;
  const { kind, now } = context;
  const { current } = memory;
  const known = knownCredential(kind, current.marks, memory.program);
  const wasKnown = current.marks.currentKey !== undefined || memory.attempt !== undefined;
  const isRolled = kind.next !== undefined && wasKnown;
  const formers =
    known || isRolled
      ? [formerOf(saved, now.toISOString(), context)]
      : onlyValid(memory, []).formers;
  const generatedAt = isRolled ? currentKeyGeneratedAt(memory, shown) : current.generatedAt;
  const next = withCurrent(memory, { marks: shown, generatedAt, formers }, context);
  const state: State = {
    ...withRecord(withoutValues(saved), readResult),
    ...readResult.credentials,
    otherFields: readResult.otherFields,
    // Receivers need time before another roll.
    memory: isRolled
      ? {
          ...next,
          scheduledFrom: now.toISOString(),
          kindFacts: { ...next.kindFacts, nextGeneratedAt: undefined },
        }
      : next,
  };
  const names = [...namesIn(shown), ...changedFields(saved, readResult)];
  return {
    state: withCreationTime(state, context),
    findings: [...found("drift", known ? names : []), ...noLongerKnown(current.marks, shown)],
    isForeign: isRolled && shown.currentKey !== current.marks.nextKey,
  };
}

/** The state of a secret that is adopted as a read has shown it; without one if it cannot be read. */
export function adopted(
  program: Program,
  readResult: ReadResult | undefined,
  context: Context,
): StateChange {
  const memory = emptyMemory(context.now);
  const { credentials = {} } = readResult ?? {};
  const marks = marksOf(memory, credentials);
  const identity = identityIn(context.kind, marks);
  const state: State = {
    ...credentials,
    adoptedAt: context.now.toISOString(),
    rotationCount: 0,
    memory: {
      ...memory,
      applied: triggerMark(memory, program.trigger),
      current: { marks, identity, form: program.form },
      program: savedProgram(program, memory),
      kindFacts: { ...context.account, passwordCount: readResult?.hashes?.length },
    },
  };
  const why = context.kind.readsShowHashes
    ? "a Redis shows only hashes of passwords"
    : readResult
      ? "the platform does not show them"
      : "this platform cannot be read without rekey:databasePath. Rekey made no request";
  return {
    state: readResult ? withCreationTime(withRecord(state, readResult), context) : state,
    findings: [
      ...(identity ? tokenOnly(identity) : [{ kind: "adopted", why } as const]),
      ...(readResult?.hasNext ? [{ kind: "prepared" } as const] : []),
    ],
  };
}

/**
 * Takes the `creationTime` of a record, if it is not in the future, for the time when its secret was generated: nothing
 * better is known of an adopted one.
 */
function withCreationTime(state: State, { now }: Context): State {
  const seconds = state.record?.["creationTime"];
  const isAdopted = outcomeOf(state) === "adopted";
  if (!isAdopted || typeof seconds !== "number") return state;
  const at = new Date(seconds * 1000);
  if (Number.isNaN(at.getTime()) || isFuture(at.toISOString(), now)) return state;
  const { memory } = state;
  const current = { ...memory.current, generatedAt: at.toISOString() };
  return { ...state, memory: { ...memory, current } };
}

function changedFields({ record = {} }: State, read: SecretResponse): string[] {
  return Object.keys(record).filter((name) => {
    return read.record[name] !== undefined && !isSame(record[name], read.record[name]);
  });
}

/** A database may have one token instead of a password, as the console of a vendor shows it. */
export function tokenOnly(identity: CredentialName | undefined): Finding[] {
  return identity === "restToken" ? [{ kind: "tokenOnly" }] : [];
}

/** Credentials that were known before, and are not known any more. */
function noLongerKnown(before: Marks, after: Marks): Finding[] {
  return found(
    "unknown",
    namesIn(before).filter((name) => after[name] === undefined),
  );
}

/** Credentials that are saved, and that a read does not show. */
function hidden(names: readonly string[]): Finding[] {
  if (names.length === 0) return [];
  const why = `the platform does not show ${names.join(", ")}. If it was changed outside of Rekey, set a new version`;
  return [{ kind: "notCompared", why }];
}

/** A finding about some names, if there are any. */
function found(kind: Finding["kind"], names: readonly string[]): Finding[] {
  return names.length > 0 ? [{ kind, names }] : [];
}
