import { RefusedError, RekeyError } from "../api/errors";
import { engineMessage } from "../engineValues";
import { isObject } from "../records/fields";
import { combineTriggers } from "../rotation/fleets";
import { planRotation, type RotationPlan, type DesiredRotation } from "../rotation/planRotation";
import { type Trigger } from "../rotation/trigger";
import {
  type Applied,
  type CheckFailure,
  type Difference,
  type FleetDatabaseState,
  type PasswordRotationOutputs,
  type PasswordRotationShardOutputs,
  secretPasswordRotationShardOutputs,
} from "./resource";
import { type FleetSession } from "./session";
import { type Session } from "./session";
import { bugMessage, carryOut, type PasswordRotationInputs } from "./passwordRotation";
import { closeShard, openShard, shardNotice } from "./shardState";

/** Its id alone, where nothing else is said of it: a thousand objects take an engine much longer to pass on. */
export type ShardDatabase = string | FleetDatabase;

type FleetDatabase = { readonly databaseId: string } & Trigger;

/** Some of a fleet's databases, and what holds for the whole fleet. */
export interface PasswordRotationShardInputs extends DesiredRotation {
  readonly shard: string;
  readonly databases: readonly ShardDatabase[];
  readonly concurrency?: number | null;
  readonly maxFailures?: number | null;
  readonly includeRecords?: boolean | null;
  /** The fleet's full name. */
  readonly fleet: string;
  /** The shard's full name. */
  readonly owner?: string;
  /** Full names of other resources of the program for the same databases, by the databases' ids. */
  readonly otherOwners?: Readonly<Record<string, readonly string[]>>;
}

/** One database of a shard: how it stands, what is wanted, and what follows from that. */
export interface PlannedDatabase {
  readonly state: FleetDatabaseState | undefined;
  readonly wish: PasswordRotationInputs;
  readonly plan: RotationPlan;
}

export const secretOutputs = secretPasswordRotationShardOutputs;

/** Inputs that decide whether there is a reset. */
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
  const failures = checkInputs(passwordRotationShardInputs, { ...inputs }, unknown);
  const { owner, otherOwners, databases } = inputs;
  // Where `databases` holds a version that is not known yet, the ids are known all the same.
  if (failures.length > 0 || typeof owner !== "string" || unknown.has("owner") || !areDatabases(databases))
    return failures;
  const contested = databases.flatMap((database) => {
    const { databaseId } = asObject(database);
    return session.claim(databaseId, owner, otherOwners?.[databaseId]) ?? [];
  });
  return contested.slice(0, mostNamed).map((reason) => ({ property: "databases", reason }));
}

function areDatabases(databases: unknown): databases is PasswordRotationShardInputs["databases"] {
  const isDatabase = (one: unknown) =>
    typeof one === "string" || (isObject(one) && typeof one["databaseId"] === "string");
  return Array.isArray(databases) && databases.every(isDatabase);
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
  const wanted = new Set(inputs.databases.map((database) => asObject(database).databaseId));
  const changes =
    planned.some(({ plan }) => plan.do !== "keep") ||
    // A problem that is solved, because what was wanted is no longer wanted say, is taken back.
    planned.some(({ state }) => state?.problem !== undefined) ||
    [...states.keys()].some((id) => !wanted.has(id));
  const notice = shardNotice(planned, inputs);
  return { changes, ...(notice !== undefined && { notice }) };
}

/**
 * Creates with nothing saved, updates with what is. Always succeeds once a reset may have been sent: an error could not
 * carry what came of the others. What failed is saved with each database, and fails the run in the SDK.
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

/** What is to be done about each database, by the same plan as for a single one. */
function planShard(
  states: ReadonlyMap<string, FleetDatabaseState>,
  inputs: PasswordRotationShardInputs,
  now: Date,
): PlannedDatabase[] {
  const { rotateEvery, initialRotation } = inputs;
  return inputs.databases.map(asObject).map(({ databaseId, ...own }) => {
    const wish = { databaseId, ...combineTriggers(inputs, own), rotateEvery, initialRotation };
    const state = states.get(databaseId);
    return { state, wish, plan: planRotation(asSingle(state), wish, now) };
  });
}

interface Rotated {
  readonly state: FleetDatabaseState;
  /** Whether the platform did not do, or not confirm, what it was asked for. */
  readonly failed: boolean;
  readonly notice?: string | undefined;
}

async function rotate(planned: PlannedDatabase, fleet: FleetSession | undefined, session: Session): Promise<Rotated> {
  const { plan, wish, state } = planned;
  const act = async (): Promise<Rotated> => {
    try {
      const { outputs: all, unconfirmed, notice } = await carryOut(plan, asSingle(state), wish, session);
      const { rotationReason, ...outputs } = all;
      if (unconfirmed === undefined) return { state: outputs, failed: false, notice };
      return { state: { ...outputs, problem: engineMessage(unconfirmed, longestProblem) }, failed: true };
    } catch (error) {
      const problem = error instanceof RekeyError ? error.message : bugMessage(wish.databaseId, error);
      // A refusal says nothing about the platform.
      const failed = !(error instanceof RefusedError);
      return { state: withProblem(planned, { problem: engineMessage(problem, longestProblem) }), failed };
    }
  };
  if (!fleet || plan.do !== "reset") return act();
  const problem =
    "Not tried, so that its password is as it was: so many others had failed before that the fleet stopped (maxFailures).";
  return (await fleet.reset(act)) ?? { state: withProblem(planned, { problem, notTried: true }), failed: false };
}

/** What was saved, with what is now to be said of it. */
function withProblem(
  { state, wish: { databaseId } }: PlannedDatabase,
  said: Pick<FleetDatabaseState, "problem" | "notTried">,
): FleetDatabaseState {
  const { problem, notTried, ...before } = state ?? { databaseId, outcome: "pending", rotationCount: 0 };
  return { ...before, ...said };
}

/** A database as the outputs of a single one. To the plan, one that was never reset nor adopted is a new one. */
function asSingle(state: FleetDatabaseState | undefined): PasswordRotationOutputs | undefined {
  if (!state || state.outcome === "pending") return undefined;
  const { problem, notTried, outcome, ...rest } = state;
  return { ...rest, outcome };
}

/** Records would be most of the state. Problems of reading are kept: one of them may tell of a lost credential. */
function withoutRecord({ record, exactIntegers, problems, ...state }: FleetDatabaseState): FleetDatabaseState {
  return problems && problems.length > 0 ? { ...state, problems } : state;
}
