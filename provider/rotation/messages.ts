import { outputsAreFormer, RekeyError, RequestError, SettingsError } from "../platform/errors";
import { canonical, type SecretKind, secretOf, type Subject } from "../platform/secretKind";
import { isUnknown } from "../records/properties";
import { type Notice } from "../resource";
import { type Run } from "../run";
import { type Desired, isFormChanged } from "./desired";
import { resetOrRolled, type Said } from "./findings";
import { type Memory, type State } from "./memory";
import { type Context, isReadFirst, type Plan, type Reset } from "./plan";
import { isFuture } from "./schedule";
import { contextOf } from "./session";
import { isElsewhere, whyElsewhere } from "./signingKeys";

/** A notice about one secret. */
export function noticeAbout(subject: Subject, said: Said): Notice {
  const { noun, word, onlyId } = subject.kind;
  const secret = isUnknown(subject.id) && onlyId === undefined ? `${word} of the ${noun}` : secretOf(subject);
  return notice(secret, said);
}

/** A notice: `Password of database "a": was reset.`, or `Resets the password of database "a", because …` */
export function notice(secret: string, { does, text, isWarning }: Said): Notice {
  if (does !== undefined) return { text: `${does} the ${secret}, ${text}`, isWarning };
  return { text: `${secret.slice(0, 1).toUpperCase()}${secret.slice(1)}: ${text}`, isWarning };
}

/** The secrets that this run has refreshed are in the state: a new resource for one is probably a renamed one. */
export function noteRefresh(subject: Subject, run: Run): void {
  run.shared.refreshed.add(secretOf(canonical(subject)));
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
  const context = contextOf(subject.kind, run);
  const isTentative = saved !== undefined && isReadFirst(saved, plan, context);
  const announcement = announcementOf(subject, plan, desired, isTentative, isAdded);
  const isRefreshed = run.shared.refreshed.has(secretOf(canonical(subject)));
  const isRenamed = plan.kind === "reset" && saved === undefined && isRefreshed;
  const renamed = { text: "is in the state already. Renamed? Then use the option `aliases`.", isWarning: true };
  return [
    ...(announcement ? [announcement] : []),
    ...(isRenamed ? [renamed] : []),
    ...(saved ? concerns(saved.memory, plan, desired, context) : []),
  ];
}

/**
 * An `up` shows it both before and after it does what it says, so it is true at either time.
 *
 * @param isTentative whether the read before the reset may change the plan
 */
