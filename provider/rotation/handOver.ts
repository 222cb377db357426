import { type Credentials } from "../records/fields";
import { type SecretResponse } from "../records/response";
import { identityIn, identityMarks, knownCredential, replacedMarks } from "./compare";
import { lastsAfter, validFormers } from "./formers";
import { type Marks, marksOf, triggerMark } from "./marks";
import { type Attempt, type Former, type Memory, withPast } from "./memory";
import { type Context, type Rotation } from "./plan";
import { noOverlap, type Program } from "./program";
import { readDate } from "./schedule";
import { type State, withoutValues, withRecord } from "./state";

/** What was made, and is known to be the current one. */
export interface Made {
  /** Its records and credentials; of what several have, that of the first one counts. */
  readonly responses: readonly Pick<
    SecretResponse,
    "record" | "credentials" | "exactIntegers" | "otherFields" | "problems"
  >[];
  /** When it was generated, at the earliest (ISO 8601, UTC); undefined if that is not known. */
  readonly generatedAt: string | undefined;
  /** Of what it has replaced: those that are still valid. */
  readonly formers: readonly Former[];
  /** Whether a later read is to show what the responses do not. */
  readonly isUnread?: true | undefined;
  /** Of a user: the hash by which the server lists it, if that is certain. */
  readonly hash?: string | undefined;
}

/**
 * The state before something is sent: it is saved if nothing comes back. It adds to what is saved:
 *
 * - `attempt`, which replaces one that was not confirmed, and counts it if it has the same trigger;
 * - `past`: what a read shows just before is replaced, whether or not it was known;
 * - `current.identity`, if this read is the first that shows one.
 */
export function attempted(
  state: State,
  due: Rotation,
  program: Program,
  { shown, adds }: { readonly shown: Marks; readonly adds: boolean },
  context: Context,
): State {
  const { memory } = state;
  const { current, past, formers } = memory;
  const { kind, now } = context;
  const trigger = triggerMark(memory, program.trigger);
  // With another `overlap`, the request is another one, too.
  const last = memory.attempt?.adds === (adds || undefined) ? memory.attempt : undefined;
  const isAgain = last && !adds && (trigger === "" || trigger === last.trigger);
  const identity = current.identity ?? identityIn(kind, shown);
  const mark = identity && shown[identity];
  const isFormerValid = validFormers({ formers }).length > 0;
  const sentAt = sentFor(program, now);
  const attempt: Attempt = {
    trigger: isAgain ? last.trigger : trigger,
    reason: isAgain ? last.reason : due.reason,
    count: last && (isAgain || adds) ? last.count + 1 : 1,
    // Of several in a row, the first one may be the one that was applied.
    firstSentAt: last ? earlier(last.firstSentAt, sentAt) : sentAt,
    lastSentAt: sentAt,
    adds: adds || undefined,
    expects: adds ? last?.expects : nextKeyOf(memory, shown),
    // What a reset replaces is also a former one that is still valid, and shown.
    canSettle: (mark !== undefined && (!past.includes(mark) || isFormerValid)) || undefined,
    isOfUnknownAge: adds ? last?.isOfUnknownAge : undefined,
  };
  return {
    ...state,
    memory: {
      ...memory,
      applied: memory.applied ?? "",
      attempt,
      current: { ...current, identity },
      past: adds ? past : withPast(memory, identityMarks(kind, shown), current.marks),
    },
  };
}

/** The mark of the key that a roll makes the current one. One that was current before cannot be it. */
function nextKeyOf({ current, past }: Memory, shown: Marks): string | undefined {
  const { currentKey, nextKey = "" } = { ...current.marks, ...shown };
  const wasCurrent = nextKey === currentKey || past.includes(nextKey);
  return currentKey === undefined || wasCurrent ? undefined : nextKey || undefined;
}

/**
 * The time of a request that is sent now. It is never before `rotatedSince`: with a clock that is two minutes slow and a
 * date of one minute ago, the new secret would look older than the date, and the next `up` would rotate it again.
 */
function sentFor({ rotatedSince }: Program, now: Date): string {
  const date = rotatedSince ? readDate(rotatedSince) : now;
  return new Date(Math.max(date.getTime(), now.getTime())).toISOString();
}

