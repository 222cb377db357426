import { engineMessage, unknownNames } from "../records/properties";
import { RefusedError, RekeyError } from "../platform/errors";
import { notKnownYet, passwordRotation, rotatedTwice, withEarliestSchedule } from "./passwordRotation";
import { diagnosticsOf, listed, maxNamed, type Notice, summarize } from "./notices";
import { execute, InternalError, isReadFirst, type PasswordRotationInputs, planFor } from "./execute";
import { type RotationPlan, type DesiredRotation, futureTime, overdueNotice, isOtherAccount } from "./planRotation";
import { refreshDatabase } from "./refresh";
import { type PasswordRotationOutputs } from "./saved";
import { type Trigger } from "./trigger";
import {
  encodeShard,
  decodeShard,
  passwordRotationShardOutputs,
  type PasswordRotationShardOutputs,
  secretPasswordRotationShardOutputs,
} from "./shardState";
import { combineTriggers, type FleetDatabaseState } from "./fleet";
import { type Applied, type CheckFailure, type Difference, type Resource } from "./resource";
import { fleetName, type FleetSession, type Session } from "./session";

/** An id alone if nothing else is set: an engine takes much longer to pass on a thousand objects. */
export type ShardDatabase = string | FleetDatabase;

type FleetDatabase = { readonly databaseId: string } & Trigger;

