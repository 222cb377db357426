import { isDeepStrictEqual } from "node:util";
import { canonical, secretOf, type Subject } from "../../domain/secretKind";
import { isUnknown } from "../../pulumi/values";
import { type Run } from "../../run/run";
import { isServerChanged } from "../program/admin";
import { contextOf } from "../program/context";
import { plainTextProblem } from "../program/databaseEndpoint";
import { type Finding, type Message, messageOf } from "./findings";
import { concernsOfFormers, notesOnFormers, plannedRetirement } from "./formerFindings";
import { passwordFindings } from "./passwordFindings";
import { isDuration, oldestFormer } from "../program/formers";
import { type Memory } from "../memory/memory";
import { type Context, isChange, isReadFirst, type Plan, type Rotation } from "../program/plan";
import { planRotation } from "../plan/planRotation";
import { type Program, untilRetirement } from "../program/program";
import { dueFrom, isDueSoon, isFuture } from "../memory/schedule";
import { isOtherAccount, lastRollAt, whyElsewhere } from "../plan/signingKeys";
import { type State } from "../memory/state";

/** The secrets that this run has refreshed are in the state: a new resource for one is probably a renamed one. */
export function noteRefresh(subject: Subject, run: Run): void {
  run.shared.refreshed.add(secretOf(canonical(subject)));
}

/** A secret, its state, and what a program wants of it. */
export interface Wanted {
  readonly subject: Subject;
  readonly state?: State | undefined;
  readonly program: Program;
  /** It is one of a fleet that was saved before. */
  readonly isInFleet?: boolean;
}

export interface PlannedSecret extends Wanted {
  readonly plan: Plan;
  /** With which it was planned. */
  readonly context: Context;
  /** It is read first, which may change the plan. */
  readonly isTentative: boolean;
}

/** Plans one secret, without requests. */
export function planSecret(wanted: Wanted, run: Run): PlannedSecret {
  const { subject, state, program, isInFleet } = wanted;
  const { kind, id } = subject;
  const context = contextOf(kind, run);
  const plan: Plan =
    (state || isInFleet) && isUnknown(id)
      ? { kind: "maybe", names: [kind.idInput] }
      : planRotation(state, program, context);
  return { ...wanted, plan, context, isTentative: isReadFirst(state, plan, context) };
}

/** The announcement of a plan before it is carried out, and what may be wrong with the saved memory. */
export function announcementsOf(announced: PlannedSecret, run: Run): Message[] {
  const { subject, plan, state, program, context } = announced;
  const { kind } = subject;
  const { waits } = plan;
  const findings: (readonly Finding[])[] = [
    planned(announced),
    waits
      ? [{ kind: "isDue" }, ...reasonsOf(waits, announced), { kind: "postponed", why: waits.why }]
      : [],
    ...(state ? concerns(state.memory, plan, program, context) : concernsOfNew(announced, run)),
    state ? passwordFindings(state.memory, subject.id) : [],
    isPlain(program) && isChange(plan) ? [{ kind: "plainText" }] : [],
  ];
  const messages = findings.filter(({ length }) => length > 0).map((one) => messageOf(one, kind));
  return plan.kind === "rotate" ? [rotationMessage(announced, plan), ...messages] : messages;
}

/** True if clients of a user connect without TLS over the network, as only they may. */
function isPlain({ connection, admin }: Program): boolean {
  const { host = admin?.server.endpoint?.host, tls } = connection ?? {};
  return plainTextProblem({ host, tls }, undefined) !== undefined;
}

/** The announcement of a plan that is not a rotation. */
function planned({ subject, plan, state, context, isTentative }: PlannedSecret): Finding[] {
  switch (plan.kind) {
    case "retire":
      return state ? plannedRetirement(state.memory, plan, context) : [];
    case "save":
      return [{ kind: "saves" }];
    case "read":
      return [{ kind: plan.why === "former" ? "readsFormer" : "reads" }];
    case "maybe":
      return [{ kind: "maybe", names: plan.names }];
    case "refuse":
      return [{ kind: isTentative ? "refusedUntilRead" : "refused", why: plan.why }];
    case "adopt": {
      // A replacement looks like a new resource, so this also says to users of `--replace` that nothing is rotated.
      const adoption: Finding = { kind: plan.mayRotate ? "maybeOld" : "adopts" };
      const { readsShowHashes, maxValid } = subject.kind;
      if (readsShowHashes) {
        return [adoption, { kind: "handsOutNone" }, { kind: "firstRetirement" }];
      }
      return maxValid ? [adoption, { kind: "handsOutCurrent" }] : [adoption];
    }
    default:
      return [];
  }
}

function rotationMessage(announced: PlannedSecret, due: Rotation): Message {
  const { subject, state, program, context, isTentative } = announced;
  const { kind, id, server } = subject;
  const sentences: Finding[] = [
    { kind: "because" },
    ...reasonsOf(due, announced),
    ...(isTentative ? [{ kind: "readsFirst" } as const] : []),
    ...notesOnFormers(state?.memory, program, due, context),
  ];
  // Secrets that are not known yet count as different: ten new databases are ten resets in a preview. Two users with
  // one name may be those of different servers.
  const isKnown = !isUnknown(id) && (!kind.readsShowHashes || server !== undefined);
  const secrets = [isKnown ? secretOf(subject) : Symbol()];
  return { ...messageOf(sentences, kind), does: `${kind.verb}s`, secrets };
}

