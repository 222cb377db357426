import { InternalError, RefusedError, RekeyError } from "../platform/errors";
import { secretOf } from "../platform/secretKind";
import { isObject } from "../records/fields";
import { engineMessage, isUnknown } from "../records/properties";
import { type Resource, type Result } from "../resource";
import { type Run } from "../run";
import { type Finding, told } from "./findings";
import {
  announcedIn,
  changingIn,
  databasesProblems,
  type FleetInputs,
  fleetNotices,
  isRewritten,
  membersOf,
  type PlannedMember,
  plannedMembers,
} from "./fleetPlan";
import { type FleetOutputs } from "./fleetOutputs";
import {
  fleetFailure,
  fleetId,
  hasRecords,
  notAttempted,
  readFleet,
  type SavedMember,
  subjectOf,
  writeFleet,
} from "./fleetState";
import { databasePassword } from "./kinds/databasePassword";
import { contextOf, isReadFirst } from "./plan";
import { refresh } from "./reads";
import { rotate } from "./rotate";
import { claimOf, connectionInput, rotationInputs, rotationProblems, sends, stateOf } from "./rotation";

/** Rotates the passwords of many databases, each by the same rules as a single one. */
export const passwordRotationFleet: Resource<FleetInputs, FleetOutputs> = {
  idInput: "fleet",
  onlyId: fleetId,
  outputs: {
    fleet: "plain",
    states: "plain",
    credentials: "secret",
    connectionUrls: "secret",
    records: "plain",
    encryptedCredentials: "plain",
    failed: "plain",
    lastRotated: "plain",
    nextRotationAt: "plain",
    access: "secret",
    memory: "secret",
  },
  inputs: (schemas) => {
    const { z, expected, count, flag } = schemas;
    const databases = z.custom<object>(isObject, expected("a map of names to ids or databases"));
    const own = { databases, concurrency: count, maxFailures: count, includeRecords: flag };
    return {
      required: ["databases"],
      schemas: { ...own, ...rotationInputs(schemas), ...connectionInput(schemas) },
    };
  },
  check: (inputs, run) => [...databasesProblems(inputs), ...rotationProblems(inputs, databasePassword, run)],
  claims: (inputs) => {
    const ids = new Set(membersOf(inputs).map(({ databaseId }) => databaseId));
    return [...ids].flatMap((databaseId) => (isUnknown(databaseId) ? [] : claimOf(subjectOf({ databaseId }))));
  },
  plan(saved, inputs, run) {
    const before = saved && readFleet(saved);
    if (!isObject(inputs.databases)) {
      const text = "Passwords of the databases: may be reset: databases is not known yet.";
      return { changes: true, notices: [{ text }, ...run.settingsWarning(databasePassword.service)] };
    }
    const members = plannedMembers(before, inputs, run);
    const isOther = before === undefined || isRewritten(before, members, inputs);
    return {
      changes: isOther || members.some(({ plan }) => plan.kind !== "keep"),
      changing: isOther ? undefined : changingIn(members),
      notices: announcedIn(members, before !== undefined, run),
    };
  },
  async apply(saved, inputs, run) {
    const members = plannedMembers(saved && readFleet(saved), inputs, run);
    return result(await rotateAll(members, inputs, run), inputs.includeRecords === true, run);
  },
  async refresh(saved, run) {
    try {
      const members = [...readFleet(saved).values()];
      const done = await Promise.all(members.map((member) => refreshOne(member, run)));
      const { outputs, notices } = result(done, hasRecords(members), run);
      return { outputs, notices };
    } catch (error) {
      if (!(error instanceof RekeyError)) throw error;
      return { outputs: saved, notices: [{ text: error.text, isWarning: true }] };
    }
  },
};

/** What was done for one database. */
interface Done {
  readonly member: SavedMember;
  readonly findings: readonly Finding[];
  readonly failure?: RekeyError | undefined;
}

/**
 * Rotates all. Resets run within `concurrency`, and none begins after `maxFailures`.
 *
 * @throws SettingsError if no request could be sent: once, instead of for each of them
 */
