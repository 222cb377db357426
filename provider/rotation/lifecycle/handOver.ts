import { type Credentials } from "../../records/fields";
import { type SecretResponse } from "../../records/secretResponse";
import { identityIn, identityMarks, knownCredential, replacedMarks } from "../plan/compare";
import { validForAfter, validFormers } from "../program/formers";
import { type Marks, marksOf, saltedMark, triggerMark } from "../memory/marks";
import { type Attempt, type Current, type Former, type Memory, withPast } from "../memory/memory";
import { type Context, type Rotation } from "../program/plan";
import { noOverlap, type Program } from "../program/program";
import { readDate } from "../memory/schedule";
import { type AttemptedState, type State, withoutValues, withRecord } from "../memory/state";

/** A secret that is known to be the current one. */
export interface Made {
  /** Its records and credentials; of what several have, that of the first one counts. */
  readonly responses: readonly Pick<
    SecretResponse,
    "record" | "credentials" | "exactIntegers" | "otherFields" | "problems"
  >[];
  /** When it was generated, at the earliest (ISO 8601, UTC); undefined if that is not known. */
  readonly generatedAt: string | undefined;
  /** The former ones. Those with `retireHash` are still valid; of the others, a verification tries the last one. */
  readonly formers: readonly Former[];
  /** A later read is to show what the responses do not. */
  readonly mustRead?: true | undefined;
  /** Facts about it that its source remembers. */
  readonly kindFacts?: Partial<Memory["kindFacts"]>;
}

/**
 * The state as if a request had been sent and nothing had come back. It is saved only at the end of the run. It adds:
 *
 * - `attempt`, which replaces one that was not confirmed, and counts it if it has the same trigger. It ends `waits`;
 * - `past`: what a read shows just before is replaced, too, if it was not known. So is the next key that was known, if
 *   that read shows another one;
 * - `current.identity`, if this read is the first that shows one.
 */
export function withAttempt(
  state: State,
  due: Rotation,
  program: Program,
  shown: Marks,
  context: Context,
): AttemptedState {
  const { memory } = state;
  const { current, past } = memory;
  const { kind } = context;
  const { adds } = program;
  const identity = current.identity ?? identityIn(kind, shown);
  const mark = identity && shown[identity];
  // The secret that a reset replaces is also a former one that is still valid, and shown.
  const isFormerValid = validFormers(memory).length > 0;
  const canSettle = !adds && mark !== undefined && (!past.includes(mark) || isFormerValid);
  const expects = adds ? undefined : nextKeyOf(memory, shown);
  const attempt: Attempt = {
    ...nextAttempt(memory, due, program, context),
    canSettle: canSettle || undefined,
    ...(!adds && { expects }),
  };
  // Another next key, without a current one, shows that someone has rolled the pair that was known.
  const { nextKey, ...others } = current.marks;
  const isRolled = expects !== undefined && nextKey !== undefined && nextKey !== expects;
  const replaced = [...identityMarks(kind, shown), ...(isRolled ? [nextKey] : [])];
  return {
    ...state,
    waits: undefined,
    memory: {
      ...memory,
      attempt,
      current: { ...current, identity },
      past: adds ? past : withPast(memory, replaced, isRolled ? others : current.marks),
    },
  };
}

/** The state with what else is known of its open attempt. */
export function withAttemptFacts(
  state: AttemptedState,
  facts: Partial<Attempt> | undefined,
): AttemptedState {
  const { memory } = state;
  return { ...state, memory: { ...memory, attempt: { ...memory.attempt, ...facts } } };
}

/** One more attempt in a row, if the last one was not confirmed or proven. */
function nextAttempt(
  memory: Memory,
  { reason }: Rotation,
  program: Program,
  { now }: Context,
): Attempt {
  const { adds } = program;
  const trigger = triggerMark(memory, program.trigger);
  const sentAt = sentFor(program, now);
  const first: Attempt = {
    trigger,
    reason,
    count: 1,
    firstSentAt: sentAt,
    lastSentAt: sentAt,
    adds: adds || undefined,
  };
  const { attempt: last } = memory;
  // With another `overlap`, the request is another one, too.
  if (!last || last.adds !== first.adds) return first;
  const { expects, isOfUnknownAge, count } = last;
  // Of several in a row, the first one may be the one that was applied.
  const firstSentAt = earlier(last.firstSentAt, sentAt);
  if (adds) return { ...first, firstSentAt, count: count + 1, expects, isOfUnknownAge };
  const isSame = trigger === "" || trigger === last.trigger;
  return isSame
    ? { ...first, firstSentAt, count: count + 1, trigger: last.trigger, reason: last.reason }
    : { ...first, firstSentAt };
}

/** The mark of the key that a roll makes the current one. One that was current before cannot be it. */
function nextKeyOf({ current, past }: Memory, shown: Marks): string | undefined {
  const { currentKey, nextKey = "" } = { ...current.marks, ...shown };
  const wasCurrent = nextKey === currentKey || past.includes(nextKey);
  return currentKey === undefined || wasCurrent ? undefined : nextKey || undefined;
}

/**
 * The time of a request that is sent now. It is never before `rotatedSince`: with a clock that is two minutes slow and
 * a date of one minute ago, the new secret would look older than the date, and the next `up` would rotate it again.
 */
