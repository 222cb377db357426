import { isDeepStrictEqual } from "node:util";
import { canonical, secretOf, type SecretKind, type Subject } from "../domain/secretKind";
import { isUnknown } from "../pulumi/values";
import { type Run } from "../run/run";
import { resetOrRolled, type Message } from "./findings";
import { addsSecret, hasOverlap, isDuration, oldestFormer } from "./formers";
import {
  adoptedNote,
  firstNote,
  leftByDestroy,
  overlapNote,
  plannedRetirement,
  postponedRetirement,
} from "./formerTexts";
import { type Memory } from "./memory";
import { type Context, isReadFirst, type Plan, type Rotation, type WaitingRotation } from "./plan";
import { type Program } from "./program";
import { dueAt, dueFrom, isDueSoon, isFuture } from "./schedule";
import { contextOf } from "./context";
import { isElsewhere, lastRollAt, whyElsewhere } from "./signingKeys";
import { type State } from "./state";
import { passwordsOf } from "./userRead";

/** The secrets that this run has refreshed are in the state: a new resource for one is probably a renamed one. */
export function noteRefresh(subject: Subject, run: Run): void {
  run.shared.refreshed.add(secretOf(canonical(subject)));
}

/** A plan for one secret, and what it was made from. */
export interface Announced {
  readonly subject: Subject;
  readonly plan: Plan;
  readonly state?: State | undefined;
  readonly program: Program;
  /** Whether it is new in a fleet that has others. */
  readonly isAdded?: boolean;
}

/** The announcement of a plan before it is carried out, and what may be wrong with the saved memory. */
export function announcementsOf(announced: Announced, run: Run): Message[] {
  const { subject, plan, state, program } = announced;
  const context = contextOf(subject.kind, run);
  const isTentative = isReadFirst(state, plan, context);
  const waits = "waits" in plan ? plan.waits : undefined;
  const announcement = [
    announcementOf(announced, context, isTentative) ?? [],
    waits ? postponed(announced, waits) : [],
  ];
  if (state) return [announcement, concerns(state.memory, plan, program, context)].flat(2);
  const isRenamed =
    plan.kind === "rotate" && run.shared.refreshed.has(secretOf(canonical(subject)));
  const renamed: Message = {
    text: "is already in the state. If you renamed the resource, use the option `aliases`.",
    isWarning: true,
  };
  const note = plan.kind === "adopt" ? adoptedNote(subject.kind, program) : [];
  return [announcement, note, isRenamed ? renamed : []].flat(2);
}

/**
 * An `up` shows it before it acts and again afterwards, so the text must be true at both times.
 *
 * @param isTentative whether the read before the reset may change the plan
 */
function announcementOf(
  announced: Announced,
  context: Context,
  isTentative: boolean,
): Message | undefined {
  const { subject, plan, state } = announced;
  const did = resetOrRolled(subject.kind);
  switch (plan.kind) {
    case "retire":
      return state && plannedRetirement(state.memory, plan, context);
    case "save":
      return {
        text: "the server has not saved the last change of its users: `up` sends ACL SAVE.",
      };
    case "read":
      return plan.why === "former"
        ? {
            text: `is read: the former ${subject.kind.word} may still be valid. Nothing that consumers use changes.`,
          }
        : { text: "is read first; nothing is reset." };
    case "adopt":
      return adoption(subject.kind, plan.mayRotate);
    case "maybe": {
      const are = plan.names.length > 1 ? "are" : "is";
      return { text: `may be ${did}: ${plan.names.join(" and ")} ${are} not known yet.` };
    }
    case "refuse":
      return {
        text: isTentative
          ? `is read first, and may then be ${did}. If the read changes nothing, it is not ${did}: ${plan.why}.`
          : `is not ${did}: ${plan.why}.`,
      };
    case "rotate":
      return resetAnnouncement(announced, plan, context, isTentative);
    default:
      return undefined;
  }
}

