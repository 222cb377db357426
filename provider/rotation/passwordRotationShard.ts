import { engineMessage, unknownNames } from "../records/properties";
import { RefusedError, RekeyError } from "../platform/errors";
import { rotatedTwice } from "./passwordRotation";
import { diagnosticsOf, maxNamed, type Notice, summarize } from "./notices";
import { execute, InternalError, isReadFirst } from "./execute";
import { refreshDatabase } from "./refresh";
import {
  asObject,
  asSingle,
  fleetLabel,
  noticeOfUnknown,
  type PasswordRotationShardInputs,
  type PlannedDatabase,
  planShard,
  type ShardDatabase,
  shardNotice,
  shardWarning,
} from "./shardPlan";
import {
  encodeShard,
  decodeShard,
  passwordRotationShardOutputs,
  type PasswordRotationShardOutputs,
  secretPasswordRotationShardOutputs,
} from "./shardState";
import { type FleetDatabaseState } from "./fleet";
import { type Applied, type CheckFailure, type Difference, type Resource } from "./resource";
import { type FleetSession, type Session } from "./session";

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
  const of = fleetLabel(String(fleet));
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

/** Records would be most of the state. Problems are kept: one of them may report a lost credential. */
function withoutRecord({ record, exactIntegers, problems, ...state }: FleetDatabaseState): FleetDatabaseState {
  return problems && problems.length > 0 ? { ...state, problems } : state;
}