function sentFor({ rotatedSince }: Program, now: Date): string {
  const date = rotatedSince ? readDate(rotatedSince) : now;
  return new Date(Math.max(date.getTime(), now.getTime())).toISOString();
}

/**
 * The state in which what was made is the current one: the only function that makes it. It replaces:
 *
 * - the credentials, `record`, `problems` and `otherFields`, by what the responses show: the rest is not known;
 * - `rotatedAt`, `rotationCount`, `rotationReason`; it ends `adoptedAt`, `attempt` and `formerRetiredAt`;
 * - `applied`: the trigger of the attempt. Removing the whole trigger keeps the one before;
 * - `scheduledFrom`: the last request of the attempt. A clock may have been set back since;
 * - all of `current`, in the form of the program, or of before in a refresh. The age file stays until it is saved;
 * - `formers` and `past`. `program` and `salt` stay, and of the source what is not about the current one.
 */
export function handOver(before: AttemptedState, made: Made, context: Context): State {
  const { kind, now } = context;
  const { memory } = before;
  const { trigger, lastSentAt, adds, reason } = memory.attempt;
  const { values, marks } = madeCredentials(before, made);
  const generatedAt = kind.next ? currentKeyGeneratedAt(memory, marks) : made.generatedAt;
  const next = withCurrent(memory, { ...made, marks, generatedAt }, context);
  // A secret that is only added has no record of its own.
  const otherFields = adds ? before.otherFields : undefined;
  const empty: State = { ...withoutValues(before), otherFields, problems: [] };
  return {
    ...made.responses.reduce(withRecord, empty),
    ...values,
    adoptedAt: undefined,
    rotatedAt: adds ? lastSentAt : (made.generatedAt ?? lastSentAt),
    rotationCount: before.rotationCount + 1,
    rotationReason: reason,
    formerRetiredAt: undefined,
    memory: {
      ...next,
      applied: trigger || memory.applied,
      current: { ...next.current, identity: identityIn(kind, marks) ?? memory.current.identity },
      scheduledFrom: earlier(lastSentAt, now.toISOString()),
      kindFacts: {
        ...memory.kindFacts,
        ...context.account,
        ...(kind.next && { nextGeneratedAt: made.generatedAt }),
        ...made.kindFacts,
      },
    },
  };
}

/** The facts that a memory takes as those of the current one. */
type Next = Readonly<{ marks: Marks; formers: readonly Former[] }> &
  Pick<Current, "generatedAt" | "mustRead">;

/** The memory in which another one is current: what was made, or what someone else has made and a read shows. */
export function withCurrent(
  memory: Memory,
  { marks, generatedAt, formers, mustRead }: Next,
  { kind, program }: Context,
): Memory {
  const { current } = memory;
  return {
    ...memory,
    attempt: undefined,
    current: {
      marks,
      identity: current.identity ?? identityIn(kind, marks),
      generatedAt,
      form: program?.form ?? current.form,
      file: current.file,
      mustRead,
    },
    past: withPast(memory, replacedMarks(kind, current.marks), marks),
    // Of keys, also the time of one that is not known is of use.
    formers: formers.filter(
      ({ credential, retireHash }) => credential || retireHash || kind.receiverDelay,
    ),
  };
}

/** When the key that a roll has made the current one was generated, as far as known (ISO 8601, UTC). */
export function currentKeyGeneratedAt(
  { current, kindFacts }: Memory,
  { currentKey }: Marks,
): string | undefined {
  return currentKey === current.marks.nextKey ? kindFacts.nextGeneratedAt : undefined;
}

/** The credentials that were made. A roll makes the next key the current one, even if no response shows that. */
export function madeCredentials(
  before: AttemptedState,
  { responses }: Pick<Made, "responses">,
): { readonly values: Credentials; readonly marks: Marks } {
  const { memory, nextKey } = before;
  const shown = valuesIn(responses);
  const marks = marksOf(memory, shown);
  const { adds, expects } = memory.attempt;
  if (adds || expects === undefined) return { values: shown, marks };
  const isSaved = nextKey !== undefined && saltedMark(memory.salt, nextKey) === expects;
  return {
    values: { ...(isSaved && { currentKey: nextKey }), ...shown },
    marks: { currentKey: expects, ...marks },
  };
}

/** The current one as a former one. It stays valid if a hash retires it. */
export function formerOf(
  { memory }: State,
  since: string,
  { kind, now, program }: Context,
  retireHash?: string,
): Former {
  const { current, attempt } = memory;
  return {
    credential: knownCredential(kind, current.marks, memory.program),
    retireHash,
    since,
    validFor: program ? validForAfter(attempt?.reason, current, program, now) : noOverlap,
    generatedAt: current.generatedAt,
  };
}

/** The credentials of responses; of those with the same name, that of the first response. */
export function valuesIn(responses: readonly Pick<SecretResponse, "credentials">[]): Credentials {
  const all = responses.map(({ credentials }) => credentials);
  return Object.assign({}, ...all.toReversed()) as Credentials;
}

/** The earlier of two times: a clock may have been set back. */
function earlier(a: string, b: string): string {
  return a < b ? a : b;
}
