import { InternalError, RefusedError, RekeyError } from "../platform/errors";
import { secretOf } from "../platform/secretKind";
import { isObject } from "../records/fields";
import { engineMessage } from "../records/engineMessage";
import { isUnknown } from "../records/properties";
import { type Resource, type Result } from "../resource";
import { type Run } from "../run";
import { type Finding, told } from "./messages";
import { fleetFailure, type FleetOutputs, notAttempted } from "./fleetOutputs";
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
import { fleetId, hasRecords, readFleet, type SavedMember, subjectOf, writeFleet } from "./fleetState";
import { databasePassword } from "./kinds/databasePassword";
import { refresh, rotate } from "./rotate";
import { claimOf, connectionInput, refreshedIn, rotationInputs, rotationProblems } from "./rotation";

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
    const isOther = before === undefined || isRewritten(before, members);
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
interface Done extends SavedMember {
  readonly findings: readonly Finding[];
  readonly failure?: RekeyError | undefined;
}

/** Milliseconds after which a fleet shows again how many of its databases are done. */
const progressMs = 5_000;

/**
 * Rotates all. Requests run within `concurrency`, and none begins after `maxFailures`.
 *
 * @throws SettingsError if no request could be sent: once, instead of for each of them
 */
async function rotateAll(
  members: readonly PlannedMember[],
  { concurrency, maxFailures }: FleetInputs,
  run: Run,
): Promise<Done[]> {
  const isIdle = ({ plan }: PlannedMember) => plan.kind === "keep" || plan.kind === "save";
  if (members.every(isIdle)) return Promise.all(members.map((one) => rotateOne(one, run)));
  run.platform.operations(databasePassword);
  const queue = run.platform.queueWithin(concurrency ?? undefined);
  const { clock, log } = run.options;
  let shownAtMs = clock.elapsedMs();
  let done = 0;
  let failed = 0;
  const rotateInTurn = async (one: PlannedMember): Promise<Done> => {
    if (!isIdle(one) && failed >= (maxFailures ?? Infinity)) return { ...asSaved(one), error: notAttempted };
    const rotated = await rotateOne(one, run);
    done++;
    // A refusal of Rekey is not a failure of the platform.
    if (rotated.failure && !(rotated.failure instanceof RefusedError)) failed++;
    if (clock.elapsedMs() - shownAtMs >= progressMs) {
      shownAtMs = clock.elapsedMs();
      log(`PasswordRotationFleet: ${done} of ${members.length} databases are done, ${failed} of them failed.`);
    }
    return rotated;
  };
  return Promise.all(members.map((one) => queue.run(() => rotateInTurn(one))));
}

/** A failure is saved with its database: an error could not carry the results of the others. */
async function rotateOne(one: PlannedMember, run: Run): Promise<Done> {
  const { subject, before, desired } = one;
  try {
    return { ...asSaved(one), ...(await rotate(subject, before?.state, desired, run)) };
  } catch (error) {
    const secret = { secret: secretOf(subject), word: subject.kind.word };
    return { ...asSaved(one), failure: error instanceof RekeyError ? error : new InternalError(secret, error) };
  }
}

/** The database as it was saved, with its present name. */
function asSaved({ name, subject, before }: PlannedMember): Done {
  return { name, databaseId: subject.id, state: before?.state, findings: [] };
}

/** A failure stays until the next `up`. */
async function refreshOne(member: SavedMember, run: Run): Promise<Done> {
  if (member.state === undefined) return { ...member, findings: [] };
  const subject = subjectOf(member);
  refreshedIn(run).add(secretOf(subject));
  return { ...member, ...(await refresh(subject, member.state, run)) };
}

/** Characters of an error that is saved: a thousand of them are part of the state. */
const maxErrorChars = 1_000;

function result(done: readonly Done[], withRecords: boolean, run: Run): Result<FleetOutputs> {
  const members = done.map(({ failure, ...one }) =>
    failure ? { ...one, error: engineMessage(run.shown(failure.message), maxErrorChars) } : one,
  );
  const said = done.flatMap(({ name, findings }) =>
    findings.map((finding) => ({ name, reason: finding.kind, said: told(finding, databasePassword) })),
  );
  const outputs = writeFleet(members, withRecords, run);
  return { outputs, failure: fleetFailure(outputs.states), isPartial: true, notices: fleetNotices(said, run) };
}
