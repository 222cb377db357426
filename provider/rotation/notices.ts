import { type Notice, type Result } from "../resource";
import { type CredentialName } from "../records/credentials";
import { outputsAreFormer, RejectedError, type RekeyError, UnknownOutcomeError } from "../platform/errors";
import { ownerOf, type SecretKind, secretOf, type Subject } from "../platform/secretKind";
import { type Verdict } from "./marks";
import { type RotationPlan, type WaitingReset } from "./planRotation";
import { type RotationOutputs } from "./outputs";
import { accountSettings } from "./saved";

/** What a notice is about. A fleet shows one line for all databases with the same kind. */
type NoticeKind = keyof typeof summaries | "problems" | "older";

/** A notice about one secret. */
export interface SecretNotice extends Notice {
  readonly kind: NoticeKind;
}

/** Notices of reads that may succeed later. */
export const unreadKinds: readonly NoticeKind[] = ["failed", "stale", "unread"];

/** What was done for one secret. */
export interface SecretResult extends Result<RotationOutputs> {
  readonly notices: readonly SecretNotice[];
}

function noticeOf(kind: NoticeKind, text: string): SecretNotice {
  return { kind, text };
}

/** For what the platform does not show, or shows late, and for what could not be read. */
function warningOf(kind: NoticeKind, text: string): SecretNotice {
  return { kind, text, isWarning: true };
}

const ifItLasts = "If it lasts, set a new version, which resets the password once more";

/** @param happened why the reset was not confirmed */
export function settledNotice(subject: Subject, happened: string): SecretNotice {
  const text = `The reset of ${ownerOf(subject)} was not confirmed (${happened}), but a read shows other credentials than before it: it was applied. The credentials that were read are saved.`;
  return noticeOf("settled", text);
}

export function problemsNotice(subject: Subject, problems: readonly string[]): SecretNotice {
  const text = `The ${secretOf(subject)} was reset, but parts of the platform's response could not be read (see its output problems): ${problems.join("; ")}.`;
  return noticeOf("problems", text);
}

/**
 * The notice for a confirmed reset after which credentials are not known.
 *
 * @param missing their names; empty if the database is not known to have any
 * @param last what the response to the reset, or the last read, showed
 */
export function unknownNotice(
  subject: Subject,
  missing: readonly CredentialName[],
  last: { readonly kind: Verdict | "left out" | "repeated" } | { readonly kind: "unreadable"; readonly why: string },
): SecretNotice {
  const what =
    missing.length === 0
      ? "the new one is not known"
      : `its new ${missing.join(" and ")} ${missing.length === 1 ? "is" : "are"} not known`;
  const reset = `The ${secretOf(subject)} was reset, but ${what}:`;
  const look = "look in the platform's console";
  switch (last.kind) {
    case "repeated":
    case "left out": {
      const why = last.kind === "repeated" ? "repeats the former credentials" : "does not contain it";
      return warningOf(
        "missing",
        `${reset} the platform's response ${why}. Look in the platform's console. ${ifItLasts}.`,
      );
    }
    case "hidden":
    case "current": {
      const later = missing.length > 0 ? "The next `up` or refresh reads it once more, and resets nothing. " : "";
      const why = "the platform neither returned it nor shows it when it is asked";
      return warningOf("hidden", `${reset} ${why}. ${later}To know it now, ${look}.`);
    }
    default: {
      const why =
        last.kind === "unreadable"
          ? `the database could not be read (${last.why})`
          : "the platform still shows the former credentials";
      const text = `${reset} ${why}. The next \`up\` or refresh reads it again, and resets nothing. Until then, ${look}. ${ifItLasts}.`;
      return warningOf("unread", text);
    }
  }
}

/**
 * The failure after a reset that was not confirmed.
 *
 * @param isComparable whether a read can show if it was applied
 */
export function unknownFailure(
  { noun, minInterval }: SecretKind,
  { code, text }: RekeyError,
  isComparable: boolean,
): UnknownOutcomeError {
  const wait = minInterval === undefined ? "" : " once minInterval has passed";
  const next = isComparable
    ? `The next \`up\` reads the ${noun} first. If it still shows the former credentials, it sends one more reset${wait}`
    : "The next `up` sends one more reset, which returns new credentials";
  const stop = "After three unconfirmed resets in a row it stops and asks for a new version.";
  return new UnknownOutcomeError(code, `${text}\n${outputsAreFormer} ${next}. ${stop}`);
}

/** The notice for a database that is adopted without credentials. */
export function adoptionNotice(subject: Subject): SecretNotice {
  const text = `${capitalized(ownerOf(subject))} was adopted without credentials: the platform does not show them. They are known after its next reset, if the platform returns them with it.`;
  return warningOf("adopted", text);
}

