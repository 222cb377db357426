import { outputsAreFormer, RekeyError, RequestError, SettingsError } from "../platform/errors";
import { type SecretKind, secretOf, type Subject } from "../platform/secretKind";
import { isUnknown } from "../records/properties";
import { type Notice } from "../resource";
import { type Run } from "../run";
import { type Memory, type State } from "./memory";
import {
  accountSettings,
  type Context,
  contextOf,
  type Desired,
  isElsewhere,
  mayChange,
  type Plan,
  type Reset,
  whyElsewhere,
} from "./plan";
import { isFuture } from "./schedule";

/** A text about one secret, or about all of a fleet for which it is the same, without the subject. */
export interface Said {
  readonly text: string;
  readonly isWarning?: boolean | undefined;
  /** The secrets whose reset it announces. */
  readonly secrets?: readonly (string | symbol)[] | undefined;
}

/** A notice about one secret: `Password of database "a": was reset.` */
export function noticeAbout(subject: Subject, { text, isWarning }: Said): Notice {
  const { noun, word, onlyId } = subject.kind;
  const secret = isUnknown(subject.id) && onlyId === undefined ? `${word} of the ${noun}` : secretOf(subject);
  return { text: `${secret.slice(0, 1).toUpperCase()}${secret.slice(1)}: ${text}`, isWarning };
}

/** What happens to a secret of a kind: `reset`, or `rolled` for keys. */
function resetOrRolled({ minInterval }: SecretKind): string {
  return minInterval === undefined ? "reset" : "rolled";
}

/** The secrets that this run has refreshed. All are in the state: a new resource for one is probably a renamed one. */
export function refreshedIn(run: Run): Set<string> {
  return run.shared(refreshedIn, () => new Set<string>());
}

/**
 * What is said of a plan before it is carried out, and what may be wrong with the saved memory.
 *
 * @param isAdded whether it is new in a fleet that has others
 */
export function saidOf(
  subject: Subject,
  plan: Plan,
  saved: State | undefined,
  desired: Desired,
  run: Run,
  isAdded = false,
): Said[] {
  const context = contextOf(subject, run);
  const isTentative = saved !== undefined && mayChange(saved, plan, context);
  const announcement = announcementOf(subject, plan, desired, isTentative, isAdded);
  const isRenamed = plan.kind === "reset" && saved === undefined && refreshedIn(run).has(secretOf(subject));
  const renamed = { text: "is in the state already. Renamed? Then use the option `aliases`.", isWarning: true };
  return [
    ...(announcement ? [announcement] : []),
    ...(isRenamed ? [renamed] : []),
    ...(saved ? concerns(saved.memory, plan, desired, context) : []),
  ];
}

/** @param isTentative whether the read before the reset may change the plan */
function announcementOf(
  subject: Subject,
  plan: Plan,
  desired: Desired,
  isTentative: boolean,
  isAdded: boolean,
): Said | undefined {
  const { kind } = subject;
  const did = resetOrRolled(kind);
  const why = (due: Reset) => `because ${reasonOf(due, kind, desired, isAdded)}`;
  const first = isTentative
    ? " It is read first: if that shows that the last one was applied, what was read is saved instead."
    : "";
  switch (plan.kind) {
    case "keep":
    case "read": {
      const { waits } = plan;
      if (waits) return { text: `is to be ${did}, ${why(waits)} It waits: ${waits.why}.${first}`, isWarning: true };
      if (plan.kind === "keep") return undefined;
      return { text: "will be read, because some credentials are not known, or are to be saved in another form." };
    }
    case "rewrite":
      return undefined;
    case "adopt":
      // A replacement looks like a new resource: someone who wants a reset by `--replace` is told that there is none.
      return plan.mayReset
        ? { text: `may be ${did}: its age, which rotatedSince compares, is not known yet.` }
        : { text: `is adopted, and not ${did}: that takes a new version.` };
    case "maybe": {
      const are = plan.names.length > 1 ? "are" : "is";
      return { text: `may be ${did}: ${plan.names.join(" and ")} ${are} not known yet.` };
    }
    case "refuse": {
      const before = isTentative ? `will be read first, and may then be ${did}. If that changes nothing, it ` : "";
      return { text: `${before}will not be ${did}: ${plan.why}.` };
    }
    case "reset": {
      // Each secret whose id is not known yet is another one.
      const secret = isUnknown(subject.id) ? Symbol() : secretOf(subject);
      return { text: `will be ${did}, ${why(plan)}${first}`, secrets: [secret] };
    }
  }
}

