import { InternalError, RefusedError, RekeyError } from "../platform/errors";
import { secretOf, databasePassword } from "../platform/secretKind";
import { isObject } from "../records/fields";
import { engineMessage, isUnknown } from "../records/properties";
import { type Resource, type Result } from "../resource";
import { type Run } from "../run";
import { accessOf, urlsOf } from "./access";
import { type Rotated, told } from "./findings";
import {
  fleetFailure,
  fleetId,
  type FleetOutputs,
  type Member,
  notAttempted,
  readFleet,
  type SavedMember,
  writeFleet,
} from "./fleetOutputs";
import {
  databasesProblems,
  type FleetInputs,
  fleetNotices,
  idsIn,
  type PlannedMember,
  plannedMembers,
  planFleet,
} from "./fleetPlan";
import { refresh, rotate } from "./rotate";
import { claimOf, connectionInput, rotationInputs, rotationProblems } from "./rotation";

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
    const ids = [...new Set(Object.values(idsIn(inputs)))];
    return ids.flatMap((id) => (isUnknown(id) ? [] : claimOf({ kind: databasePassword, id })));
  },
  plan: planFleet,
  async apply(saved, inputs, run) {
    const members = plannedMembers(saved, inputs, run);
    return resultOf(await rotateAll(members, inputs, run), inputs.includeRecords === true, run);
  },
  async refresh(saved, run) {
    try {
      const done = await Promise.all([...readFleet(saved).values()].map((member) => refreshOne(member, run)));
      const { outputs, notices } = resultOf(done, Object.keys(saved.records).length > 0, run);
      return { outputs, notices };
    } catch (error) {
      if (!(error instanceof RekeyError)) throw error;
      return { outputs: saved, notices: [{ text: error.text, isWarning: true }] };
    }
  },
};

type Done = Member & Omit<Rotated, "state">;

/** Milliseconds after which a fleet shows again how many of its databases are done. */
const progressMs = 5_000;

/** Rotates all. Requests run within `concurrency`, and none begins after `maxFailures`. */
async function rotateAll(
  members: readonly PlannedMember[],
  { concurrency, maxFailures }: FleetInputs,
  run: Run,
): Promise<Done[]> {
  const isIdle = ({ plan }: PlannedMember) => plan.kind === "keep" || plan.kind === "rewrite";
  if (!members.every(isIdle)) run.platform.operations(databasePassword);
  const queue = run.platform.queueWithin(concurrency ?? undefined);
  const { clock, log } = run.options;
  let shownAtMs = clock.elapsedMs();
  let done = 0;
  let failed = 0;
  const rotateInTurn = async (one: PlannedMember): Promise<Done> => {
    if (!isIdle(one) && failed >= (maxFailures ?? Infinity)) return { ...one, error: notAttempted, findings: [] };
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
  const { subject, state, desired } = one;
  try {
    return { ...one, ...(await rotate(subject, state, desired, run)) };
  } catch (error) {
    const secret = { secret: secretOf(subject), word: subject.kind.word };
    return { ...one, findings: [], failure: error instanceof RekeyError ? error : new InternalError(secret, error) };
  }
}

/** An error of the last `up` stays until the next one. */
async function refreshOne(member: Member, run: Run): Promise<Done> {
  const { subject, state } = member;
  if (!state) return { ...member, findings: [] };
  run.shared.refreshed.add(secretOf(subject));
  return { ...member, ...(await refresh(subject, state, run)) };
}

/** Characters of an error that is saved: a thousand of them are part of the state. */
const maxErrorChars = 1_000;

function resultOf(done: readonly Done[], withRecords: boolean, run: Run): Result<FleetOutputs> {
  const members = done.map(({ failure, ...one }): SavedMember => {
    const { subject, state } = one;
    return {
      ...one,
      ...(failure && { error: engineMessage(run.redacted(failure.message), maxErrorChars) }),
      connectionUrl: state && urlsOf(subject, state, run).connectionUrl,
      access: (state && accessOf(subject, state, run)) ?? { id: subject.id, of: subject.kind.noun, count: 0 },
    };
  });
  const said = done.flatMap(({ name, findings }) =>
    findings.map((finding) => ({ name, reason: finding.kind, said: told(finding, databasePassword) })),
  );
  const outputs = writeFleet(members, withRecords);
  return { outputs, failure: fleetFailure(outputs.states), isPartial: true, notices: fleetNotices(said, run) };
}
