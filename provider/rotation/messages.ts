import { outputsAreFormer, RekeyError, RequestError } from "../platform/errors";
import { pluralOf, type SecretKind, secretOf, type Subject } from "../platform/secretKind";
import { unknownValue } from "../records/properties";
import { type Notice } from "../resource";
import { type Finding } from "./findings";
import { type Memory, type ResetReason } from "./memory";
import { accountSettings, type Context, type Desired, isElsewhere, type Plan, type Waits } from "./plan";
import { isFuture, overdue } from "./schedule";

/** What is said of one secret, or of all of a fleet of which the same is to be said, after the subject. */
export interface Said {
  readonly text: string;
  readonly isWarning?: boolean | undefined;
}

/** A notice about one secret: `Password of database "a": was reset.` */
export function noticeAbout(subject: Subject, { text, isWarning }: Said): Notice {
  const { noun, word, onlyId } = subject.kind;
  const secret = subject.id === unknownValue && onlyId === undefined ? `${word} of the ${noun}` : secretOf(subject);
  return { text: `${secret.slice(0, 1).toUpperCase()}${secret.slice(1)}: ${text}`, isWarning };
}

/** `reset`, or `rolled` for keys. */
function done({ minInterval }: SecretKind): string {
  return minInterval === undefined ? "reset" : "rolled";
}

/** The input that asks for a reset. */
const inputOf: Readonly<Record<ResetReason, string>> = {
  created: "the resource",
  trigger: "version or triggers",
  schedule: "rotateEvery",
  rotatedSince: "rotatedSince",
};

interface Announcing extends Pick<Context, "now"> {
  readonly isReadFirst: boolean;
  /** Whether it is new in a fleet that has others. */
  readonly isAdded?: boolean;
}

/** What is announced of a plan, before it is carried out. Undefined if there is nothing to announce. */
export function announced(
  plan: Plan,
  kind: SecretKind,
  desired: Desired,
  { now, isReadFirst, isAdded = false }: Announcing,
): Said | undefined {
  const did = done(kind);
  const first = isReadFirst
    ? " It is read first: if that shows that the last one was applied, what was read is saved instead."
    : "";
  switch (plan.kind) {
    case "keep":
    case "read": {
      const { waits } = plan;
      if (waits) return { text: `${waiting(waits)}, and waits: ${waits.why}.${first}`, isWarning: true };
      if (plan.kind === "keep") return undefined;
      return { text: "will be read, because some credentials are not known, or are to be saved in another form." };
    }
    case "save":
      return undefined;
    case "adopt":
      return plan.mayReset
        ? { text: `may be ${did}: its age, which rotatedSince compares, is not known yet.` }
        : undefined;
    case "adopt trigger": {
      const { next } = plan;
      const then =
        next.kind === "reset" ? ` The next \`up\` resets it, because ${reasonOf(next, kind, desired, { now })}` : "";
      return { text: `was imported: its version and triggers are adopted, and nothing is reset.${then}` };
    }
    case "maybe": {
      const are = plan.names.length > 1 ? "are" : "is";
      return { text: `may be ${did}: ${plan.names.join(" and ")} ${are} not known yet.` };
    }
    case "refuse":
      return isReadFirst
        ? {
            text: `will be read first, and may then be ${did}. If that changes nothing, it will not be ${did}: ${plan.why}.`,
          }
        : { text: `will not be ${did}: ${plan.why}.` };
    case "reset":
      return { text: `will be ${did}, because ${reasonOf(plan, kind, desired, { now, isAdded })}${first}` };
  }
}

function waiting({ reason, isAgain, since }: Waits): string {
  if (isAgain) return `is not known, because its last reset (${since}) was not confirmed; one more is due`;
  return `is due by ${inputOf[reason]}${since === undefined ? "" : ` since ${since}`}`;
}