/** The notice for a database that is adopted at a platform that cannot be read. */
export function notContactedNotice(subject: Subject): SecretNotice {
  const empty = "Its outputs for credentials, URLs and the record stay empty until its first reset";
  const text = `${capitalized(ownerOf(subject))} was adopted, and nothing was contacted: rekey:databasePath is not set, so this platform cannot be read. ${empty}.`;
  return warningOf("not contacted", text);
}

/** The notice for a read that shows a credential that a reset has replaced. */
export function staleNotice(subject: Subject): SecretNotice {
  const text = `The platform still shows former credentials of ${ownerOf(subject)}, which a reset has replaced: what was read is not used, and the saved state stays. Nothing was reset. ${ifItLasts}.`;
  return warningOf("stale", text);
}

export function driftNotice(subject: Subject, changed: readonly string[]): SecretNotice {
  const text = `${capitalized(ownerOf(subject))} was changed outside of Rekey: ${changed.join(", ")}. What was read is saved; nothing was reset.`;
  return noticeOf("drift", text);
}

/** @param happened why the roll was not confirmed */
export function otherRollNotice(subject: Subject, happened: string): SecretNotice {
  const text = `The roll of ${ownerOf(subject)} was not confirmed (${happened}), and a read shows keys of neither before nor after it: someone else rolled them. What was read is saved, and the roll is still to be made.`;
  return noticeOf("drift", text);
}

export function readNotice(subject: Subject): SecretNotice {
  return noticeOf("read", `The credentials of ${ownerOf(subject)} were read and are saved.`);
}

/** The notice for saved credentials that a read does not show. */
export function unseenNotice(subject: Subject, names: readonly CredentialName[]): SecretNotice {
  const text = `The platform does not show ${names.join(", ")} of ${ownerOf(subject)}: the saved state stays, and a change outside of Rekey cannot be seen.`;
  return warningOf("unseen", text);
}

/** The notice for credentials that were not shown together with new ones. */
export function missingNotice(subject: Subject, names: readonly CredentialName[]): SecretNotice {
  const text = `The platform shows new credentials of ${ownerOf(subject)}, but not ${names.join(", ")}: the former value is not kept. The next \`up\` or refresh reads it once more, and resets nothing.`;
  return warningOf("missing", text);
}

export function failedNotice(subject: Subject, why: string): SecretNotice {
  return warningOf("failed", `${why || `Could not read ${ownerOf(subject)}.`} The saved state stays.`);
}

/** What a refresh says of a key that is rejected, with a space before it: its configuration is a saved one. */
export function savedKeyAdvice(service: SecretKind["service"], error: unknown): string {
  if (!(error instanceof RejectedError) || error.status !== 401) return "";
  const [setting, variable] =
    service === "management" ? ["rekey:password", "REKEY_PASSWORD"] : ["rekey:queueToken", "REKEY_QUEUE_TOKEN"];
  return ` A refresh uses the configuration that the last \`up\` saved: if ${setting} was changed since then, run \`pulumi up --refresh\` once more, or set ${variable}.`;
}

export function otherAccountNotice(subject: Subject): SecretNotice {
  const text = `${capitalized(ownerOf(subject))} was last reset or adopted with another ${accountSettings(subject.kind)}, so it was not read. The saved state stays.`;
  return warningOf("failed", text);
}

/** The notice for a secret that is due by `rotatedSince`, but not yet replaced, by the next plan. */
export function olderNotices(subject: Subject, next: RotationPlan): SecretNotice[] {
  const { reason } = next.kind === "keep" ? (next.waits ?? {}) : next.kind === "reset" ? next : {};
  if (reason !== "rotatedSince") return [];
  const what = subject.kind.minInterval === undefined ? "" : "current key of the ";
  const why = next.kind === "keep" ? `: ${next.waits?.why}` : ". The next `up` resets it once more";
  return [
    warningOf("older", `The ${what}${secretOf(subject)} is still older than rotatedSince, or of unknown age${why}.`),
  ];
}

/** The notices for a reset that waits, except by `rotatedSince`. */
export function waitingNotices(subject: Subject, { reason, why, since }: WaitingReset): Notice[] {
  if (reason === "unconfirmed") {
    const text = `The last reset of ${ownerOf(subject)}, at ${since}, was not confirmed, so its credentials are unknown. One more reset waits: ${why}.`;
    return [{ text, isWarning: true }];
  }
  if (reason !== "schedule") return [];
  const isDue = since === undefined ? "is due" : `has been due since ${since}`;
  const text = `The ${secretOf(subject)} ${isDue} for a reset by rotateEvery, which waits: ${why}.`;
  return [{ text, isWarning: since === undefined }];
}

const whileKept = "The next `up` reads them again, and removes what it shows. To encrypt them instead, set encryptFor";