/**
 * The state in which what was made is the current one: the only function that makes it. It makes anew:
 *
 * - the credentials, `record`, `problems` and `otherFields`, from the responses alone: what they do not show is not known;
 * - `rotatedAt`, `rotationCount`, `rotationReason`; it ends `attempt`, `waits` and `formerRetiredAt`;
 * - `applied`: the trigger of the attempt. Removing the whole trigger keeps the one before;
 * - `scheduledFrom`: the last request of the attempt. A clock may have been set back since;
 * - all of `current`, in the form of the context, or of before in a refresh. The age file stays until it is saved;
 * - `formers` and `past`. `program` and `salt` stay, and of the source what is not about the current one.
 */
export function handOver(before: State, made: Made, context: Context): State {
  const { kind, now, program } = context;
  const { memory } = before;
  const { attempt, current: replaced } = memory;
  const { trigger = "", lastSentAt = now.toISOString(), expects } = attempt ?? {};
  const shown = valuesIn(made.responses);
  const isPair = kind.shape === "rolls";
  // A roll makes the next key the current one, even if no response shows that.
  const isNextKept = isPair && shown.currentKey === undefined && expects !== undefined;
  const nextValue = marksOf(memory, before).nextKey === expects ? before.nextKey : undefined;
  const values: Credentials = {
    ...(isNextKept && nextValue !== undefined && { currentKey: nextValue }),
    ...shown,
  };
  const marks: Marks = {
    ...(isNextKept && { currentKey: expects }),
    ...marksOf(memory, values),
  };
  // What only adds has no record of its own.
  const otherFields = attempt?.adds ? before.otherFields : undefined;
  const empty: State = { ...withoutValues(before), otherFields, problems: [] };
  const rotatedAt = made.generatedAt ?? lastSentAt;
  const ofPair = {
    generatedAt:
      marks.currentKey === replaced.marks.nextKey ? memory.ofSource.nextGeneratedAt : undefined,
    nextGeneratedAt: made.generatedAt,
  };
  return {
    ...made.responses.reduce(withRecord, empty),
    ...values,
    rotatedAt: attempt?.adds ? lastSentAt : rotatedAt,
    rotationCount: before.rotationCount + 1,
    rotationReason: attempt?.reason,
    formerRetiredAt: undefined,
    waits: undefined,
    memory: {
      ...memory,
      applied: trigger || memory.applied,
      attempt: undefined,
      current: {
        marks,
        identity: identityIn(kind, marks) ?? replaced.identity,
        generatedAt: isPair ? ofPair.generatedAt : made.generatedAt,
        form: program?.form ?? replaced.form,
        file: replaced.file,
        isUnread: made.isUnread,
      },
      past: withPast(memory, replacedMarks(kind, replaced.marks), marks),
      formers: [...made.formers],
      scheduledFrom: earlier(lastSentAt, now.toISOString()),
      ofSource: {
        ...memory.ofSource,
        ...(isPair && { ...context.account, nextGeneratedAt: ofPair.nextGeneratedAt }),
        ...(kind.shape === "redis" && { hash: made.hash, adoptedPasswords: undefined }),
      },
    },
  };
}

/** What a hand-over replaces. It is not valid any more, or only for as long as receivers of keys need it. */
export function replacedFormers(
  { memory }: State,
  since: string,
  { kind }: Pick<Context, "kind">,
): Former[] {
  const { current, program } = memory;
  const lasts = kind.handOver ?? noOverlap;
  const credential = knownCredential(kind, current.marks, program);
  return credential || kind.shape === "rolls"
    ? [{ credential, since, lasts, generatedAt: current.generatedAt }]
    : [];
}

/** What a hand-over replaces, and what stays valid until it is retired by a hash. */
export function keptFormer(
  { memory }: State,
  by: string,
  { reason }: Pick<Rotation, "reason">,
  program: Program,
  { kind, now }: Context,
): Former {
  return {
    credential: knownCredential(kind, memory.current.marks, memory.program),
    by,
    since: now.toISOString(),
    lasts: lastsAfter({ reason }, memory, program, now),
    generatedAt: memory.current.generatedAt,
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