function reasonOf(
  { reason, isAgain, lastAt }: Reset,
  { minInterval }: SecretKind,
  { rotatedSince }: Desired,
  isAdded: boolean,
): string {
  if (isAgain) return `the last reset (${lastAt}) was not confirmed, so the credentials are not known.`;
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
    case "schedule":
      return `it is due by rotateEvery, and was last reset or adopted at ${lastAt}.`;
    case "rotatedSince":
      return lastAt
        ? `it is older than rotatedSince (from ${lastAt}).`
        : "rotatedSince is set, and when it was generated is not known.";
  }
}

/**
 * Counts the resets that a text announces, and adds how many this run has announced so far: those above its limit will
 * be refused. Nothing is said of resets that were announced before: a replacement is announced once, by its diff.
 */
export function announce(said: Said, run: Run): Said[] {
  const counts = said.secrets && run.announce(said.secrets);
  if (!counts) return said.secrets ? [] : [said];
  const { count, limit } = counts;
  const text = `${said.text} So far ${count}${limit === undefined ? "" : ` of ${limit}`} in this run`;
  if (limit === undefined || count <= limit) return [{ ...said, text: `${text}.` }];
  return [{ text: `${text}: those above rekey:maxResetsPerRun will be refused.`, isWarning: true }];
}

function concerns(memory: Memory, plan: Plan, { rotateEvery }: Desired, context: Context): Said[] {
  const all: Said[] = [];
  if (memory.applied === undefined && (plan.kind === "read" || plan.kind === "rewrite")) {
    all.push({ text: "was imported: its version and triggers are adopted, and nothing is reset." });
  }
  if (isElsewhere(memory, context) && plan.kind !== "refuse") {
    all.push({ text: `may be another one, which is not compared: ${whyElsewhere(memory, context)}.`, isWarning: true });
  }
  const compared = { minInterval: memory.rolledAt, rotateEvery: rotateEvery ? memory.scheduledFrom : undefined };
  for (const [input, time] of Object.entries(compared)) {
    if (time === undefined || !isFuture(time, context.now)) continue;
    const effect =
      input === "rotateEvery" ? "counts from then: a new version resets it now" : "is not compared with it";
    const text = `was last changed at ${time} by the saved state, which is in the future. Check the clocks. ${input} ${effect}.`;
    all.push({ text, isWarning: true });
  }
  return all;
}

/** What a read or a response has shown, and is worth a line. */
export interface Finding {
  readonly kind: keyof typeof texts;
  /** Credentials, fields or problems. */
  readonly names?: readonly string[];
  /** Why, if it depends on the case. */
  readonly why?: string | undefined;
}

/** A state after a read or a response, and what is worth telling. */
export interface Learned {
  readonly state: State;
  readonly findings: readonly Finding[];
}

/** What was done for one secret: what to save, and what to tell. */
export interface Rotated extends Learned {
  readonly failure?: RekeyError | undefined;
}

/** What texts depend on. `names` and `why` may be empty. */
type Details = Readonly<{ kind: SecretKind; names: string; why: string }>;

const newVersion = "If it lasts, set a new version, which resets it once more.";