function reasonsOf(
  { reason, isAgain, lastAt }: Rotation,
  { subject, state, program, isInFleet }: Wanted,
): Finding[] {
  if (isAgain) return [{ kind: "again", why: lastAt }];
  if (reason === "rotatedSince" && !lastAt) return [{ kind: "ofUnknownAge" }];
  if (reason !== "created") return [{ kind: reason, why: lastAt }];
  if (state) return [{ kind: "unproven" }];
  const toKeep: Finding = { kind: program.rotatedSince ? "toKeepOld" : "toKeep" };
  if (isInFleet) return [{ kind: "addedToFleet" }, toKeep];
  const again: Finding[] = subject.kind.receiverDelay ? [{ kind: "secondRoll" }] : [];
  return [{ kind: "created" }, ...again, toKeep, { kind: "toRename" }];
}

/** Concerns about a new resource. */
function concernsOfNew({ subject, plan, program }: PlannedSecret, { shared }: Run): Finding[][] {
  const isAdopted = plan.kind === "adopt";
  const isRenamed = plan.kind === "rotate" && shared.refreshed.has(secretOf(canonical(subject)));
  return [
    // Each later rotation needs something that retires the former one.
    isAdopted && program.overlap === untilRetirement ? [{ kind: "keepsLater" }] : [],
    isRenamed ? [{ kind: "renamed" }] : [],
  ];
}

/** True if a rotation also replaces what the user of another server has. */
function replacesOther(plan: Plan): boolean {
  return plan.kind === "rotate" && plan.reason !== "schedule";
}

/** Concerns about the saved memory, and about inputs that do not take effect yet. */
function concerns(memory: Memory, plan: Plan, program: Program, context: Context): Finding[][] {
  const { applied, current, scheduledFrom } = memory;
  const { form, unknown, rotateEvery } = program;
  const { now } = context;
  const isImported = applied === undefined && (plan.kind === "read" || plan.kind === "keep");
  const isOther = isOtherAccount(memory, context) && plan.kind !== "refuse";
  const isFormKept =
    plan.kind !== "rotate" &&
    !unknown.has("saveCredentials") &&
    !unknown.has("encryptFor") &&
    current.form !== undefined &&
    !isDeepStrictEqual(form, current.form);
  const isDueLater =
    !["rotate", "maybe", "refuse"].includes(plan.kind) &&
    rotateEvery !== undefined &&
    isDueSoon(scheduledFrom, rotateEvery, now);
  return [
    isImported ? [{ kind: "imported" }] : [],
    isOther ? [{ kind: "elsewhere", why: whyElsewhere(memory, context) }] : [],
    replacesOther(plan) && isServerChanged(program.admin, memory) ? [{ kind: "otherServer" }] : [],
    isFormKept ? [{ kind: "formKept" }] : [],
    concernsOfFormers(memory, program, context),
    isDueLater
      ? [{ kind: "nextRotation", why: dueFrom(scheduledFrom, rotateEvery).toISOString() }]
      : [],
    ...futureTimes(memory, program, context),
  ];
}

/** The times of a clock that was ahead, and what such a time means for an input. */
function futureTimes(
  memory: Memory,
  { rotateEvery }: Program,
  { now, kind }: Context,
): Finding[][] {
  const oldest = oldestFormer(memory);
  const compared = {
    ignoresTime: kind.receiverDelay && lastRollAt(memory),
    schedulesFrom: rotateEvery && memory.scheduledFrom,
    overlapsFrom: oldest && isDuration(oldest.validFor) ? oldest.since : undefined,
  } satisfies Partial<Record<Finding["kind"], string | undefined>>;
  return Object.entries(compared).map(([effect, time]) =>
    time && isFuture(time, now)
      ? [{ kind: "future", why: time }, { kind: effect as keyof typeof compared }]
      : [],
  );
}

/**
 * Counts the resets that a text announces, and adds how many this run has announced so far: those above its limit are
 * refused. Resets that were announced before are left out: a replacement is announced once, by its diff.
 */
export function announce(message: Message, run: Run): Message[] {
  if (!message.secrets) return [message];
  const counts = run.announce(message.secrets);
  if (!counts) return [];
  const { count, limit = Infinity } = counts;
  const isTooMany = count > limit;
  const ofLimit = limit === Infinity ? "" : ` of ${limit}`;
  const note = isTooMany
    ? `${resets(count)}, and rekey:maxResetsPerRun allows ${limit}: those above the limit are refused.`
    : `So far ${count}${ofLimit} in this run.`;
  return [{ ...message, text: `${message.text} ${note}`, isWarning: isTooMany }];
}

/** Resets of a fleet that are more than the run's limit leaves. */
export function tooMany({ count, left }: Readonly<{ count: number; left: number }>): string {
  return `${resets(count)}, but rekey:maxResetsPerRun allows only ${left} more`;
}

function resets(count: number): string {
  return count === 1 ? "1 reset is planned" : `${count} resets are planned`;
}
