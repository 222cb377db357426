import { engineMessage, unknownNames, unknownValue } from "../records/properties";
import { idProblem, isObject, kindOf } from "../records/fields";
import { InputError, InternalError, RekeyError } from "../platform/errors";
import { databasePassword } from "./kinds/databasePassword";
import { secretOf } from "../platform/secretKind";
import { checkSince, claimOf, decidingInputs, rotationInputs } from "./rotation";
import { summarize } from "./notices";
import { execute } from "./execute";
import { isSame, refreshSecret } from "./refresh";
import {
  announced,
  asObject,
  changeOf,
  isRead,
  noticesOfNew,
  noticesOfUnknown,
  type PasswordRotationShardInputs,
  type PlannedDatabase,
  planShard,
  type ShardDatabase,
  subjectOf,
  warnings,
} from "./shardPlan";
import {
  asSingle,
  asState,
  decodeShard,
  encodeShard,
  passwordRotationShardOutputs,
  type PasswordRotationShardOutputs,
  secretPasswordRotationShardOutputs,
} from "./shardState";
import { type FleetDatabaseState, type fleetSettings, pendingState } from "./fleet";
import { type DatabaseReport, fleetLabel, FleetRun } from "./fleetRun";
import { checkSaving, rememberUnreadable } from "./saving";
import {
  type CheckFailure,
  checkInputs,
  type Claim,
  type Difference,
  type Resource,
  type Result,
  type Schemas,
  type TableOf,
} from "../resource";
import { type Run } from "../run";

export const passwordRotationShard: Resource<PasswordRotationShardInputs, PasswordRotationShardOutputs> = {
  idInput: "shard",
  outputs: passwordRotationShardOutputs,
  secretOutputs: secretPasswordRotationShardOutputs,
  decidingInputs: ["databases", ...decidingInputs],
  inputs: (schemas) => ({
    required: ["databases"],
    schemas: {
      ...fleetInputs(schemas).schemas,
      databases: databasesInput(schemas),
      shard: schemas.internal,
      fleet: schemas.internal,
      connection: schemas.internal,
    },
  }),
  check(inputs, unknown, run) {
    rememberUnreadable(inputs.fleet, inputs, databasePassword, run);
    return [
      ...checkDatabases(inputs.databases),
      ...checkSince(inputs, unknown, run),
      ...checkSaving(inputs, unknown, databasePassword, run),
    ];
  },
  claims: ({ databases, fleet, otherOwners }, unknown) =>
    unknown.has("fleet") ? [] : claimsOf(databases, fleet, otherOwners),
  // The engine names the shard, which is not in the program.
  reported: (failure, { fleet }) => ({ ...failure, reason: `${fleetLabel(String(fleet))}: ${failure.reason}` }),
  diff,
  noticesOfUnknown,
  noticesOfNew,
  apply,
  refresh,
};

/** Characters of a saved problem: a thousand of them are part of the state. */
const maxProblemChars = 1_000;

/** The inputs of a fleet without its databases. */
export function fleetInputs(schemas: Schemas) {
  const { count, flag } = schemas;
  const own = { concurrency: count, maxFailures: count, includeRecords: flag };
  const all = { ...rotationInputs(schemas), ...own } satisfies Record<(typeof fleetSettings)[number], unknown>;
  return { required: [], schemas: all };
}

function databasesInput({ z, expected, refuse }: Schemas) {
  return z.array(z.unknown(), expected("a list of databases")).superRefine(
    refuse((databases) => {
      const wrong = databases.find((one) => typeof one !== "string" && !isObject(one));
      return wrong === undefined ? undefined : `must hold databases, but one is ${kindOf(wrong)}`;
    }),
  );
}

const databaseInputs: TableOf = ({ id, trigger }) => ({
  required: ["databaseId"],
  schemas: { databaseId: id, ...trigger },
});

/**
 * What is wrong with databases of a fleet.
 *
 * @param names of the databases in a message; by default, their ids
 */
export function checkDatabases(databases: readonly ShardDatabase[], names?: readonly string[]): CheckFailure[] {
  return databases.flatMap((given, index): CheckFailure[] => {
    const database = { ...asObject(given) };
    const isId = typeof database.databaseId === "string" && idProblem(database.databaseId) === undefined;
    const name = names?.[index] ?? (isId ? `database ${JSON.stringify(database.databaseId)}` : "a database");
    const [wrong] = checkInputs(databaseInputs, database, unknownNames(database));
    return wrong ? [{ property: "databases", reason: `${name}: ${wrong.reason}` }] : [];
  });
}

/** The claims of a fleet for databases. Their ids are known, even if `databases` contains an unknown version. */
export function claimsOf(
  databases: readonly ShardDatabase[],
  fleet: string,
  otherOwners: PasswordRotationShardInputs["otherOwners"],
): Claim[] {
  const ids = databases.map((database) => asObject(database).databaseId);
  const known = ids.filter((id) => id !== unknownValue);
  return known.map((id) =>
    claimOf(databasePassword, "databases", id, { owner: fleet, otherOwners: otherOwners?.[id] }),
  );
}

