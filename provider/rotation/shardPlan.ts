import { unknownNames } from "../records/properties";
import { isReadFirst, planFor, type SecretInputs } from "./planFor";
import { combineTriggers, type FleetDatabaseState, groupedBy } from "./fleet";
import { listed } from "./notices";
import { databasePassword } from "./kinds/databasePassword";
import { type Subject } from "../platform/secretKind";
import { decidingInputs, notKnownYet, withEarliestSchedule } from "./rotation";
import { isElsewhere } from "./saved";
import { futureTime, overdueNotice, type RotationPlan } from "./planRotation";
import { type SavingChange, savingChange, savingChanges } from "./saving";
import { type RotationOutputs } from "./outputs";
import { type Notice } from "../resource";
import { type Run } from "../run";
import { fleetLabel, FleetRun } from "./fleetRun";
import { asSingle, decodeShard, type PasswordRotationShardOutputs } from "./shardState";
import { type Trigger } from "./trigger";

/** An id alone if nothing else is set: an engine takes much longer to pass on a thousand objects. */
export type ShardDatabase = string | FleetDatabase;

type FleetDatabase = { readonly databaseId: string } & Trigger;

/** Some of a fleet's databases, with the settings of the whole fleet. */
export interface PasswordRotationShardInputs extends SecretInputs {
  readonly shard: string;
  readonly databases: readonly ShardDatabase[];
  readonly concurrency?: number | null;
  readonly maxFailures?: number | null;
  readonly includeRecords?: boolean | null;
  /** The fleet's full name. */
  readonly fleet: string;
  /** Full names of other resources of the program for the same databases, by the databases' ids. */
  readonly otherOwners?: Readonly<Record<string, readonly string[]>> | undefined;
}

/** One database of a shard: its saved state, its desired inputs, and the plan made from both. */
export interface PlannedDatabase {
  readonly subject: Subject;
  /** Its own trigger. */
  readonly own: Trigger;
  readonly state: FleetDatabaseState | undefined;
  /** The state as the outputs of a single database. */
  readonly saved: RotationOutputs | undefined;
  readonly desired: SecretInputs;
  readonly plan: RotationPlan;
}

/** Plans each database as a single one. */
export function planShard(
  states: ReadonlyMap<string, FleetDatabaseState>,
  inputs: PasswordRotationShardInputs,
  run: Run,
): PlannedDatabase[] {
  return inputs.databases.map(asObject).map(({ databaseId, ...own }) => {
    const subject = subjectOf(databaseId);
    const desired = { ...inputs, ...combineTriggers(inputs, own) };
    const state = states.get(databaseId);
    const saved = asSingle(state);
    return { subject, own, state, saved, desired, plan: planFor(subject, saved, desired, run) };
  });
}

/** The secret of one database. */
export function subjectOf(databaseId: string): Subject {
  return { kind: databasePassword, id: databaseId };
}

export function asObject(database: ShardDatabase): FleetDatabase {
  return typeof database === "string" ? { databaseId: database } : database;
}

/** Whether the database is read before anything else is done. */
export function isRead({ subject, plan, saved, desired }: PlannedDatabase, run: Run): boolean {
  return isReadFirst(subject, plan, saved, desired, run);
}

/** How the saved form of the database is to be changed, if it is. */
export function changeOf({ saved, desired }: PlannedDatabase, run: Run): SavingChange | undefined {
  return savingChange(databasePassword, saved, desired, run);
}

/** The notices for a new shard: the resets that it makes. */
export function noticesOfNew(
  inputs: PasswordRotationShardInputs,
  unknown: ReadonlySet<string>,
  run: Run,
): readonly Notice[] {
  const warning = run.settingsWarning(databasePassword.service);
  if (unknown.has("initialRotation")) {
    const text = `${fleetLabel(inputs.fleet)} may reset new databases: ${notKnownYet(["initialRotation"])}.`;
    return [{ text }, ...warning];
  }
  const planned = planShard(new Map(), inputs, run);
  const resets = planned.filter(({ plan }) => plan.kind !== "adopt" || plan.mayReset);
  return [...announced(resets, inputs, run), ...warning];
}

/**
 * Which databases a change is about, one notice for each reason, and the resets of the fleet so far. The program has no
 * shards, so none is named.
 */
export function announced(
  planned: readonly PlannedDatabase[],
  { fleet, shard, rotateEvery, rotatedSince }: PasswordRotationShardInputs,
  run: Run,
): Notice[] {
  const resets = planned.filter(({ plan }) => plan.kind === "reset").length;
  const inFleet = FleetRun.of(fleet, run).countPlanned(shard, resets);
  const lines = groupedBy(planned, (one) => whatIsPlanned(one, run)).map(([what, group]) => {
    const plans = group.map(({ plan }) => plan);
    const late = overdueNotice(plans, String(rotateEvery), run.options.clock.now());
    const isNew = plans.some((plan) => plan.kind === "reset" && plan.reason === "created");
    const [waitsSince] = plans.flatMap((plan) => (plan.kind === "keep" ? (plan.waits?.since ?? []) : [])).sort();
    const waits = waitsSince === undefined ? "" : ` The first has waited since ${waitsSince}.`;
    const howToKeep = isNew && !rotatedSince ? " `initialRotation: false` keeps their passwords." : "";
    return `${counted(fleet, group, what)}.${late}${waits}${howToKeep}`;
  });
  if (resets > 0 && inFleet > resets) {
    lines.push(`${lines.pop()} So far, it resets ${inFleet} databases.`);
  }
  return lines.map((text) => ({ text }));
}