function postponed(announced: Announced, waits: WaitingRotation): Message {
  const reset = resetOrRolled(announced.subject.kind).replace(/ed$/, "");
  const why = reasonOf(waits, announced);
  return {
    text: `is due for a ${reset}, because ${why} It is postponed: ${waits.why}.`,
    isWarning: true,
  };
}

/** A replacement looks like a new resource, so this also says to users of `--replace` that nothing is reset. */
function adoption(kind: SecretKind, mayRotate: boolean): Message {
  const did = resetOrRolled(kind);
  const text = mayRotate
    ? `may be ${did}: \`up\` first reads its age and compares it with rotatedSince.`
    : `is adopted, not ${did}. To ${kind.shape === "rolls" ? "roll" : "reset"} it, set a new version.`;
  if (!hasOverlap(kind)) return { text };
  const handedOut = kind.shape === "redis" ? "no password" : `the current ${kind.word}`;
  const until = ` Until its first rotation, ${handedOut} is handed out.`;
  return { text: `${text}${until}${firstNote(kind)}`, isWarning: true };
}

function resetAnnouncement(
  announced: Announced,
  due: Rotation,
  context: Context,
  isTentative: boolean,
): Message {
  const { subject, state, program } = announced;
  // What is not known yet counts as different: ten new databases are ten resets in a preview.
  const { kind, id, server } = subject;
  // Two users with one name may be those of different servers.
  const isKnown = !isUnknown(id) && (kind.shape !== "redis" || server !== undefined);
  const secret = isKnown ? secretOf(subject) : Symbol();
  const first = isTentative
    ? " It is read first: if the read shows that the last one was applied, its result is saved instead."
    : "";
  const note = overlapNote(state?.memory, program, due, context);
  const text = `because ${reasonOf(due, announced)}${first}${note}`;
  const resets = addsSecret(kind, program) ? "Rotates" : "Resets";
  const does = kind.shape === "turns" ? "Turns" : kind.shape === "rolls" ? "Rolls" : resets;
  return { does, text, secrets: [secret] };
}

function reasonOf({ reason, isAgain, lastAt }: Rotation, announced: Announced): string {
  if (isAgain) {
    return `the last reset (${lastAt}) was not confirmed, so the current credentials are not known.`;
  }
  switch (reason) {
    case "created":
      return reasonOfNew(announced);
    case "trigger":
      return "version or triggers have changed.";
    case "schedule":
      return `rotateEvery has elapsed: it was last reset or adopted at ${lastAt}.`;
    case "rotatedSince":
      return lastAt
        ? `it is older than rotatedSince: it was generated at ${lastAt}.`
        : "rotatedSince is set, and its age is not known.";
  }
}

function reasonOfNew({ subject, state, program, isAdded }: Announced): string {
  if (state) return "its first rotation is not finished: the new secret was not proven.";
  const { handOver } = subject.kind;
  const keep = ` To keep it, set \`initialRotation: false\`${program.rotatedSince ? ", and remove rotatedSince" : ""}.`;
  if (isAdded) return `it is new in the fleet.${keep}`;
  const unknownAge = handOver
    ? ` It is not known when they were last rolled: a second roll within ${handOver} causes an outage, because receivers do not have the keys of the first one yet.`
    : "";
  return `the resource is new.${unknownAge}${keep} If it was only renamed, use the option \`aliases\`.`;
}

/**
 * Counts the resets that a text announces, and adds how many this run has announced so far: those above its limit are
 * refused. Resets that were announced before are left out: a replacement is announced once, by its diff.
 */
