import { unknownNames } from "../records/properties";
import { isReadFirst, planFor, type SecretInputs } from "./planFor";
import { combineTriggers, type FleetDatabaseState } from "./fleet";
import { listed } from "./notices";
import { databasePassword } from "./kinds/databasePassword";
import { type Subject } from "../platform/secretKind";
import { decidingInputs, notKnownYet, withEarliestSchedule } from "./rotation";
import { isElsewhere } from "./saved";
import { futureTime, overdueNotice, type RotationPlan } from "./planRotation";
import { type SavingChange, savingChange, savingChanges, savingOf } from "./saving";
import { type PasswordRotationOutputs } from "./outputs";
import { type Notice } from "../resource";
import { type Run } from "../run";
import { fleetName, FleetRun } from "./fleetRun";
import { decodeShard, type PasswordRotationShardOutputs } from "./shardState";
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
  readonly state: FleetDatabaseState | undefined;
  readonly desired: SecretInputs & { readonly databaseId: string };
  readonly plan: RotationPlan;
}

/** Plans each database as a single one. */
export function planShard(
  states: ReadonlyMap<string, FleetDatabaseState>,
  inputs: PasswordRotationShardInputs,
  run: Run,
): PlannedDatabase[] {
  const { rotateEvery, rotatedSince, initialRotation, saveCredentials, encryptFor, connection } = inputs;
  const others = { rotateEvery, rotatedSince, initialRotation, saveCredentials, encryptFor, connection };
  return inputs.databases.map(asObject).map(({ databaseId, ...own }) => {
    const desired = { databaseId, ...combineTriggers(inputs, own), ...others };
    const state = states.get(databaseId);
    return { state, desired, plan: planFor(subjectOf(databaseId), asSingle(state), desired, run) };
  });
}

/** The secret of one database. */
export function subjectOf(databaseId: string): Subject {
  return { kind: databasePassword, id: databaseId };
}

export function asObject(database: ShardDatabase): FleetDatabase {
  return typeof database === "string" ? { databaseId: database } : database;
}

/** The outputs of a single database. One that was never reset or adopted is new to the plan. */
export function asSingle(state: FleetDatabaseState | undefined): PasswordRotationOutputs | undefined {
  if (!state || state.outcome === "pending") return undefined;
  const { problem, notTried, outcome, ...rest } = state;
  return { ...rest, outcome };
}

/** The notices for a planned change. The program has no shards, so none is named. */
export function shardNotices(
  planned: readonly PlannedDatabase[],
  inputs: PasswordRotationShardInputs,
  run: Run,
): Notice[] {
  return [...announced(planned, inputs, run), ...warnings(planned, inputs, run)];
}

/** The notices for a new shard: the resets that it makes. */
export function noticesOfNew(
  inputs: PasswordRotationShardInputs,
  unknown: ReadonlySet<string>,
  run: Run,
): readonly Notice[] {
  if (unknown.has("initialRotation")) {
    const text = `${fleetLabel(inputs.fleet)} may reset new databases: ${notKnownYet(["initialRotation"])}.`;
    return [{ text }];
  }
  const planned = planShard(new Map(), inputs, run);
  return announced(
    planned.filter(({ plan }) => plan.kind !== "adopt" || plan.mayReset),
    inputs,
    run,
  );
}

/** Which databases a change is about, one notice for each reason, and the resets of the fleet so far. */
function announced(
  planned: readonly PlannedDatabase[],
  { fleet, shard, rotateEvery, rotatedSince }: PasswordRotationShardInputs,
  run: Run,
): Notice[] {
  const resets = planned.filter(({ plan }) => plan.kind === "reset").length;
  const inFleet = FleetRun.of(fleet, run).countPlanned(shard, resets);
  const groups = new Map<string, PlannedDatabase[]>();
  for (const one of planned) {
    const what = whatIsPlanned(one, run);
    if (what !== undefined) groups.set(what, [...(groups.get(what) ?? []), one]);
  }
  const lines = [...groups].map(([what, group]) => {
    const plans = group.map(({ plan }) => plan);
    const late = overdueNotice(plans, String(rotateEvery), run.options.clock.now());
    const isNew = plans.some((plan) => plan.kind === "reset" && plan.reason === "created");
    const howToKeep = isNew && !rotatedSince ? " `initialRotation: false` keeps their passwords." : "";
    return `${counted(fleet, group, what)}.${late}${howToKeep}`;
  });
  if (resets > 0 && inFleet > resets) {
    lines.push(`${lines.pop()} So far, it resets ${inFleet} databases.`);
  }
  return lines.map((text) => ({ text }));
}

