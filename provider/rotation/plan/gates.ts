import { type SecretKind } from "../../domain/secretKind";
import { type Credentials } from "../../records/fields";
import { dueFormers, oldestFormer, validFormers, validUntil } from "../program/formers";
import { saltedMark } from "../memory/marks";
import { type Former, type Memory } from "../memory/memory";
import { type Gate, type Plan, type Question, type Refusal, type Rotation } from "../program/plan";
import { savesNone } from "../program/program";
import { otherAccount, rolledRecently } from "./signingKeys";

/** In the order of a reader's questions: is it that secret, is it time, would it be lost, is it in use? */
const gates: readonly Gate[] = [
  otherAccount,
  otherServer,
  scheduleIsOff,
  rolledRecently,
  formerIsValid,
  wouldBeLost,
  isInUse,
];

/** The first reason for which a rotation is refused or waits. */
export function refusalOf(due: Rotation, question: Question): Plan | undefined {
  for (const gate of gates) {
    const plan = gate(due, question);
    if (plan) return plan;
  }
  return undefined;
}

/** At another server, only a version or a date rotates a user that may be another one. */
function otherServer({ reason }: Rotation, { context }: Question): Refusal | undefined {
  const { isOtherServer, goneReason } = context.read ?? {};
  if (!isOtherServer || goneReason === undefined || reason !== "schedule") return undefined;
  return { kind: "refuse", code: "REKEY_VERIFICATION_FAILED", why: goneReason };
}

/** An unconfirmed attempt fails each `up`: the credentials that are saved may not be valid any more. */
function scheduleIsOff(due: Rotation, { context }: Question): Plan | undefined {
  if (due.reason !== "schedule" || context.isScheduleOn) return undefined;
  if (!due.isAgain) return { kind: "keep", waits: { ...due, why: "rekey:scheduledResets is off" } };
  const why = `its last reset (${due.lastAt}) was not confirmed, and is not repeated while rekey:scheduledResets is off. Run \`up\` once with rekey:scheduledResets on`;
  return { kind: "refuse", code: "REKEY_UNCONFIRMED", why };
}

/**
 * A new version never retires what clients use: it adds a further one where a source holds more than two, and otherwise
 * waits. A schedule waits in any case, but not for one that was retired before and is valid again. Only a read shows
 * whether a Retirement has retired the former ones, and nothing waits for them if the current one is not valid.
 */
export function formerIsValid(
  due: Rotation,
  { memory, program, context }: Question,
): Plan | undefined {
  const { kind, read } = context;
  if (!memory || !read || read.goneReason !== undefined) return undefined;
  const isScheduled = due.reason === "schedule";
  const isForDate = due.reason === "rotatedSince";
  if (isForDate || (!isScheduled && !program.adds)) return undefined;
  const ending = dueFormers(memory, program, context)?.formers ?? [];
  const open = validFormers(memory).filter(
    (one) => !ending.includes(one) && !(isScheduled && one.isValidAgain),
  );
  const oldest = oldestFormer({ formers: open });
  if (oldest === undefined || (!isScheduled && mayAddMore(memory, open, kind))) return undefined;
  const end = validUntil(oldest);
  const when = end ? `after ${end}` : "after the one at whose end a Retirement retires it";
  const why = `the former ${kind.word} has been valid, too, since ${oldest.since}. It is applied by the first \`up\` ${when}`;
  return { kind: "keep", waits: { ...due, why } };
}

/**
 * True if a further one may be added while a former one is valid. As a former one, a current password whose hash is not
 * certain could not be recognized, so nothing would retire it. Until the first rotation, no current one is known.
 */
function mayAddMore(
  { current, kindFacts }: Memory,
  open: readonly Former[],
  { maxValid }: SecretKind,
): boolean {
  const isCertain = current.identity === undefined || kindFacts.hash !== undefined;
  // Those that a user had before its first rotation are not known by a credential.
  const own = open.filter(({ credential }) => credential);
  return isCertain && maxValid !== undefined && Math.max(own.length, 1) + 1 < maxValid;
}

/** A credential that is not saved must be shown by reads. Before the read, nothing is known of that. */
function wouldBeLost(_: Rotation, { memory, program, context }: Question): Refusal | undefined {
  const shown = context.canRead ? context.read?.shown : {};
  if (!shown || !savesNone(program.form)) return undefined;
  const { identities } = context.kind;
  const identity = memory?.current.identity;
  const isShown = identity ? shown[identity] : identities.some((name) => shown[name]);
  if (isShown) return undefined;
  const why =
    "the platform does not show it, so the new one would be lost with saveCredentials: false. Set encryptFor, or remove saveCredentials";
  return { kind: "refuse", code: "REKEY_NOT_ENCRYPTED", why };
}

/** Other processes of the run use the token, too, and would fail once it is reset. */
function isInUse(_: Rotation, { memory, program, context }: Question): Refusal | undefined {
  const { ownToken, canRead, read } = context;
  // A rotation that only adds leaves it valid.
  if (ownToken === undefined || program.adds) return undefined;
  const { marks = {} } = memory?.current ?? {};
  const ownMark = memory && saltedMark(memory.salt, ownToken);
  // One read may be outdated or hide the token, so it is enough if any read of the run has shown it.
  const isOwn =
    hasToken(marks, ownMark) || read?.shownInRun.some((one) => hasToken(one, ownToken)) === true;
  // A platform that cannot be read shows nothing. Before the read, it is not known what it shows.
  const isHidden = canRead ? read && read.shown.token === undefined : true;
  if (!isOwn && (!isHidden || marks.token !== undefined)) return undefined;
  const why = `it ${isOwn ? "is" : "is not shown, and may be"} rekey:queueToken, which other processes of this run also use. Set rekey:queueUserId instead, so that each process reads the token when it needs it, or reset the token in a stack without rekey:queueToken`;
  return { kind: "refuse", code: "REKEY_QUEUE_TOKEN_IN_USE", why };
}

/** The read-only token also sends requests. */
function hasToken({ token, readOnlyToken }: Credentials, wanted: string | undefined): boolean {
  return wanted !== undefined && [token, readOnlyToken].includes(wanted);
}
