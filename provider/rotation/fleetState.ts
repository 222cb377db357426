import { StateError } from "../platform/errors";
import { type Subject } from "../platform/secretKind";
import { type DatabaseRecord } from "../records/database";
import { isObject } from "../records/fields";
import { jsonText } from "../records/properties";
import { type Run } from "../run";
import { type Access, accessOf, urlsOf } from "./access";
import { type FleetCredentials, type FleetDatabase, type FleetOutputs, type FleetRecord } from "./fleetOutputs";
import { databasePassword } from "./kinds/databasePassword";
import { credentialsIn, parsed, progressOf, sealed, type State, stateIn, unsealed } from "./memory";
import { dueAt } from "./schedule";

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
  const memories = parsed(outputs.memory);
  if (!isObject(states) || !isObject(memories)) {
    const advice = "Restore it from an earlier export of the state.";
    throw new StateError({ output: isObject(states) ? "memory" : "states", reason: "is not a map", advice });
  }
  const members = Object.entries(states).map(([name, { databaseId, error, ...shown }]) => {
    if (shown.outcome === "pending") return { name, databaseId, error };
    const own = { ...shown, ...credentials[name], ...records[name], encryptedCredentials: encryptedCredentials[name] };
    return { name, databaseId, error, state: stateIn(own, unsealed(memories[databaseId])) };
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
    records: byName(({ state }) => state && recordOf(state, withRecords)),
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
  const { rotatedAt, rotationCount, rotationReason, problems } = state;
  return { databaseId, ...progressOf(state), rotatedAt, rotationCount, rotationReason, problems, error };
}

function credentialsOf(state: State): FleetCredentials | undefined {
  const values = { ...credentialsIn(state), ...(state.otherFields && { otherFields: state.otherFields }) };
  return Object.keys(values).length > 0 ? values : undefined;
}

/** By default, only where clients connect: the other fields would be most of the state. */
function recordOf({ record, exactIntegers }: State, isWhole: boolean): FleetRecord | undefined {
  if (!record || isWhole) return record && { record, exactIntegers };
  const { endpoint, port, tls } = record as DatabaseRecord;
  return { record: { endpoint, port, tls } as DatabaseRecord };
}

/** Whether whole records are saved. */
export function hasRecords(members: readonly SavedMember[]): boolean {
  return members.some(({ state }) =>
    Object.keys(state?.record ?? {}).some((name) => !/^(endpoint|port|tls)$/.test(name)),
  );
}

/** Of a database that was never reset or adopted, nothing can be tried. */
function accessTo(member: SavedMember, run: Run): Access | undefined {
  const { databaseId, state } = member;
  if (state) return accessOf(subjectOf(member), state, run);
  return { id: databaseId, of: databasePassword.noun, count: 0 };
}
