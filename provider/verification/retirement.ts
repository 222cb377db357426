import { RekeyError, RequestError } from "../domain/errors";
import { type Notice } from "../resource/resource";
import { type AccessRetirement } from "../rotation/access";
import { readAdmin } from "../rotation/admin";
import { messageOf } from "../rotation/findings";
import { noticeAbout } from "../rotation/messages";
import { openSession } from "../rotation/session";
import { type Run } from "../run/run";
import { type Failure } from "./attempts";
import { type KnownTarget, type Target } from "./targets";

/** A target of which two secrets are valid. */
export type OverlappingTarget = KnownTarget & { readonly retire: AccessRetirement };

/**
 * Makes the former secret of a target invalid. Only called once the current one was accepted.
 *
 * @returns why it failed, or waits; undefined if it is done
 */
export async function retireFormerOf(
  target: OverlappingTarget,
  run: Run,
): Promise<Failure | { readonly waits: string } | undefined> {
  const { subject, salt, retire } = target;
  const { word } = subject.kind;
  const admin = readAdmin(target.admin, run.options.settings.find("databaseHost"));
  const { source } = openSession(subject, run, { ...target, admin });
  if (!source.retire) throw new Error(`nothing retires a ${word}`);
  try {
    const retired = await source.retire(retire.formers, {
      salt,
      currentHash: retire.currentHash,
      current: target.current.value,
    });
    const { result, left = [], unsaved, failure = unsaved } = retired;
    if (result === "kept") {
      const reason = `the new ${word} is accepted, but the server does not list it, so the former one was not retired`;
      const advice =
        "Check that the admin reaches the server that clients use, and that `ACL GETUSER` lists its passwords there.";
      return { reason, advice };
    }
    const areSeveral = retire.formers.length > 1;
    const areLeft = areSeveral
      ? "not all former ones were retired"
      : "the former one was not retired";
    const what =
      left.length > 0
        ? `accepted, but ${areLeft}`
        : "accepted and the former one was retired, but the server did not save that";
    const isUnsaved = unsaved && (true as const);
    return failure && { ...failureAfter(failure, `the new ${word} is ${what}`), isUnsaved };
  } catch (error) {
    if (!(error instanceof RekeyError)) throw error;
    const isOver = retire.until !== undefined && new Date(retire.until) <= run.options.clock.now();
    const mayWait = !retire.isUrgent && !isOver;
    if (error.code === "REKEY_QUEUE_TOKEN_IN_USE" && mayWait) return { waits: error.text };
    return failureAfter(error, `the new ${word} is accepted, but the former one was not retired`);
  }
}

/** @param what was done before */
function failureAfter(error: RekeyError, what: string): Failure {
  const [why, advice] =
    error instanceof RequestError ? [error.happened, error.advice] : [error.text, ""];
  const code = error.code === "REKEY_QUEUE_TOKEN_IN_USE" ? error.code : undefined;
  return { reason: `${what}: ${why}`, advice, code };
}

/**
 * What a preview says of a verification that retires.
 *
 * @param target undefined while `access` is not known
 * @param isCertain whether `retireFormerAfter` is known
 */
export function announcedRetirement(target: Target | undefined, isCertain: boolean): Notice {
  const isRetired = isCertain
    ? "is retired"
    : "may be retired (retireFormerAfter is not known yet)";
  if (!target) {
    const text = `If a rotation leaves the former secret valid, it ${isRetired} after the new one is accepted.`;
    return { text };
  }
  const { subject } = target;
  const text = `the former ${subject.kind.word} ${isRetired} once the new one is accepted.`;
  return noticeAbout(subject, { text });
}

export function retiredNotice({ subject, retire }: OverlappingTarget): Notice {
  return noticeAbout(subject, messageOf({ kind: "retired", why: retire.since }, subject.kind));
}

/** A former secret is not tried while it is valid. */
export function keptNotice({ subject, retire }: OverlappingTarget): Notice {
  const until = retire.until ?? "it is retired (retireFormerAfter of a CredentialVerification)";
  const text = `the former ${subject.kind.word} was not tried. Both have been valid since ${retire.since}, and it stays valid until ${until}.`;
  return noticeAbout(subject, { text });
}
