import { InternalError, RefusedError, RekeyError, withCode } from "../../domain/errors";
import { databasePassword, ownerOf, secretOf } from "../../domain/secretKind";
import { isObject } from "../../records/fields";
import { engineMessage, isUnknown } from "../../pulumi/values";
import { type Resource, type Result } from "../../resource/resource";
import { type Run } from "../../run/run";
import { type RotationResult, messageOf } from "../messages/findings";
import { openSession } from "../sources/session";
import { noteRefresh, tooMany } from "../messages/announcements";
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
  isCertain,
  type PlannedMember,
  plannedMembers,
  planFleet,
} from "./fleetPlan";
import { refresh, rotate } from "../lifecycle/lifecycle";
import { shownOf } from "../outputs/rotationOutputs";
import { readProgram } from "../program/program";
import {
  claimOf,
  connectionInput,
  rotationInputs,
  rotationProblems,
} from "../program/rotationInputs";

/** Rotates the passwords of many databases, each by the same rules as a single one. */
export const passwordRotationFleet: Resource<FleetInputs, FleetOutputs> = {
  idInput: "fleet",
  onlyId: fleetId,
  outputs: {
    fleet: "plain",
    states: "plain",
    credentials: "secret",
    connectionUrls: "secret",
    encryptedCredentials: "plain",
    failed: "plain",
    lastRotated: "plain",
    nextRotationAt: "plain",
    access: "secret",
    memory: "secret",
  },
  inputs: (schemas) => {
    const { z, expected, count } = schemas;
    const databases = z.custom<object>(isObject, expected("a map of names to ids or databases"));
    const own = { databases, maxFailures: count };
    return {
      required: ["databases"],
      schemas: { ...own, ...rotationInputs(schemas), ...connectionInput(schemas) },
    };
  },
  check: (inputs, run) => [
    ...databasesProblems(inputs),
    ...rotationProblems(readProgram(inputs, databasePassword), databasePassword, run),
  ],
  claims: (inputs) => {
    const ids = [...new Set(Object.values(idsIn(inputs)))];
    return ids.flatMap((id) => (isUnknown(id) ? [] : claimOf({ kind: databasePassword, id })));
  },
  plan(saved, inputs, run) {
    return planFleet(saved, inputs, Object.keys(this.outputs), run);
  },
  async apply(saved, inputs, run) {
    const members = plannedMembers(saved, inputs, run);
    return resultOf(await rotateAll(members, inputs, run), run);
  },
  async refresh(saved, run) {
    try {
      const done = await Promise.all(
        [...readFleet(saved).values()].map(async (member): Promise<Done> => {
          const { subject, state } = member;
          if (!state) return { ...member, findings: [] };
          noteRefresh(subject, run);
          // An error of the last `up` stays until the next one.
          return { ...member, ...(await refresh(state, openSession(subject, run, {}))) };
        }),
      );
      const { outputs, notices } = resultOf(done, run);
      return { outputs, notices };
    } catch (error) {
      if (!(error instanceof RekeyError)) throw error;
      return { outputs: saved, notices: [{ text: error.text, isWarning: true }] };
    }
  },
};

type Done = Member & Omit<RotationResult, "state">;

/** Milliseconds after which a fleet shows again how many of its databases are done. */
const progressMs = 5_000;

/** True if a plan needs no request. */
const isIdle = ({ plan }: PlannedMember) => plan.kind === "keep";

/**
 * Rotates all. If the resets that are certain are more than the run's limit leaves, none of them is sent: the limit is
 * to stop a mistake as a whole, and not after a part of it. What only a read decides is counted one by one.
 */
