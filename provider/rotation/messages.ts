import { type SecretKind, secretOf, type Subject } from "../platform/secretKind";
import { isUnknown } from "../records/properties";
import { type Notice } from "../resource";
import { type Run } from "../run";
import { type Memory } from "./memory";
import {
  type Context,
  contextOf,
  type Desired,
  isElsewhere,
  isReadFirst,
  type Plan,
  type Reset,
  whyElsewhere,
} from "./plan";
import { isFuture } from "./schedule";
import { type State } from "./state";

/** What is said of one secret, or of all of a fleet of which the same is to be said, after the subject. */
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
export function resetOrRolled({ minInterval }: SecretKind): string {
  return minInterval === undefined ? "reset" : "rolled";
}

/** The secrets that this run has refreshed. All are in the state: a new resource for one of them is likely renamed. */
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
  const readsFirst = saved !== undefined && isReadFirst(saved, plan, context);
  const announcement = announced(subject, plan, desired, readsFirst, isAdded);
  const isRenamed = plan.kind === "reset" && saved === undefined && refreshedIn(run).has(secretOf(subject));
  const renamed = { text: "is in the state already. Renamed? Then use the option `aliases`.", isWarning: true };
  return [
    ...(announcement ? [announcement] : []),
    ...(isRenamed ? [renamed] : []),
    ...(saved ? concerns(saved.memory, plan, desired, context) : []),
  ];
}

/** @param readsFirst whether the secret is read before it is reset, and the read may be enough */
function announced(
  subject: Subject,
  plan: Plan,
  desired: Desired,
  readsFirst: boolean,
  isAdded: boolean,
): Said | undefined {
  const { kind } = subject;
  const did = resetOrRolled(kind);
  const why = (due: Reset) => `because ${reasonOf(due, kind, desired, isAdded)}`;
  const first = readsFirst
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
    case "save":
      return undefined;
    case "adopt":
      return plan.mayReset
        ? { text: `may be ${did}: its age, which rotatedSince compares, is not known yet.` }
        : undefined;
    case "maybe": {
      const are = plan.names.length > 1 ? "are" : "is";
      return { text: `may be ${did}: ${plan.names.join(" and ")} ${are} not known yet.` };
    }
    case "refuse": {
      const text = `will not be ${did}: ${plan.why}.`;
      return {
        text: readsFirst ? `will be read first, and may then be ${did}. If that changes nothing, it ${text}` : text,
      };
    }
    case "reset": {
      // Each secret whose id is not known yet is another one.
      const secret = isUnknown(subject.id) ? Symbol() : secretOf(subject);
      return { text: `will be ${did}, ${why(plan)}${first}`, secrets: [secret] };
    }
  }
}

function reasonOf(
  { reason, isAgain, since }: Reset,
  { minInterval }: SecretKind,
  { rotatedSince }: Desired,
  isAdded: boolean,
): string {
  if (isAgain) return `the last reset (${since}) was not confirmed, so the credentials are not known.`;
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
      return `it is due by rotateEvery, and was last reset or adopted at ${since}.`;
    case "rotatedSince":
      return since
        ? `it is older than rotatedSince (from ${since}).`
        : "rotatedSince is set, and when it was generated is not known.";
  }
}

/**
 * Adds how many resets this run has announced. Those above its limit will be refused. Nothing is left of what was
 * announced before: a replacement is announced once, by its diff.
 */
export function counted(said: Said, run: Run): Said[] {
  const counts = said.secrets && run.announce(said.secrets);
  if (!counts) return said.secrets ? [] : [said];
  const { count, limit } = counts;
  const text = `${said.text} So far ${count}${limit === undefined ? "" : ` of ${limit}`} in this run`;
  if (limit === undefined || count <= limit) return [{ ...said, text: `${text}.` }];
  return [{ text: `${text}: those above rekey:maxResetsPerRun will be refused.`, isWarning: true }];
}

function concerns(memory: Memory, plan: Plan, { rotateEvery }: Desired, context: Context): Said[] {
  const all: Said[] = [];
  if (memory.applied === undefined && (plan.kind === "read" || plan.kind === "save")) {
    all.push({ text: "was imported: its version and triggers are adopted, and nothing is reset." });
  }
  if (isElsewhere(memory, context) && plan.kind !== "refuse") {
    all.push({ text: `may be another one, which is not compared: ${whyElsewhere(memory, context)}.`, isWarning: true });
  }
  const compared = { minInterval: memory.rolledAt, rotateEvery: rotateEvery ? memory.rotatedAt : undefined };
  for (const [input, time] of Object.entries(compared)) {
    if (time === undefined || !isFuture(time, context.now)) continue;
    const effect =
      input === "rotateEvery" ? "counts from then: a new version resets it now" : "is not compared with it";
    const text = `was last changed at ${time} by the saved state, which is in the future. Check the clocks. ${input} ${effect}.`;
    all.push({ text, isWarning: true });
  }
  return all;
}