function diff(saved: PasswordRotationShardOutputs, inputs: PasswordRotationShardInputs, run: Run): Difference {
  const states = decodeShard(saved);
  if (states.size > 0 && inputs.databases.length === 0) {
    const reason = `is empty, but ${fleetLabel(inputs.fleet)} has some in its state. If the list is from the platform, check it; to stop rotating them, remove the fleet`;
    throw new InputError("databases", reason);
  }
  const planned = planShard(states, inputs, run);
  const members = new Set(inputs.databases.map((database) => asObject(database).databaseId));
  const isChanged = (one: PlannedDatabase) =>
    one.plan.kind !== "keep" ||
    isRead(one, run) ||
    changeOf(one, run) !== undefined ||
    // A problem that no longer applies is removed.
    one.state?.problem !== undefined;
  const changes = planned.some(isChanged) || [...states.keys()].some((id) => !members.has(id));
  return { changes, notices: [...announced(planned, inputs, run), ...warnings(planned, inputs, run)] };
}

/**
 * Creates if nothing is saved, else updates. Always succeeds once a reset may have been sent: an error could not carry
 * the results of the others. Failures are saved with each database, and fail the run in the SDK.
 */
async function apply(
  saved: PasswordRotationShardOutputs | undefined,
  inputs: PasswordRotationShardInputs,
  run: Run,
): Promise<Result<PasswordRotationShardOutputs>> {
  const planned = planShard(saved ? decodeShard(saved) : new Map(), inputs, run);
  const fleet = FleetRun.of(inputs.fleet, run);
  if (planned.some((one) => mayReset(one, run))) fleet.start(inputs);
  const report = fleet.join();
  const results = await Promise.all(planned.map((one) => rotate(one, fleet, run)));
  const outputs = encodeShard(
    inputs,
    results.map(({ state }) => (inputs.includeRecords ? state : withoutRecord(state))),
  );
  return { outputs, notices: summarize(report(results), fleetLabel(inputs.fleet)) };
}

/** Reads the databases, if the platform allows it. */
async function refresh(saved: PasswordRotationShardOutputs, run: Run): Promise<Result<PasswordRotationShardOutputs>> {
  // Earlier versions did not save the fleet.
  const { fleet, shard } = saved;
  const of = fleet === undefined ? `Shard ${JSON.stringify(shard)} of a fleet` : fleetLabel(fleet);
  const states = [...decodeShard(saved).values()];
  const report = FleetRun.of(fleet ?? shard, run).join();
  const results = await Promise.all(states.map((state) => read(state, run)));
  const next = results.map(({ state }) => state);
  const isChanged = next.some((state, index) => state !== states[index]);
  return { outputs: isChanged ? encodeShard(saved, next) : saved, notices: summarize(report(results), of) };
}

async function read(state: FleetDatabaseState, run: Run): Promise<DatabaseReport> {
  const { databaseId } = state;
  const single = asSingle(state);
  if (!single) return { databaseId, state, notices: [] };
  const { outputs, notices } = await refreshSecret(subjectOf(databaseId), single, run);
  if (outputs === single) return { databaseId, state, notices };
  const shown = asState(databaseId, outputs);
  // The problem of an unconfirmed reset is solved if a read has settled it. Others stay until the next `up`.
  const { problem, notTried } = single.outcome === "unknown" ? {} : state;
  const open = { ...(problem !== undefined && { problem }), ...(notTried && { notTried }) };
  const next = { ...(state.record ? shown : withoutRecord(shown)), ...open };
  // The same values in another order would be a difference.
  return { databaseId, state: isSame(state, next) ? state : next, notices };
}

async function rotate(planned: PlannedDatabase, fleet: FleetRun, run: Run): Promise<DatabaseReport> {
  const { subject, plan, saved, desired } = planned;
  const databaseId = subject.id;
  const act = async (): Promise<DatabaseReport> => {
    try {
      const { outputs, failure, notices } = await execute(subject, plan, saved, desired, run);
      const state = asState(databaseId, outputs);
      return { databaseId, state: failure ? { ...state, problem: problemOf(failure) } : state, failure, notices };
    } catch (error) {
      const failure =
        error instanceof RekeyError
          ? error
          : new InternalError({ secret: secretOf(subject), word: subject.kind.word }, error);
      return { databaseId, state: withProblem(planned, { problem: problemOf(failure) }), failure, notices: [] };
    }
  };
  if (!mayReset(planned, run)) return act();
  const problem =
    "Not attempted: the fleet stopped after too many failures (maxFailures). No reset was sent in this run.";
  const stopped = { databaseId, state: withProblem(planned, { problem, notTried: true }), notices: [] };
  return (await fleet.reset(act)) ?? stopped;
}

function problemOf({ message }: RekeyError): string {
  return engineMessage(message, maxProblemChars);
}

/** The saved state with a new problem. */
function withProblem(
  { state, subject: { id } }: PlannedDatabase,
  said: Pick<FleetDatabaseState, "problem" | "notTried">,
): FleetDatabaseState {
  const { problem, notTried, ...before } = state ?? pendingState(id);
  return { ...before, ...said };
}

/**
 * Records would be most of the state. Problems are kept: one of them may report a lost credential. So is the creation
 * time of an adopted database, with which `rotatedSince` compares.
 */
function withoutRecord({ record, exactIntegers, problems, ...state }: FleetDatabaseState): FleetDatabaseState {
  const creationTime = state.outcome === "adopted" ? record?.creationTime : undefined;
  return {
    ...state,
    ...(problems && problems.length > 0 && { problems }),
    ...(creationTime !== undefined && { creationTime }),
  };
}

/** Whether a reset may be sent, which the fleet's limits apply to. A read may end a refusal, and make a reset due. */
function mayReset(planned: PlannedDatabase, run: Run): boolean {
  const { plan } = planned;
  if (plan.kind === "refuse") return isRead(planned, run);
  return plan.kind === "reset" || (plan.kind === "adopt" && plan.mayReset === true);
}