export function announce(message: Message, run: Run): Message[] {
  const counts = message.secrets && run.announce(message.secrets);
  if (!counts) return message.secrets ? [] : [message];
  const { count, limit = Infinity } = counts;
  if (count <= limit) {
    const ofLimit = limit === Infinity ? "" : ` of ${limit}`;
    return [{ ...message, text: `${message.text} So far ${count}${ofLimit} in this run.` }];
  }
  const refused = `${planned(count)}, and rekey:maxResetsPerRun allows ${limit}: those above the limit are refused.`;
  return [{ ...message, text: `${message.text} ${refused}`, isWarning: true }];
}

function planned(count: number): string {
  return count === 1 ? "1 reset is planned" : `${count} resets are planned`;
}

/** Resets of a fleet that are more than the run's limit leaves. */
export function tooMany({ count, left }: Readonly<{ count: number; left: number }>): string {
  return `${planned(count)}, but rekey:maxResetsPerRun allows only ${left} more`;
}

/** What may be wrong with the saved memory, or does not take effect yet. */
function concerns(memory: Memory, plan: Plan, program: Program, context: Context): Message[] {
  const all: Message[] = [];
  if (memory.applied === undefined && (plan.kind === "read" || plan.kind === "keep")) {
    all.push({ text: "was imported. Its version and triggers are adopted, and nothing is reset." });
  }
  if (isElsewhere(memory, context) && plan.kind !== "refuse") {
    all.push({
      text: `may belong to another account, and is not compared: ${whyElsewhere(memory, context)}.`,
      isWarning: true,
    });
  }
  const { form, unknown } = program;
  const isFormKnown = !unknown.has("saveCredentials") && !unknown.has("encryptFor");
  const saved = memory.current.form;
  const isFormChanged = isFormKnown && saved !== undefined && !isDeepStrictEqual(form, saved);
  if (plan.kind !== "rotate" && isFormChanged) {
    const text =
      "is still saved as before: changes to saveCredentials and encryptFor take effect with the next reset. To remove what is saved now, set a new version.";
    all.push({ text });
  }
  return [
    ...all,
    ...passwordsOf(memory),
    ...postponedRetirement(context.kind, memory, program, context),
    ...nextRotation(memory, plan, program, context),
    ...futureTimes(memory, program, context),
    ...leftByDestroy(context.kind, memory, plan),
  ];
}

/** When the next rotation by a schedule is due, if this run leaves one that is due soon. */
function nextRotation(
  { scheduledFrom }: Memory,
  plan: Plan,
  { rotateEvery }: Program,
  { now }: Context,
): Message[] {
  const isLeft = !["rotate", "maybe", "refuse"].includes(plan.kind);
  if (!isLeft || !rotateEvery || !isDueSoon(scheduledFrom, rotateEvery, now)) return [];
  const [at, from] = [dueAt, dueFrom].map((time) => time(scheduledFrom, rotateEvery).toISOString());
  const text = `is due for its next rotation at ${at} (rotateEvery: ${rotateEvery}). The first \`up\` from ${from} on makes it.`;
  return [{ text }];
}

/** The times of a clock that was ahead. */
function futureTimes(memory: Memory, { rotateEvery }: Program, { now, kind }: Context): Message[] {
  const { scheduledFrom } = memory;
  const oldest = oldestFormer(memory);
  const compared = {
    minInterval: kind.shape === "rolls" ? lastRollAt(memory) : undefined,
    rotateEvery: rotateEvery ? scheduledFrom : undefined,
    overlap: oldest && isDuration(oldest.lasts) ? oldest.since : undefined,
  };
  return Object.entries(compared).flatMap(([input, time]) => {
    if (time === undefined || !isFuture(time, now)) return [];
    const effect = effects[input as keyof typeof compared];
    const text = `was last changed at ${time} according to the saved state, which is later than this machine's clock. Check the clocks. ${input} ${effect}.`;
    return [{ text, isWarning: true }];
  });
}

/** What such a time means for an input. */
const effects = {
  minInterval: "ignores that time",
  rotateEvery: "counts from that time; a new version resets it now",
  overlap: "counts from that time; rotatedSince retires the former one now",
} as const;