/** Some of a fleet's databases, with the settings of the whole fleet. */
export interface PasswordRotationShardInputs extends DesiredRotation {
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
interface PlannedDatabase {
  readonly state: FleetDatabaseState | undefined;
  readonly desired: PasswordRotationInputs;
  readonly plan: RotationPlan;
}

export const passwordRotationShard: Resource<PasswordRotationShardInputs, PasswordRotationShardOutputs, Session> = {
  idInput: "shard",
  outputs: passwordRotationShardOutputs,
  secretOutputs: secretPasswordRotationShardOutputs,
  hiddenInputs: ["otherOwners"],
  decidingInputs: ["databases", "version", "triggers", "rotateEvery"],
  check,
  diff,
  noticeOfUnknown,
  apply,
  refresh,
};

/** Characters of a saved problem: a thousand of them are part of the state. */
const maxProblemChars = 1_000;

export function check(
  inputs: PasswordRotationShardInputs,
  unknown: ReadonlySet<string>,
  session: Session,
): CheckFailure[] {
  const { checkInputs, passwordRotationShardInputs } = require("./inputs") as typeof import("./inputs");
  const { fleet, databases, otherOwners } = inputs;
  const failures = checkInputs(passwordRotationShardInputs, { ...inputs }, unknown);
  // The ids are known even if `databases` contains an unknown version.
  if (failures.length === 0 && Array.isArray(databases) && !unknown.has("fleet")) {
    failures.push(...checkDatabases(fleet, databases, session, { otherOwners }));
  }
  // The engine names the shard, which is not in the program.
  const of = `PasswordRotationFleet ${JSON.stringify(fleetName(String(fleet)))}`;
  return failures.map((failure) => ({ ...failure, reason: `${of}: ${failure.reason}` }));
}

/**
 * What is wrong with databases of a fleet, or who else rotates them.
 *
 * @param fleet its URN
 * @param names of the databases in a message; by default, their ids
 */
export function checkDatabases(
  fleet: string,
  databases: readonly ShardDatabase[],
  session: Session,
  { names, otherOwners }: Pick<PasswordRotationShardInputs, "otherOwners"> & { names?: readonly string[] },
): CheckFailure[] {
  const { checkInputs, fleetDatabaseInputs } = require("./inputs") as typeof import("./inputs");
  const failures = databases.flatMap((given, index): CheckFailure[] => {
    const database = { ...asObject(given) };
    const { databaseId } = database;
    const unknown = unknownNames(database);
    const [wrong] = checkInputs(fleetDatabaseInputs, database, unknown);
    const name = names?.[index] ?? `database ${JSON.stringify(databaseId)}`;
    if (wrong) return [{ property: "databases", reason: `${name}: ${wrong.reason}` }];
    if (unknown.has("databaseId")) return [];
    const other = session.claim(databaseId, fleet, otherOwners?.[databaseId]);
    if (other === undefined) return [];
    return [{ property: "databases", reason: rotatedTwice(databaseId, other), code: "REKEY_DUPLICATE_DATABASE" }];
  });
  return failures.slice(0, maxNamed);
}

function asObject(database: ShardDatabase): FleetDatabase {
  return typeof database === "string" ? { databaseId: database } : database;
}

export function diff(
  saved: PasswordRotationShardOutputs,
  inputs: PasswordRotationShardInputs,
  session: Session,
): Difference {
  const states = decodeShard(saved);
  const planned = planShard(states, inputs, session);
  const members = new Set(inputs.databases.map((database) => asObject(database).databaseId));
  const changes =
    planned.some(({ plan, state }) => plan.do !== "keep" || isReadFirst(plan, asSingle(state), session)) ||
    // A problem that no longer applies is removed.
    planned.some(({ state }) => state?.problem !== undefined) ||
    [...states.keys()].some((id) => !members.has(id));
  const notice = shardNotice(planned, inputs, session);
  const warning = shardWarning(planned, inputs, session);
  return { changes, ...(notice !== undefined && { notice }), ...(warning !== undefined && { warning }) };
}

/**
 * Creates if nothing is saved, else updates. Always succeeds once a reset may have been sent: an error could not carry
 * the results of the others. Failures are saved with each database, and fail the run in the SDK.
 */
export async function apply(
  saved: PasswordRotationShardOutputs | undefined,
  inputs: PasswordRotationShardInputs,
  session: Session,
): Promise<Applied<PasswordRotationShardOutputs>> {
  const planned = planShard(saved ? decodeShard(saved) : new Map(), inputs, session);
  const fleet = planned.some(({ plan }) => plan.do === "reset")
    ? session.fleet(inputs.fleet, inputs.concurrency, inputs.maxFailures)
    : undefined;
  const report = session.join<Rotated>(inputs.fleet);
  const results = await Promise.all(planned.map((one) => rotate(one, fleet, session)));
  const outputs = encodeShard(
    inputs,
    results.map(({ state }) => (inputs.includeRecords ? state : withoutRecord(state))),
  );
  return { outputs, ...diagnosticsOf(summarize(report(results), fleetLabel(inputs.fleet))) };
}

/** Reads the databases, if the platform allows it. */
async function refresh(
  saved: PasswordRotationShardOutputs,
  session: Session,
): Promise<Applied<PasswordRotationShardOutputs>> {
  // Earlier versions did not save the fleet.
  const { fleet, shard } = saved;
  const of = fleet === undefined ? `Shard ${JSON.stringify(shard)} of a fleet` : fleetLabel(fleet);
  const states = [...decodeShard(saved).values()];
  const report = session.join<Rotated>(of);
  const results = await Promise.all(
    states.map(async (state): Promise<Rotated> => {
      const { databaseId } = state;
      const single = asSingle(state);
      if (!single) return { databaseId, state, failed: false, notices: [] };
      const { outputs, notices } = await refreshDatabase(single, session);
      if (outputs === single) return { databaseId, state, failed: false, notices };
      const { rotationReason, ...read } = outputs;
      // The problem of an unconfirmed reset is solved if a read has settled it. Others stay until the next `up`.
      const { problem, notTried } = single.outcome === "unknown" ? {} : state;
      const open = { ...(problem !== undefined && { problem }), ...(notTried && { notTried }) };
      const next = { ...(state.record ? read : withoutRecord(read)), ...open };
      return { databaseId, state: next, failed: false, notices };
    }),
  );
  const isChanged = results.some(({ state }, index) => state !== states[index]);
  const outputs = isChanged
    ? encodeShard(
        saved,
        results.map(({ state }) => state),
      )
    : saved;
  return { outputs, ...diagnosticsOf(summarize(report(results), of)) };
}

/** Plans each database as a single one. */
function planShard(
  states: ReadonlyMap<string, FleetDatabaseState>,
  inputs: PasswordRotationShardInputs,
  session: Session,
): PlannedDatabase[] {
  const { rotateEvery, initialRotation } = inputs;
  return inputs.databases.map(asObject).map(({ databaseId, ...own }) => {
    const desired = { databaseId, ...combineTriggers(inputs, own), rotateEvery, initialRotation };
    const state = states.get(databaseId);
    return { state, desired, plan: planFor(asSingle(state), desired, session) };
  });
}

interface Rotated {
  readonly databaseId: string;
  readonly state: FleetDatabaseState;
  /** Whether the reset failed or was not confirmed. */
  readonly failed: boolean;
  readonly notices: readonly Notice[];
}

async function rotate(planned: PlannedDatabase, fleet: FleetSession | undefined, session: Session): Promise<Rotated> {
  const { plan, desired, state } = planned;
  const { databaseId } = desired;
  const act = async (): Promise<Rotated> => {
    try {
      const { outputs: all, unconfirmed, failed, notices } = await execute(plan, asSingle(state), desired, session);
      const { rotationReason, ...outputs } = all;
      const message = failed?.message ?? unconfirmed;
      if (message === undefined) return { databaseId, state: outputs, failed: false, notices };
      const problem = engineMessage(message, maxProblemChars);
      return { databaseId, state: { ...outputs, problem }, failed: isFailure(failed), notices };
    } catch (error) {
      const { message } = error instanceof RekeyError ? error : new InternalError(databaseId, error);
      const problem = engineMessage(message, maxProblemChars);
      return { databaseId, state: withProblem(planned, { problem }), failed: isFailure(error), notices: [] };
    }
  };
  if (!fleet || plan.do !== "reset") return act();
  const problem = "Not attempted: the fleet stopped after too many failures (maxFailures). The password is unchanged.";
  const stopped = { databaseId, state: withProblem(planned, { problem, notTried: true }), failed: false, notices: [] };
  return (await fleet.reset(act)) ?? stopped;
}

/** A refusal of Rekey is not a failure of the platform. */
function isFailure(error: unknown): boolean {
  return !(error instanceof RefusedError);
}

/** The saved state with a new problem. */
function withProblem(
  { state, desired: { databaseId } }: PlannedDatabase,
  said: Pick<FleetDatabaseState, "problem" | "notTried">,
): FleetDatabaseState {
  const { problem, notTried, ...before } = state ?? { databaseId, outcome: "pending", rotationCount: 0 };
  return { ...before, ...said };
}

/** The outputs of a single database. One that was never reset or adopted is new to the plan. */
function asSingle(state: FleetDatabaseState | undefined): PasswordRotationOutputs | undefined {
  if (!state || state.outcome === "pending") return undefined;
  const { problem, notTried, outcome, ...rest } = state;
  return { ...rest, outcome };
}

/** Records would be most of the state. Problems are kept: one of them may report a lost credential. */
function withoutRecord({ record, exactIntegers, problems, ...state }: FleetDatabaseState): FleetDatabaseState {
  return problems && problems.length > 0 ? { ...state, problems } : state;
}

/**
 * Which databases a planned change is about, one line for each reason, and the resets of the fleet so far. The program
 * has no shards, so none is named.
 */
function shardNotice(
  planned: readonly PlannedDatabase[],
  inputs: PasswordRotationShardInputs,
  session: Session,
): string | undefined {
  const { fleet, shard, rotateEvery } = inputs;
  const resets = planned.filter(({ plan }) => plan.do === "reset").length;
  const inFleet = session.countPlanned(fleet, shard, resets);
  const groups = new Map<string, PlannedDatabase[]>();
  for (const one of planned) {
    const what = whatIsPlanned(one, session);
    if (what !== undefined) groups.set(what, [...(groups.get(what) ?? []), one]);
  }
  if (groups.size === 0) return undefined;
  const of = fleetLabel(fleet);
  const lines = [...groups].map(([what, group]) => {
    const ids = group.map(({ desired }) => desired.databaseId);
    const plans = group.map(({ plan }) => plan);
    return `${of}: ${ids.length} ${what}: ${listed(ids)}.${overdueNotice(plans, String(rotateEvery), session.options.now())}`;
  });
  const soFar = inFleet > resets ? ` So far, ${inFleet} databases of the fleet are to be reset.` : "";
  return lines.join("\n") + (resets > 0 ? soFar : "");
}

/** The warning for databases whose saved state is of another account, or was saved with a clock that was ahead. */
function shardWarning(
  planned: readonly PlannedDatabase[],
  inputs: PasswordRotationShardInputs,
  session: Session,
): string | undefined {
  const { account, now } = session.options;
  const kept = planned.filter(({ plan }) => plan.do === "keep");
  const lineFor = (found: readonly PlannedDatabase[], before: string, after: string) => {
    const ids = found.map(({ desired }) => desired.databaseId);
    return ids.length === 0 ? [] : [`${fleetLabel(inputs.fleet)}: ${ids.length} ${before}: ${listed(ids)}. ${after}`];
  };
  const lines = [
    ...lineFor(
      kept.filter(({ state }) => isOtherAccount(state?.account, account)),
      "last reset or adopted with another baseUrl or username, and not reset now",
      "If they belong to another account, the saved credentials are not those of these databases: set a new version, which resets their passwords.",
    ),
    ...lineFor(
      kept.filter(({ state, desired }) => futureTime(asSingle(state), desired, now()) !== undefined),
      "last reset or adopted at a time that is in the future, from which rotateEvery counts",
      "Check the clocks; a new version resets the passwords now.",
    ),
  ];
  return lines.length === 0 ? undefined : lines.join("\n");
}

function fleetLabel(fleet: string): string {
  return `PasswordRotationFleet ${JSON.stringify(fleetName(fleet))}`;
}

function whatIsPlanned({ plan, state }: PlannedDatabase, session: Session): string | undefined {
  const single = asSingle(state);
  const isRead = isReadFirst(plan, single, session);
  if (plan.do === "refuse") {
    return `will not be reset, because ${plan.why}${isRead ? ", unless a read shows that the last reset was applied" : ""}`;
  }
  if (plan.do === "adopt") return "to be adopted without a reset";
  if (plan.do === "keep") {
    return isRead ? "to be read, because some of their credentials are not known yet" : undefined;
  }
  switch (plan.reason) {
    case "created":
      return "to be reset for the first time";
    case "trigger":
      return "to be reset because of a changed version or trigger";
    case "schedule":
      return "due to be reset by rotateEvery";
    case "unconfirmed":
      return `to be reset once more, because the last reset was not confirmed${isRead ? ", unless a read shows that it was applied" : ""}`;
  }
}

/** As `shardNotice`, with a line for databases whose reset depends on unknown inputs. Their ids are always known. */
function noticeOfUnknown(
  saved: PasswordRotationShardOutputs,
  inputs: PasswordRotationShardInputs,
  unknown: ReadonlySet<string>,
  session: Session,
): string | undefined {
  const planned = planShard(decodeShard(saved), withEarliestSchedule(inputs, unknown), session);
  const groups = new Map<string, string[]>();
  const certain = planned.filter(({ state, plan, desired: { databaseId } }, index) => {
    const own = unknownNames({ ...asObject(inputs.databases[index] ?? databaseId) });
    const names = passwordRotation.decidingInputs.filter((name) => unknown.has(name) || own.has(name));
    // A new database is reset whatever its trigger is.
    if (names.length === 0 || !asSingle(state)) return true;
    const why = notKnownYet(names);
    if (plan.do === "reset") groups.set(why, [...(groups.get(why) ?? []), databaseId]);
    return false;
  });
  const possible = [...groups].map(([why, ids]) => {
    const count = ids.length === 1 ? "1 database" : `${ids.length} databases`;
    return `${fleetLabel(inputs.fleet)}: ${count} may be reset: ${why} (${listed(ids)}).`;
  });
  const lines = [shardNotice(certain, inputs, session) ?? [], possible].flat();
  return lines.length > 0 ? lines.join("\n") : undefined;
}