async function rotateAll(
  members: readonly PlannedMember[],
  { concurrency, maxFailures }: FleetInputs,
  run: Run,
): Promise<Done[]> {
  if (members.some(({ plan }) => sends(plan))) run.platform.operations(databasePassword);
  const resetting = new Set(members.filter((one) => mayReset(one, run)));
  if (resetting.size === 0) return Promise.all(members.map((one) => rotateOne(one, run)));
  const queue = run.platform.queueWithin(concurrency ?? undefined);
  const logProgress = progressOf(resetting.size, run);
  let failed = 0;
  const limited = (one: PlannedMember) =>
    queue.run(async (): Promise<Done> => {
      if (failed >= (maxFailures ?? Infinity)) return { member: memberOf(one, notAttempted), findings: [] };
      const done = await rotateOne(one, run);
      // A refusal of Rekey is not a failure of the platform.
      if (done.failure && !(done.failure instanceof RefusedError)) failed++;
      logProgress(failed);
      return done;
    });
  return Promise.all(members.map((one) => (resetting.has(one) ? limited(one) : rotateOne(one, run))));
}

/** Whether a reset may be sent, which the fleet's limits apply to. A read may end a refusal, and make a reset due. */
function mayReset({ plan, before, subject }: PlannedMember, run: Run): boolean {
  if (plan.kind === "refuse") {
    return before?.state !== undefined && isReadFirst(before.state, plan, contextOf(subject, run));
  }
  return plan.kind === "reset" || (plan.kind === "adopt" && plan.mayReset);
}

const progressIntervalMs = 5_000;

/** @returns a function to call after each database */
function progressOf(count: number, { options: { clock, log } }: Run): (failed: number) => void {
  let tried = 0;
  let loggedAtMs = clock.elapsedMs();
  return (failed) => {
    tried++;
    if (clock.elapsedMs() - loggedAtMs < progressIntervalMs) return;
    loggedAtMs = clock.elapsedMs();
    log(`PasswordRotationFleet: ${tried} of ${count} databases tried, ${failed} failed.`);
  };
}

/** A failure is saved with its database: an error could not carry the results of the others. */
async function rotateOne(one: PlannedMember, run: Run): Promise<Done> {
  const { subject, before, desired } = one;
  try {
    const { state, findings, failure } = await rotate(subject, before?.state, desired, run);
    return { member: { ...memberOf(one), state }, findings, failure };
  } catch (error) {
    const secret = { secret: secretOf(subject), word: subject.kind.word };
    const failure = error instanceof RekeyError ? error : new InternalError(secret, error);
    return { member: memberOf(one), findings: [], failure };
  }
}

/** The database unchanged, with its present name. */
function memberOf({ name, subject, before }: PlannedMember, error?: string): SavedMember {
  return { name, databaseId: subject.id, state: before?.state, error };
}

async function refreshOne(member: SavedMember, run: Run): Promise<Done> {
  if (member.state === undefined) return { member, findings: [] };
  const subject = subjectOf(member);
  stateOf(run).add(secretOf(subject));
  const { state, findings } = await refresh(subject, member.state, run);
  // A read ends an unconfirmed reset. Other failures stay until the next `up`.
  const isSettled = member.state.outcome === "unknown" && state.outcome !== "unknown";
  return { member: { ...member, state, error: isSettled ? undefined : member.error }, findings };
}

/** Characters of an error that is saved: a thousand of them are part of the state. */
const maxErrorChars = 1_000;

function result(done: readonly Done[], withRecords: boolean, run: Run): Result<FleetOutputs> {
  const members = done.map(({ member, failure }) =>
    failure ? { ...member, error: engineMessage(run.shown(failure.message), maxErrorChars) } : member,
  );
  const said = done.flatMap(({ member: { name }, findings }) =>
    findings.map((finding) => ({ name, reason: finding.kind, said: told(finding, databasePassword) })),
  );
  const outputs = writeFleet(members, withRecords, run);
  return { outputs, failure: fleetFailure(outputs.states), isPartial: true, notices: fleetNotices(said, run) };
}
