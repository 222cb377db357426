import { type ErrorCode, RekeyError, RequestError } from "../domain/errors";
import { credentialNoun } from "../domain/endpoint";
import { type Notice } from "../resource/resource";
import { type AccessRetirement } from "../rotation/access";
import { messageOf } from "../rotation/findings";
import { noticeAbout } from "../rotation/messages";
import { openSession } from "../rotation/session";
import { type Run } from "../run/run";
import { type KnownTarget } from "./formers";
import { type Target } from "./targets";

/** A target of which two secrets are valid. */
export type OverlappingTarget = KnownTarget & { readonly retire: AccessRetirement };

/** Why the former secret was not retired, or may be valid again. */
interface NotRetired {
  readonly reason: string;
  readonly advice: string;
  readonly code: ErrorCode | undefined;
}

/** The result of a retirement: undefined if it is done, otherwise why it failed or waits. */
export type RetirementResult = NotRetired | { readonly waits: string } | undefined;

/** Makes the former secret of a target invalid. Only called once the current one was accepted. */
export async function retireFormerOf(
  target: OverlappingTarget,
  run: Run,
): Promise<RetirementResult> {
  const { subject, salt, retire } = target;
  const { source } = openSession(subject, run, target);
  if (!source.retire) throw new Error(`nothing retires a ${subject.kind.word}`);
  try {
    const retired = await source.retire(retire.formers, { salt });
    const { result, left = [], failure = retired.unsaved } = retired;
    if (result === "lost") {
      const why = "the platform does not have the new one any more, and the former one is valid";
      return {
        reason: `the new ${subject.kind.word} is lost: ${why}`,
        advice: "",
        code: undefined,
      };
    }
    const what =
      left.length > 0
        ? "accepted, but not all former ones were retired"
        : "accepted and the former one was retired, but the server did not save that";
    return failure && notRetired(failure, target, what);
  } catch (error) {
    if (!(error instanceof RekeyError)) throw error;
    const isWaiting = error.code === "REKEY_QUEUE_TOKEN_IN_USE" && !mustNotWait(retire, run);
    return isWaiting
      ? { waits: error.text }
      : notRetired(error, target, "accepted, but the former one was not retired");
  }
}

/** Whether the retirement must not wait: a date has asked for it, or its time is over. */
function mustNotWait({ isUrgent, until }: AccessRetirement, { options }: Run): boolean {
  return isUrgent === true || (until !== undefined && new Date(until) <= options.clock.now());
}

/** @param what has happened to the new one and the former one */
function notRetired(error: RekeyError, { current }: OverlappingTarget, what: string): NotRetired {
  const name = credentialNoun(current);
  const [why, advice] =
    error instanceof RequestError ? [error.happened, error.advice] : [error.text, ""];
  const code = error.code === "REKEY_QUEUE_TOKEN_IN_USE" ? error.code : undefined;
  return {
    reason: `the new ${name} is ${what}: ${why}`,
    advice,
    code,
  };
}

/**
 * What a preview says of a verification that retires.
 *
 * @param isCertain whether `retireFormerAfter` is known
 */
export function announcedRetirement({ subject }: Target, isCertain: boolean): Notice {
  const { word } = subject.kind;
  const text = `the former ${word} ${isOrMayBeRetired(isCertain)} once the new one is accepted.`;
  return noticeAbout(subject, { text });
}

/** Like `announcedRetirement`, while `access` is not known. */
export function unknownRetirement(isCertain: boolean): Notice {
  const text = `If a rotation leaves the former secret valid, it ${isOrMayBeRetired(isCertain)} after the new one is accepted.`;
  return { text };
}

function isOrMayBeRetired(isCertain: boolean): string {
  return isCertain ? "is retired" : "may be retired (retireFormerAfter is not known yet)";
}

export function retiredNotice({ subject, retire }: OverlappingTarget): Notice {
  return noticeAbout(subject, messageOf({ kind: "retired", why: retire.since }, subject.kind));
}

/** A former secret is not tried while it is valid. */
export function keptNotice({ subject, retire }: OverlappingTarget): Notice {
  const { word } = subject.kind;
  const until = retire.until ?? "it is retired (retireFormerAfter of a CredentialVerification)";
  const text = `the former ${word} was not tried. Both have been valid since ${retire.since}, and it stays valid until ${until}.`;
  return noticeAbout(subject, { text });
}