/** Warnings about databases whose saved state is of another account, or was saved with a clock that was ahead. */
export function warnings(
  planned: readonly PlannedDatabase[],
  { fleet }: PasswordRotationShardInputs,
  run: Run,
): Notice[] {
  const now = run.options.clock.now();
  const kept = planned.filter(({ plan }) => plan.kind === "keep");
  const isSent = planned.some(({ plan }) => plan.kind === "reset" || plan.kind === "adopt");
  const warn = (found: readonly PlannedDatabase[], what: string, advice: string): Notice[] =>
    found.length === 0 ? [] : [{ text: `${counted(fleet, found, what)}. ${advice}`, isWarning: true }];
  return [
    ...(isSent ? run.settingsWarning(databasePassword.service) : []),
    ...warn(
      kept.filter(({ saved }) => isElsewhere(databasePassword, saved, run)),
      ": {n} last reset or adopted with another baseUrl or username, and not reset now",
      "If they belong to another account, the saved credentials are not those of these databases: set a new version, which resets their passwords.",
    ),
    ...warn(
      kept.filter(({ saved, desired }) => futureTime(saved, desired, now)),
      ": {n} last reset or adopted at a time that is in the future, from which rotateEvery counts",
      "Check the clocks; a new version resets the passwords now.",
    ),
  ];
}

/**
 * `PasswordRotationFleet "all" resets 2 for the first time: "a", "b"`
 *
 * @param what follows the fleet, with `{n}` for the number of databases
 */
function counted(fleet: string, group: readonly PlannedDatabase[], what: string): string {
  return `${fleetLabel(fleet)}${what.replace("{n}", String(group.length))}: ${listed(idsOf(group))}`;
}

function idsOf(planned: readonly PlannedDatabase[]): string[] {
  return planned.map(({ subject }) => subject.id);
}

function whatIsPlanned(planned: PlannedDatabase, run: Run): string | undefined {
  const { plan } = planned;
  if (plan.kind === "refuse") {
    return ` does not reset {n}, because ${plan.why}${isRead(planned, run) ? ", unless a read shows that the last reset was applied" : ""}`;
  }
  if (plan.kind === "adopt") {
    return plan.mayReset
      ? " adopts {n}, and may reset them: the time of their creation, which rotatedSince compares, is not known yet"
      : " adopts {n} without a reset";
  }
  if (plan.kind === "keep") {
    if (plan.waits?.reason === "schedule") return ` does not reset {n} that are due by rotateEvery: ${plan.waits.why}`;
    if (plan.waits?.reason === "unconfirmed") {
      return ` does not reset {n} once more, whose last reset was not confirmed: ${plan.waits.why}`;
    }
    if (isRead(planned, run)) return " reads {n}, because some of their credentials are not known yet";
    const change = changeOf(planned, run);
    return change === undefined || change === "read" ? undefined : ` ${savingChanges[change]("{n}")}`;
  }
  switch (plan.reason) {
    case "created":
      return " resets {n} for the first time";
    case "trigger":
      return " resets {n} because of a changed version or trigger";
    case "schedule":
      return " resets {n} that are due by rotateEvery";
    case "rotatedSince":
      return plan.generatedAt === undefined
        ? " resets {n}, because rotatedSince is set and the time of their last reset is not known"
        : " resets {n}, because they are older than rotatedSince";
    case "unconfirmed":
      return ` resets {n} once more, because the last reset was not confirmed${isRead(planned, run) ? ", unless a read shows that it was applied" : ""}`;
  }
}

/** As `announced`, with a notice for databases whose reset depends on unknown inputs. Their ids are always known. */
export function noticesOfUnknown(
  saved: PasswordRotationShardOutputs,
  inputs: PasswordRotationShardInputs,
  unknown: ReadonlySet<string>,
  run: Run,
): Notice[] {
  const planned = planShard(decodeShard(saved), withEarliestSchedule(inputs, unknown), run);
  const unknownOf = ({ own, saved }: PlannedDatabase) => {
    const ofOwn = unknownNames({ ...own });
    // A new database is reset whatever its trigger is.
    return saved ? decidingInputs.filter((name) => unknown.has(name) || ofOwn.has(name)) : [];
  };
  const isCertain = (one: PlannedDatabase) => unknownOf(one).length === 0;
  const uncertain = planned.filter((one) => one.plan.kind === "reset" && !isCertain(one));
  const possible = groupedBy(uncertain, (one) => notKnownYet(unknownOf(one))).map(([why, group]) => {
    const count = group.length === 1 ? "1 database" : `${group.length} databases`;
    return { text: `${fleetLabel(inputs.fleet)} may reset ${count}: ${why} (${listed(idsOf(group))}).` };
  });
  return [...announced(planned.filter(isCertain), inputs, run), ...possible];
}