/** What is said of each finding. */
const texts = {
  /** A read settles a reset that was not confirmed. */
  settled: ({ kind, why }: Details) =>
    `was ${resetOrRolled(kind)}: the last reset was not confirmed${why && ` (${why})`}, but a read shows other credentials than before it, so it was applied. What was read is saved.`,
  claimed: () =>
    "was rolled once since the last `up`, by a run that was killed or by someone else: this counts as the roll of the new version, and no other one was sent. If someone else rolled it before the version was set, set another one.",
  overtaken: ({ why }: Details) =>
    `was not rolled: the last roll was not confirmed${why && ` (${why})`}, and a read shows keys of neither before nor after it, so someone else rolled. What was read is saved.`,
  drift: ({ names }: Details) => `was changed outside of Rekey (${names}). What was read is saved.`,
  read: () => "was read, and the credentials are saved.",
  /** Some of the new credentials are not known. Their former values are not kept. */
  unknown: ({ names, why }: Details) =>
    `was changed, but ${names || "the new one"} is not known: ${why || "the platform does not show it"}. A refresh reads it again, if the platform can be read. Until then, look in the platform's console. ${newVersion}`,
  /** A read hides what is saved, or shows others, but not the best one. */
  unseen: ({ names }: Details) =>
    `was read, but the platform does not show enough to compare ${names} with the saved state, which stays. If it was changed outside of Rekey, set a new version.`,
  stale: ({ names }: Details) =>
    `was read, but the platform still shows former credentials: the saved state stays${names && `, and ${names} is not known`}. ${newVersion}`,
  adopted: ({ why }: Details) =>
    `was adopted without credentials: ${why}. Outputs that are not known stay empty until the next reset.`,
  tokenOnly: () =>
    "no password is known, because the platform shows only a REST token: use restUrl and restToken. connectionUrl is undefined.",
  problems: ({ names }: Details) =>
    `was changed, but parts of the platform's response could not be read (output problems): ${names}.`,
  older: () => "is still older than rotatedSince, or of unknown age: a later `up` resets it once more.",
  removed: () =>
    "was removed from the state. Older states and backups still have it: set a new version, which resets it.",
  /** Values that are nowhere else. */
  kept: ({ names }: Details) =>
    `stays in the state, as a secret, although saveCredentials is false (${names || "in encryptedCredentials"}): no read shows them, so they would be lost. The next \`up\` reads them again, and removes what it shows. To encrypt them instead, set encryptFor.`,
  later: () => "has a value that is not known: saveCredentials and encryptFor take effect with the next reset.",
  /** A read shows nothing that is known, with other settings. */
  elsewhere: ({ kind }: Details) =>
    `was read with another ${accountSettings(kind)}, where it may be another one: it was not compared, and the saved state stays.`,
  unencrypted: () =>
    "was read, but could not be encrypted for encryptFor, so the saved state stays. Check the recipients and the installation of age-encryption.",
  failed: ({ why }: Details) => `was not read: ${why || "pulumi-rekey failed."} The saved state stays.`,
};

const ordinary: readonly Finding["kind"][] = ["settled", "drift", "read", "tokenOnly", "problems", "later"];

/** Whether a read has not shown what is current. */
export function isUnread(findings: readonly Finding[]): boolean {
  return findings.some(({ kind }) => kind === "failed" || kind === "stale" || kind === "elsewhere");
}

export function told({ kind: finding, names = [], why = "" }: Finding, kind: SecretKind): Said {
  return { text: texts[finding]({ kind, names: names.join(", "), why }), isWarning: !ordinary.includes(finding) };
}

/** The failure after a reset that was not confirmed. Its advice replaces that of the request. */
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

/** What a refresh or a destroy adds, after a space, to what a setting may have caused: the last `up` has saved it. */
export function savedKeyAdvice(
  service: SecretKind["service"],
  error: unknown,
  command: "refresh" | "destroy" = "refresh",
): string {
  const isRejected = error instanceof RequestError && error.status === 401;
  if (!isRejected && !(error instanceof SettingsError)) return "";
  const key = service === "management" ? "rekey:password" : "rekey:queueToken";
  const setting = isRejected ? key : "a setting";
  return ` A ${command} uses the configuration that the last \`up\` saved: if ${setting} was changed since then, run \`pulumi ${command} --run-program\`, which uses that of the program.`;
}