const stillInBackups = "Older states and backups still have them: set a new version, which resets them";

/** The notice for saved credentials that are now removed from the state. */
export function removedNotice(subject: Subject): SecretNotice {
  const text = `The credentials of ${ownerOf(subject)} were removed from the state. ${stillInBackups}.`;
  return warningOf("removed", text);
}

/** The notice for credentials that are not to be saved, but that no read has shown. */
export function keptNotice(subject: Subject): SecretNotice {
  const text = `The credentials of ${ownerOf(subject)} are kept, although saveCredentials is false: no read shows them, so they would be lost. ${whileKept}.`;
  return warningOf("kept", text);
}

/** The notice for credentials that are saved or encrypted as asked for only after the next reset. */
export function laterNotice(subject: Subject): SecretNotice {
  const text = `The credentials of ${ownerOf(subject)} are not known: saveCredentials and encryptFor apply to those of the next reset. Nothing was reset.`;
  return noticeOf("later", text);
}

/** The notice for new credentials that are not encrypted, because others of the same record were not shown. */
export function partNotice(subject: Subject): SecretNotice {
  const text = `The credentials of ${ownerOf(subject)} were changed outside of Rekey, and the platform does not show all of them: encryptedCredentials stays, and has former ones. To replace it, set a new version.`;
  return warningOf("part", text);
}

/** What the notices of several databases of a fleet have in common, by kind: what happened, and advice. */
const summaries = {
  settled: [
    "not confirmed by the platform, but applied: a read shows other credentials than before",
    "The credentials that were read are saved.",
  ],
  unread: [
    "reset, but the new password is not known yet, because the database still shows the former one or could not be read",
    `The next \`up\` or refresh reads it again, and resets nothing. ${ifItLasts}.`,
  ],
  hidden: [
    "reset, but without credentials that are known: the platform does not show them",
    "Look for them in the platform's console.",
  ],
  missing: [
    "with new credentials, but the platform did not show all that they are known to have",
    "Look for them in the platform's console.",
  ],
  adopted: ["adopted without credentials: the platform does not show them", "They are known after the next reset."],
  "not contacted": [
    "adopted, and nothing was contacted: rekey:databasePath is not set, so this platform cannot be read",
    "Their outputs for credentials, URLs and records stay empty until the first reset.",
  ],
  unseen: [
    "read, but the platform does not show all of their credentials",
    "The saved ones stay, and a change outside of Rekey cannot be seen.",
  ],
  stale: ["read, but the platform still shows former credentials", `The saved state stays. ${ifItLasts}.`],
  drift: ["changed outside of Rekey", "What was read is saved; nothing was reset."],
  read: ["read for the first time", "Their credentials are saved; nothing was reset."],
  removed: ["no longer have credentials in the state", `${stillInBackups}.`],
  kept: [
    "keep their credentials, although saveCredentials is false, because no read shows them and they would be lost",
    `${whileKept}.`,
  ],
  later: [
    "have credentials that are not known",
    "saveCredentials and encryptFor apply to those of the next reset. Nothing was reset.",
  ],
  part: [
    "changed outside of Rekey, of which the platform does not show all credentials",
    "encryptedCredentials stays, and has former ones. To replace it, set a new version.",
  ],
  failed: ["not read", "Their saved state stays."],
} as const;

/**
 * One line for all databases of a fleet with the same notice.
 *
 * @param of what has the databases, for messages
 */
export function summarize(
  databases: readonly { readonly databaseId: string; readonly notices: readonly SecretNotice[] }[],
  of: string,
): SecretNotice[] {
  const all = databases.flatMap(({ databaseId, notices }) => notices.map((notice) => ({ databaseId, ...notice })));
  const kinds = Object.keys(summaries) as (keyof typeof summaries)[];
  const summed = kinds.flatMap((kind): SecretNotice[] => {
    const found = all.filter((notice) => notice.kind === kind);
    const [first] = found;
    if (!first) return [];
    const example = kind === "failed" ? ` The first of them: ${first.text}` : "";
    const ids = listed(found.map(({ databaseId }) => databaseId));
    const [what, advice] = summaries[kind];
    const text = `${of}: ${found.length} ${what}: ${ids}. ${advice}${example}`;
    return [{ kind, text, isWarning: first.isWarning }];
  });
  return [...all.filter(({ kind }) => kind === "problems"), ...summed];
}

/** A text with its first letter in upper case. */
export function capitalized(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

/**
 * Names in one message; the others are counted.
 *
 * @param most names that are shown
 */
export function listed(names: readonly string[], most = 5): string {
  const shown = names
    .slice(0, most)
    .map((name) => JSON.stringify(name))
    .join(", ");
  return names.length > most ? `${shown} and ${names.length - most} more` : shown;
}