function announcementOf(
  subject: Subject,
  plan: Plan,
  desired: Desired,
  isTentative: boolean,
  isAdded: boolean,
): Said | undefined {
  const { kind } = subject;
  const did = resetOrRolled(kind);
  const reset = kind.minInterval === undefined ? "reset" : "roll";
  const why = (due: Reset) => `because ${reasonOf(due, kind, desired, isAdded)}`;
  const first = isTentative
    ? " It is read first: if that shows that the last one was applied, what was read is saved instead."
    : "";
  switch (plan.kind) {
    case "keep":
    case "rewrite":
    case "read": {
      const { waits } = plan;
      if (waits) {
        return { text: `is due for a ${reset}, ${why(waits)} It is postponed: ${waits.why}.`, isWarning: true };
      }
      return plan.kind === "read" ? { text: "is read first; nothing is reset." } : undefined;
    }
    case "claim":
      return undefined;
    case "adopt":
      // A replacement looks like a new resource: someone who wants a reset by `--replace` is told that there is none.
      return plan.mayReset
        ? { text: `may be ${did}: \`up\` first reads its age, and compares it with rotatedSince.` }
        : { text: `is adopted, and not ${did}: that takes a new version.` };
    case "maybe": {
      const are = plan.names.length > 1 ? "are" : "is";
      return { text: `may be ${did}: ${plan.names.join(" and ")} ${are} not known yet.` };
    }
    case "refuse": {
      const before = isTentative ? `is read first, and may then be ${did}. If that changes nothing, it ` : "";
      return { text: `${before}is not ${did}: ${plan.why}.` };
    }
    case "reset": {
      // Each secret whose id is not known yet is another one.
      const secret = isUnknown(subject.id) ? Symbol() : secretOf(subject);
      const does = kind.minInterval === undefined ? "Resets" : "Rolls";
      return { does, text: `${why(plan)}${first}`, secrets: [secret] };
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
 * Counts the resets that a text announces, and adds how many this run has announced so far: those above its limit are
 * refused. Nothing is said of resets that were announced before: a replacement is announced once, by its diff.
 */
export function announce(said: Said, run: Run): Said[] {
  const counts = said.secrets && run.announce(said.secrets);
  if (!counts) return said.secrets ? [] : [said];
  const { count, limit } = counts;
  if (limit === undefined) return [{ ...said, text: `${said.text} So far ${count} in this run.` }];
  if (count <= limit) return [{ ...said, text: `${said.text} So far ${count} of ${limit} in this run.` }];
  const refused = `${planned(count)}, and rekey:maxResetsPerRun allows ${limit}: those above it are refused.`;
  return [{ ...said, text: `${said.text} ${refused}`, isWarning: true }];
}

function planned(count: number): string {
  return count === 1 ? "1 reset is planned" : `${count} resets are planned`;
}

/** Resets of a fleet that are more than the run's limit leaves. */
export function tooMany({ count, left }: Readonly<{ count: number; left: number }>): string {
  return `${planned(count)}, and rekey:maxResetsPerRun leaves ${left}`;
}

/** What may be wrong with the saved memory, or does not take effect yet. */
function concerns(memory: Memory, plan: Plan, desired: Desired, context: Context): Said[] {
  const all: Said[] = [];
  if (memory.applied === undefined && (plan.kind === "read" || plan.kind === "rewrite")) {
    all.push({ text: "was imported: its version and triggers are adopted, and nothing is reset." });
  }
  if (isElsewhere(memory, context) && plan.kind !== "refuse") {
    all.push({ text: `may be another one, and is not compared: ${whyElsewhere(memory, context)}.`, isWarning: true });
  }
  if (plan.kind !== "reset" && isFormChanged(desired, memory)) {
    const text =
      "is saved as before: saveCredentials and encryptFor take effect with the next reset. To remove what is saved now, set a new version.";
    all.push({ text });
  }
  return [...all, ...futureTimes(memory, desired, context)];
}

/** The times of a clock that was ahead. */
function futureTimes(memory: Memory, { rotateEvery }: Desired, { now }: Context): Said[] {
  const compared = { minInterval: memory.keys?.rolledAt, rotateEvery: rotateEvery ? memory.scheduledFrom : undefined };
  return Object.entries(compared).flatMap(([input, time]) => {
    if (time === undefined || !isFuture(time, now)) return [];
    const effect =
      input === "rotateEvery" ? "counts from then: a new version resets it now" : "is not compared with it";
    const text = `was last changed at ${time} by the saved state, which is later than the clock of this machine. Check the clocks. ${input} ${effect}.`;
    return [{ text, isWarning: true }];
  });
}

/**
 * The failure after a reset that was not confirmed. Its advice replaces that of the request.
 *
 * @param canSettle whether a read can show whether it was applied
 * @param isLast whether no other one is sent without a new version
 */
export function unknownFailure({ kind }: Subject, failed: RekeyError, canSettle: boolean, isLast = false): RekeyError {
  const { noun, minInterval } = kind;
  const advice = failed instanceof RequestError ? failed.advice : "";
  const what = failed.text.endsWith(advice) ? failed.text.slice(0, failed.text.length - advice.length) : failed.text;
  const when = minInterval === undefined ? "right away" : "once minInterval has passed";
  const read = canSettle ? `it reads the ${noun} first, and ` : "it ";
  const next = isLast
    ? "sends no other reset without a new version."
    : canSettle
      ? "resets again only if the old credentials are still shown. After three unconfirmed resets in a row it stops, and asks for a new version."
      : "resets again, which returns new credentials. After three unconfirmed resets in a row it stops, and asks for a new version.";
  const text = `${what.trim()}\n${outputsAreFormer} Run \`up\` again ${when}, with rekey:scheduledResets on: ${read}${next}`;
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