function reasonOf(
  { reason, isAgain, since }: Extract<Plan, { kind: "reset" }>,
  { minInterval }: SecretKind,
  { rotateEvery, rotatedSince }: Desired,
  { now, isAdded }: Pick<Announcing, "now" | "isAdded">,
): string {
  if (isAgain) return "the last reset was not confirmed, so the credentials are not known.";
  switch (reason) {
    case "created": {
      const unknownAge =
        minInterval === undefined
          ? ""
          : ` When they were last rolled is not known: a second roll within ${minInterval} is an outage, because receivers know the new keys of neither.`;
      const keep = ` To keep it, set \`initialRotation: false\`${rotatedSince ? ", and remove rotatedSince" : ""}.`;
      if (isAdded) return `it is new in the fleet.${keep}`;
      return `the resource is new.${unknownAge}${keep} If it was only renamed, use the option \`aliases\`.`;
    }
    case "trigger":
      return "version or triggers have changed.";
    case "schedule": {
      const late = since && rotateEvery ? overdue(since, rotateEvery, now) : undefined;
      return `it is due by rotateEvery, and was last reset or adopted at ${since}.${late ? ` That is ${late} late.` : ""}`;
    }
    case "rotatedSince":
      return since
        ? `it is older than rotatedSince (from ${since}).`
        : "rotatedSince is set, and when it was generated is not known.";
  }
}

/**
 * How many resets this run has announced: those above its limit will be refused.
 *
 * @param announcedNow those that this is said of
 */
export function withCount(
  said: Said,
  { count, limit }: { readonly count: number; readonly limit: number | undefined },
  announcedNow = 1,
): Said {
  if (limit === undefined) return { ...said, text: `${said.text} So far ${count} in this run.` };
  const text = `${said.text} So far ${count} of ${limit} in this run`;
  const refused = announcedNow === 1 ? "it" : `${Math.min(announcedNow, count - limit)} of them`;
  return count > limit
    ? { text: `${text}: more than rekey:maxResetsPerRun allows, so ${refused} will be refused.`, isWarning: true }
    : { ...said, text: `${text}.` };
}

/** What may be wrong with the saved memory, whatever the plan. */
export function concerns(memory: Memory, plan: Plan, { rotateEvery }: Desired, context: Context): Said[] {
  const { kind, now, place } = context;
  const { rotatedAt, rolledAt } = memory;
  const all: Said[] = [];
  if (isElsewhere(memory, context) && plan.kind !== "refuse") all.push(elsewhere(kind, memory, place));
  if (rolledAt !== undefined && isFuture(rolledAt, now)) {
    const text = `was last rolled at ${rolledAt} by the saved state, which is in the future: minInterval is not compared with it. Check the clocks.`;
    all.push({ text, isWarning: true });
  }
  if (rotateEvery && isFuture(rotatedAt, now)) {
    const text = `was last reset or adopted at ${rotatedAt} by the saved state, which is in the future: rotateEvery counts from then. Check the clocks; a new version resets it now.`;
    all.push({ text, isWarning: true });
  }
  return all;
}

/** The addresses of secrets with an id are not shown: a setting may hold a secret, by mistake. */
function elsewhere(kind: SecretKind, memory: Memory, place: Context["place"]): Said {
  const settings = accountSettings(kind);
  const text =
    kind.onlyId === undefined
      ? `was last reset or adopted with another ${settings}. If they belong to another account, the saved credentials are not those of this ${kind.noun}: set a new version, which resets it there.`
      : `belongs to ${memory.place?.address}, but the settings are for ${place?.address}, and a read has not shown that both are the same: nothing is compared, saved or rolled there. Restore the former ${settings}, or give the ${pluralOf(kind)} there a resource of their own (another name, or \`--replace\`).`;
  return { text, isWarning: true };
}

const readAgain = "The next `up` or refresh reads it again";
const newVersion = "If it lasts, set a new version, which resets it once more";
const console = "look in the platform's console";

