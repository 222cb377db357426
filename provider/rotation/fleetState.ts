import { StateError } from "../platform/errors";
import { type Subject, databasePassword } from "../platform/secretKind";
import { isObject } from "../records/fields";
import { jsonText } from "../records/properties";
import { type Run } from "../run";
import { type Access, accessOf, urlsOf } from "./access";
import { type FleetCredentials, type FleetDatabase, type FleetOutputs, type FleetRecord } from "./fleetOutputs";
import { parsed, sealed, unsealed } from "./memory";
import { dueAt } from "./schedule";
import { credentialsIn, type State, stateIn } from "./state";

/** The id of each fleet. */
export const fleetId = "fleet";

/** One database of a fleet as it is saved. */
export interface SavedMember {
  readonly name: string;
  readonly databaseId: string;
  /** Undefined if it was never reset or adopted. */
  readonly state?: State | undefined;
  /** Why the last `up` failed for it. */
  readonly error?: string | undefined;
}

/** The secret of one database. */
export function subjectOf({ databaseId }: Pick<SavedMember, "databaseId">): Subject {
  return { kind: databasePassword, id: databaseId };
}

/**
 * The saved databases by their ids.
 *
 * @throws StateError if the outputs are damaged: a database that is lost would be a new one, and be reset
 */
export function readFleet(outputs: FleetOutputs): Map<string, SavedMember> {
  const { states, credentials, records, encryptedCredentials } = outputs;
  const [memories, accesses] = [parsed(outputs.memory), parsed(outputs.access)];
  if (!isObject(states) || !isObject(memories) || !isObject(accesses)) {
    const advice = "Restore it from an earlier export of the state.";
    throw new StateError({ output: isObject(states) ? "memory" : "states", reason: "is not a map", advice });
  }
  const members = Object.entries(states).map(([name, { databaseId, error, ...shown }]) => {
    if (shown.outcome === "pending") return { name, databaseId, error };
    // Where clients connect is known without the whole record.
    const record = (accesses[name] as Access | undefined)?.record;
    const own = { ...shown, ...credentials[name], record, ...records[name] };
    const state = { ...own, encryptedCredentials: encryptedCredentials[name] };
    return { name, databaseId, error, state: stateIn(state, unsealed(memories[databaseId])) };
  });
  return new Map(members.map((one) => [one.databaseId, one]));
}

/** The outputs to save, in the same order whatever the order in the program is. */
export function writeFleet(members: readonly SavedMember[], withRecords: boolean, run: Run): FleetOutputs {
  const sorted = members.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const byName = <T>(valueOf: (member: SavedMember) => T | undefined): Record<string, T> => {
    const all = sorted.map((one) => [one.name, valueOf(one)] as const);
    return Object.fromEntries(all.filter((one): one is [string, T] => one[1] !== undefined));
  };
  const states = sorted.flatMap(({ state }) => state ?? []);
  const [next] = states
    .map(({ memory: { rotatedAt, declared } }) => ({ rotatedAt, rotateEvery: declared.rotateEvery ?? "" }))
    .filter(({ rotateEvery }) => rotateEvery !== "")
    .sort((a, b) => (a.rotatedAt < b.rotatedAt ? -1 : 1));
  return {
    fleet: fleetId,
    states: byName(shownOf),
    credentials: byName(({ state }) => state && credentialsOf(state)),
    connectionUrls: byName((one) => one.state && urlsOf(subjectOf(one), one.state, run).connectionUrl),
    records: withRecords ? byName(({ state }) => state && recordOf(state)) : {},
    encryptedCredentials: byName(({ state }) => state?.encryptedCredentials),
    failed: sorted.flatMap(({ name, error }) => (error === undefined ? [] : name)),
    lastRotated: states
      .flatMap(({ rotatedAt }) => rotatedAt ?? [])
      .sort()
      .at(-1),
    nextRotationAt: next && dueAt(next.rotatedAt, next.rotateEvery).toISOString(),
    access: jsonText(byName((one) => accessTo(one, run))),
    memory: JSON.stringify(
      Object.fromEntries(sorted.map(({ databaseId, state }) => [databaseId, state && sealed(state.memory)])),
    ),
  };
}

function shownOf({ databaseId, state, error }: SavedMember): FleetDatabase {
  if (!state) return { databaseId, outcome: "pending", rotationCount: 0, error };
  const { outcome, rotatedAt, adoptedAt, rotationCount, rotationReason } = state;
  // An empty list of each of a thousand databases takes time.
  const problems = state.problems?.length === 0 ? undefined : state.problems;
  return { databaseId, outcome, rotatedAt, adoptedAt, rotationCount, rotationReason, problems, error };
}

function credentialsOf(state: State): FleetCredentials | undefined {
  const values = { ...credentialsIn(state), ...(state.otherFields && { otherFields: state.otherFields }) };
  return Object.keys(values).length > 0 ? values : undefined;
}

function recordOf({ record, exactIntegers }: State): FleetRecord | undefined {
  return record && { record, exactIntegers };
}

/** Of a database that was never reset or adopted, nothing can be tried. */
function accessTo(member: SavedMember, run: Run): Access | undefined {
  const { databaseId, state } = member;
  if (state) return accessOf(subjectOf(member), state, run);
  return { id: databaseId, of: databasePassword.noun, count: 0 };
}
