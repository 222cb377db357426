import { engineMessage, unknownNames } from "../records/properties";
import { RefusedError, RekeyError } from "../platform/errors";
import { planRotation, type RotationPlan, type DesiredRotation } from "./planRotation";
import { type Trigger } from "./trigger";
import {
  type Applied,
  type CheckFailure,
  type Difference,
  type FleetDatabaseState,
  type PasswordRotationOutputs,
  type PasswordRotationShardOutputs,
  secretPasswordRotationShardOutputs,
} from "../resource";
import { fleetName, type FleetSession, type Session } from "../engine/session";
import { carryOut, InternalError, type PasswordRotationInputs } from "./passwordRotation";
import { closeShard, openShard, shardNotice, shardWarning } from "./shardState";
import { combineTriggers } from "./fleet";

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
export interface PlannedDatabase {
  readonly state: FleetDatabaseState | undefined;
  readonly desired: PasswordRotationInputs;
  readonly plan: RotationPlan;
}

export const secretOutputs = secretPasswordRotationShardOutputs;

/** Inputs that decide whether a reset is due. */
export const decidingInputs = ["databases", "version", "triggers", "rotateEvery"] as const;

/** Characters of a saved problem: a thousand of them are part of the state. */
const longestProblem = 1_000;
/** Databases that are named in one error. */
const mostNamed = 5;

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
    const reason = session.claim(databaseId, fleet, otherOwners?.[databaseId]);
    return reason === undefined ? [] : [{ property: "databases", reason, code: "REKEY_DUPLICATE_DATABASE" }];
  });
  return failures.slice(0, mostNamed);
}

function asObject(database: ShardDatabase): FleetDatabase {
  return typeof database === "string" ? { databaseId: database } : database;
}

export function diff(
  saved: PasswordRotationShardOutputs,
  inputs: PasswordRotationShardInputs,
  session: Session,
): Difference {
  const states = openShard(saved);
  const planned = planShard(states, inputs, session.options.now());
  const members = new Set(inputs.databases.map((database) => asObject(database).databaseId));
  const changes =
    planned.some(({ plan }) => plan.do !== "keep") ||
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
  const planned = planShard(saved ? openShard(saved) : new Map(), inputs, session.options.now());
  const fleet = planned.some(({ plan }) => plan.do === "reset")
    ? session.fleet(inputs.fleet, inputs.concurrency, inputs.maxFailures)
    : undefined;
  const results = await Promise.all(planned.map((one) => rotate(one, fleet, session)));
  const outputs = closeShard(
    inputs.shard,
    results.map(({ state }) => (inputs.includeRecords ? state : withoutRecord(state))),
  );
  const notices = results.flatMap(({ notice }) => notice ?? []);
  return notices.length === 0 ? { outputs } : { outputs, notice: notices.join("\n") };
}

/** Plans each database as a single one. */
function planShard(
  states: ReadonlyMap<string, FleetDatabaseState>,
  inputs: PasswordRotationShardInputs,
  now: Date,
): PlannedDatabase[] {
  const { rotateEvery, initialRotation } = inputs;
  return inputs.databases.map(asObject).map(({ databaseId, ...own }) => {
    const desired = { databaseId, ...combineTriggers(inputs, own), rotateEvery, initialRotation };
    const state = states.get(databaseId);
    return { state, desired, plan: planRotation(asSingle(state), desired, now) };
  });
}

interface Rotated {
  readonly state: FleetDatabaseState;
  /** Whether the reset failed or was not confirmed. */
  readonly failed: boolean;
  readonly notice?: string | undefined;
}

async function rotate(planned: PlannedDatabase, fleet: FleetSession | undefined, session: Session): Promise<Rotated> {
  const { plan, desired, state } = planned;
  const act = async (): Promise<Rotated> => {
    try {
      const { outputs: all, unconfirmed, notice } = await carryOut(plan, asSingle(state), desired, session);
      const { rotationReason, ...outputs } = all;
      if (unconfirmed === undefined) return { state: outputs, failed: false, notice };
      return { state: { ...outputs, problem: engineMessage(unconfirmed, longestProblem) }, failed: true };
    } catch (error) {
      const { message } = error instanceof RekeyError ? error : new InternalError(desired.databaseId, error);
      // A refusal is not a failure of the platform.
      const failed = !(error instanceof RefusedError);
      return { state: withProblem(planned, { problem: engineMessage(message, longestProblem) }), failed };
    }
  };
  if (!fleet || plan.do !== "reset") return act();
  const problem = "Not attempted: the fleet stopped after too many failures (maxFailures). The password is unchanged.";
  return (await fleet.reset(act)) ?? { state: withProblem(planned, { problem, notTried: true }), failed: false };
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