/** What is said of each finding. `names` lists its names, and `why` is its reason; both may be empty. */
const findings: Readonly<Record<Finding["kind"], (of: { kind: SecretKind; names: string; why: string }) => string>> = {
  settled: ({ kind, why }) =>
    `was ${done(kind)}: the last reset was not confirmed${why && ` (${why})`}, but a read shows other credentials than before it, so it was applied. What was read is saved.`,
  claimed: () =>
    "was rolled once since the last `up`, by a run that was killed or by someone else: this counts as the roll of the new version, and no other one was sent. If someone else rolled it before the version was set, set another one.",
  overtaken: ({ why }) =>
    `was not rolled: the last roll was not confirmed${why && ` (${why})`}, and a read shows keys of neither before nor after it, so someone else rolled. What was read is saved.`,
  drift: ({ names }) => `was changed outside of Rekey (${names}). What was read is saved.`,
  read: () => "was read, and the credentials are saved.",
  unread: ({ kind, names, why }) =>
    `was ${done(kind)}, but ${names || "the new credential"} is not known: ${why ? `it could not be read (${why})` : "the platform still shows the former credentials"}. ${readAgain}. Until then, ${console}. ${newVersion}.`,
  hidden: ({ kind, names }) =>
    `was ${done(kind)}, but ${names || "the new credential"} is not known: the platform neither returned it nor shows it when it is read.${names && ` ${readAgain}.`} To know it now, ${console}.`,
  "left out": ({ kind, names }) =>
    `was ${done(kind)}, but ${names || "the new credential"} is not known: the platform's response does not have it. To know it, ${console}. ${newVersion}.`,
  missing: ({ names }) =>
    `has new credentials, of which the platform does not show ${names}: the former value is not kept. ${readAgain}.`,
  unseen: ({ names }) =>
    `was read, but the platform does not show ${names}: the saved state stays, and a change outside of Rekey cannot be seen.`,
  stale: () => `was read, but the platform still shows former credentials: the saved state stays. ${newVersion}.`,
  differs: ({ names }) =>
    `was read, and the platform shows another ${names} than the saved one, but not enough to tell whether it is newer: the saved state stays. If it was changed outside of Rekey, set a new version.`,
  adopted: () =>
    "was adopted without credentials: the platform does not show them. Their outputs stay empty until the next reset, if the platform returns them then.",
  "not contacted": () =>
    "was adopted, and nothing was contacted: rekey:databasePath is not set, so this platform cannot be read. Credentials, URLs and record stay empty until the first reset.",
  problems: ({ kind, names }) =>
    `was ${done(kind)}, but parts of the platform's response could not be read (output problems): ${names}.`,
  older: ({ kind, why }) =>
    `is still older than rotatedSince, or of unknown age${kind.minInterval === undefined ? "" : " (its current key)"}${why ? `: ${why}` : ". The next `up` resets it once more"}.`,
  removed: () =>
    "was removed from the state. Older states and backups still have it: set a new version, which resets it.",
  kept: ({ names }) =>
    `stays in the state, as a secret, although saveCredentials is false (${names || "in encryptedCredentials"}): no read shows them, so they would be lost. The next \`up\` reads them again, and removes what it shows. To encrypt them instead, set encryptFor.`,
  later: () => "is not known by its value: saveCredentials and encryptFor apply to the credentials of the next reset.",
  elsewhere: ({ kind }) =>
    `was read with another ${accountSettings(kind)}, where it may be another one: it was not compared, and the saved state stays.`,
  failed: ({ why }) => `was not read: ${why || "pulumi-rekey failed."} The saved state stays.`,
};

const ordinary: readonly Finding["kind"][] = ["settled", "drift", "read", "problems", "later"];

/** What is said of a finding. */
export function told({ kind: finding, names = [], why = "" }: Finding, kind: SecretKind): Said {
  const text = findings[finding]({ kind, names: names.join(", "), why });
  return { text, isWarning: !ordinary.includes(finding) };
}

/**
 * The failure after a reset that was not confirmed, with one advice.
 *
 * @param canSettle whether a read can show whether it was applied
 */
export function unknownFailure({ kind }: Subject, failed: RekeyError, canSettle: boolean): RekeyError {
  const { noun, minInterval } = kind;
  const advice = failed instanceof RequestError ? failed.advice : "";
  const what = failed.text.endsWith(advice) ? failed.text.slice(0, failed.text.length - advice.length) : failed.text;
  const when = minInterval === undefined ? "at once" : "once minInterval has passed";
  const next = canSettle
    ? `it reads the ${noun} first, and sends one more reset only if the former credentials are still shown.`
    : "it sends one more reset, which returns new credentials.";
  const stop = "After three unconfirmed resets in a row it stops, and asks for a new version.";
  const text = `${what.trim()}
${outputsAreFormer} Run \`up\` again ${when}: ${next} ${stop}`;
  return new RekeyError(failed.code, text, "maybe applied");
}

/** What a refresh says of a key that is rejected, with a space before it: its configuration is a saved one. */
export function savedKeyAdvice(service: SecretKind["service"], error: unknown): string {
  if (!(error instanceof RequestError) || error.status !== 401) return "";
  const [setting, variable] =
    service === "management" ? ["rekey:password", "REKEY_PASSWORD"] : ["rekey:queueToken", "REKEY_QUEUE_TOKEN"];
  return ` A refresh uses the configuration that the last \`up\` saved: if ${setting} was changed since then, run \`pulumi up --refresh\` once more, or set ${variable}.`;
}