/** Warnings about databases whose saved state is of another account, or was saved with a clock that was ahead. */
function warnings(planned: readonly PlannedDatabase[], { fleet }: PasswordRotationShardInputs, run: Run): Notice[] {
  const { clock } = run.options;
  const kept = planned.filter(({ plan }) => plan.kind === "keep");
  const isFuture = ({ state, desired }: PlannedDatabase) => futureTime(asSingle(state), desired, clock.now());
  const warn = (found: readonly PlannedDatabase[], what: string, advice: string): Notice[] =>
    found.length === 0 ? [] : [{ text: `${counted(fleet, found, what)}. ${advice}`, isWarning: true }];
  return [
    ...warn(
      kept.filter(({ state }) => isElsewhere(databasePassword, state, run)),
      ": {n} last reset or adopted with another baseUrl or username, and not reset now",
      "If they belong to another account, the saved credentials are not those of these databases: set a new version, which resets their passwords.",
    ),
    ...warn(
      kept.filter(isFuture),
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
  return `${fleetLabel(fleet)}${what.replace("{n}", String(group.length))}: ${listed(group.map(({ desired }) => desired.databaseId))}`;
}

export function fleetLabel(fleet: string): string {
  return `PasswordRotationFleet ${JSON.stringify(fleetName(fleet))}`;
}

/** How the saved form of a database is to be changed, if it is. */
export function changeOf({ state, desired }: PlannedDatabase, run: Run): SavingChange | undefined {
  const saved = asSingle(state);
  return saved && savingChange(databasePassword, saved, savingOf(desired, saved), run);
}

function whatIsPlanned({ plan, state, desired }: PlannedDatabase, run: Run): string | undefined {
  const single = asSingle(state);
  const isRead = isReadFirst(subjectOf(desired.databaseId), plan, single, desired, run);
  if (plan.kind === "refuse") {
    return ` does not reset {n}, because ${plan.why}${isRead ? ", unless a read shows that the last reset was applied" : ""}`;
  }
  if (plan.kind === "adopt") {
    return plan.mayReset
      ? " adopts {n}, and may reset them: the time of their creation, which rotatedSince compares, is not known yet"
      : " adopts {n} without a reset";
  }
  if (plan.kind === "keep") {
    if (isRead) return " reads {n}, because some of their credentials are not known yet";
    const change = changeOf({ plan, state, desired }, run);
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
      return ` resets {n} once more, because the last reset was not confirmed${isRead ? ", unless a read shows that it was applied" : ""}`;
  }
}

/** As `shardNotices`, with a notice for databases whose reset depends on unknown inputs. Their ids are always known. */
export function noticesOfUnknown(
  saved: PasswordRotationShardOutputs,
  inputs: PasswordRotationShardInputs,
  unknown: ReadonlySet<string>,
  run: Run,
): Notice[] {
  const planned = planShard(decodeShard(saved), withEarliestSchedule(inputs, unknown), run);
  const groups = new Map<string, string[]>();
  const certain = planned.filter(({ state, plan, desired: { databaseId } }, index) => {
    const own = unknownNames({ ...asObject(inputs.databases[index] ?? databaseId) });
    const names = decidingInputs.filter((name) => unknown.has(name) || own.has(name));
    // A new database is reset whatever its trigger is.
    if (names.length === 0 || !asSingle(state)) return true;
    const why = notKnownYet(names);
    if (plan.kind === "reset") groups.set(why, [...(groups.get(why) ?? []), databaseId]);
    return false;
  });
  const possible = [...groups].map(([why, ids]) => {
    const count = ids.length === 1 ? "1 database" : `${ids.length} databases`;
    return { text: `${fleetLabel(inputs.fleet)} may reset ${count}: ${why} (${listed(ids)}).` };
  });
  return [...announced(certain, inputs, run), ...possible];
}