async function rotateAll(
  members: readonly PlannedMember[],
  inputs: FleetInputs,
  run: Run,
): Promise<Done[]> {
  if (!members.every(isIdle)) run.platform.operations(databasePassword);
  const certain = members.filter(isCertain).map(({ subject }) => secretOf(subject));
  const refused = run.reserveResets(certain);
  if (!refused) {
    return rotateEach(members, inputs, run).finally(() => run.releaseResets(certain));
  }
  const others = members.filter((one) => !isCertain(one));
  const text = `No reset was sent, and no password was changed: ${tooMany(refused)}. Check that so many are intended, then raise the limit.`;
  const error = withCode(text, "REKEY_RESET_LIMIT");
  const unsent = members.filter(isCertain).map((one) => ({ ...one, error, findings: [] }));
  return [...unsent, ...(await rotateEach(others, inputs, run))];
}

/** No reset begins after `maxFailures`. */
async function rotateEach(
  members: readonly PlannedMember[],
  { maxFailures }: FleetInputs,
  run: Run,
): Promise<Done[]> {
  const queue = run.platform.queueWithin();
  const { clock, log } = run.options;
  let shownAtMs = clock.elapsedMs();
  let done = 0;
  let failed = 0;
  const rotateInTurn = async (one: PlannedMember): Promise<Done> => {
    if (!isIdle(one) && failed >= (maxFailures ?? Infinity)) {
      return { ...one, error: notAttempted, findings: [] };
    }
    const rotated = await rotateOne(one, run);
    done++;
    // A refusal of Rekey is not a failure of the platform.
    if (rotated.failure && !(rotated.failure instanceof RefusedError)) failed++;
    if (clock.elapsedMs() - shownAtMs >= progressMs) {
      shownAtMs = clock.elapsedMs();
      log(
        `PasswordRotationFleet: ${done} of ${members.length} databases are done, ${failed} of them failed.`,
      );
    }
    return rotated;
  };
  return Promise.all(members.map((one) => queue.run(() => rotateInTurn(one))));
}

/** A failure is saved with its database: an error could not carry the results of the others. */
async function rotateOne(one: PlannedMember, run: Run): Promise<Done> {
  const { subject, state, program } = one;
  try {
    return { ...one, ...(await rotate(state, openSession(subject, run, program, program))) };
  } catch (error) {
    return {
      ...one,
      findings: [],
      failure: error instanceof RekeyError ? error : new InternalError(subject, error),
    };
  }
}

/** Characters of an error that is saved: a thousand of them are part of the state. */
const maxErrorChars = 1_000;

function resultOf(done: readonly Done[], run: Run): Result<FleetOutputs> {
  const members = done.map((one) => savedMember(one, run));
  const messages = done.flatMap(({ name, findings }) =>
    findings.map((finding) => ({ name, message: messageOf(finding, databasePassword) })),
  );
  const outputs = writeFleet(members);
  return {
    outputs,
    failure: fleetFailure(outputs.states),
    isPartial: true,
    notices: fleetNotices(messages, run),
  };
}

/** The saved state of one database. An unexpected error of it loses neither the others nor what its reset delivered. */
function savedMember({ name, subject, state, failure, ...of }: Done, run: Run): SavedMember {
  const { endpoint, port, tls } = state?.record ?? {};
  // The values from which a state is made again, by code that uses nothing that may have failed.
  const plain = {
    id: subject.id,
    of: subject.kind.name,
    count: state?.rotationCount ?? 0,
    record: state?.record && { endpoint, port, tls },
  };
  const error = failure ? engineMessage(run.redacted(failure.message), maxErrorChars) : of.error;
  const saved = { name, subject, state, error, access: plain };
  if (!state) return saved;
  try {
    const { connectionUrl, nextRotationAt, access } = shownOf(subject, state, run);
    return { ...saved, connectionUrl, nextRotationAt, access };
  } catch {
    const text = `pulumi-rekey failed unexpectedly while making the outputs of ${ownerOf(subject)}. Its password may have been changed, and what is known of it is saved. This is a bug: please report it, then run again.`;
    return { ...saved, error: error ?? withCode(text, "REKEY_INTERNAL") };
  }
}
