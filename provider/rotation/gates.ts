import { type Credentials } from "../records/fields";
import { formOf, savesNone } from "./desired";
import { saltedMark } from "./marks";
import { addsSecret, retirementReason } from "./overlap/overlap";
import { type Memory } from "./state";
import {
  type Context,
  type Gate,
  type Plan,
  type Question,
  type Refusal,
  type Reset,
} from "./plan";
import { otherAccount, rolledRecently } from "./signingKeys";

/** In the order of a reader's questions: is it that secret, is it time, would it be lost, is it in use? */
const gates: readonly Gate[] = [
  otherAccount,
  scheduleIsOff,
  rolledRecently,
  formerIsValid,
  wouldBeLost,
  isInUse,
];

/** The first reason for which a reset is refused or waits. */
export function refusalOf(due: Reset, question: Question): Plan | undefined {
  for (const gate of gates) {
    const plan = gate(due, question);
    if (plan) return plan;
  }
  return undefined;
}

/** A pending reset fails each `up`: the credentials that are saved may not be valid any more. */
function scheduleIsOff(due: Reset, { context }: Question): Plan | undefined {
  if (due.reason !== "schedule" || context.isScheduleOn) return undefined;
  if (!due.isAgain) return { kind: "keep", waits: { ...due, why: "rekey:scheduledResets is off" } };
  const why = `its last reset (${due.lastAt}) was not confirmed, and is not repeated while rekey:scheduledResets is off. Run \`up\` once with rekey:scheduledResets on`;
  return { kind: "refuse", code: "REKEY_UNCONFIRMED", why };
}

/**
 * A schedule waits until the former one is retired, unless that is due, too. Only a read shows whether a verification
 * has retired it.
 */
function formerIsValid(due: Reset, { memory, desired, context }: Question): Plan | undefined {
  if (due.reason !== "schedule" || !memory?.overlap || !context.read) return undefined;
  if (retirementReason(memory, desired, context)) return undefined;
  const why = `two have been valid since ${memory.overlap.since}, because no verification has retired the former one`;
  return { kind: "keep", waits: { ...due, why } };
}

/** A credential that is not saved must be shown by reads. Before the read, nothing is known of that. */
function wouldBeLost(_: Reset, { memory, desired, context }: Question): Refusal | undefined {
  const shown = context.canRead ? context.read?.shown : {};
  if (!shown || !savesNone(formOf(desired))) return undefined;
  const { identities } = context.kind;
  const isShown = memory?.identity
    ? shown[memory.identity]
    : identities.some((name) => shown[name]);
  if (isShown) return undefined;
  const why =
    "the platform does not show it, so the new one would be lost with saveCredentials: false. Set encryptFor, or remove saveCredentials";
  return { kind: "refuse", code: "REKEY_NOT_ENCRYPTED", why };
}

/** Other processes of the run use the token, too, and would fail once it is reset. */
function isInUse(_: Reset, { memory, desired, context }: Question): Refusal | undefined {
  const { kind, ownToken } = context;
  if (!kind.authorizesQueue || ownToken === undefined) return undefined;
  // A rotation that only adds leaves it valid.
  if (addsSecret(kind, desired)) return undefined;
  const isOwn = isShownInRun(ownToken, context) || isRemembered(ownToken, memory);
  if (!isOwn && !isTokenHidden(memory, context)) return undefined;
  const why = `it ${isOwn ? "is" : "is not shown, and may be"} rekey:queueToken, which other processes of this run also use. Set rekey:queueUserId instead, so that each process reads the token when it needs it, or reset the token in a stack without rekey:queueToken`;
  return { kind: "refuse", code: "REKEY_QUEUE_TOKEN_IN_USE", why };
}

/** One read may be outdated or hide the token, so it is enough if any read of the run has shown it. */
function isShownInRun(ownToken: string, { read }: Context): boolean {
  return read !== undefined && read.shownInRun.some((one) => hasToken(one, ownToken));
}

function isRemembered(ownToken: string, memory: Memory | undefined): boolean {
  return memory !== undefined && hasToken(memory.current, saltedMark(memory.salt, ownToken));
}

/** The read-only token also sends requests. */
function hasToken({ token, readOnlyToken }: Credentials, wanted: string): boolean {
  return token === wanted || readOnlyToken === wanted;
}

/** Whether nothing shows which token the user has. A platform that cannot be read shows nothing. */
function isTokenHidden(memory: Memory | undefined, { canRead, read }: Context): boolean {
  const shown = canRead ? read?.shown : {};
  return shown !== undefined && shown.token === undefined && memory?.current.token === undefined;
}
