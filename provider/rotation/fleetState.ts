import { outputsAreFormer, RekeyError, StateError } from "../platform/errors";
import { type Subject } from "../platform/secretKind";
import { isObject } from "../records/fields";
import { jsonText } from "../records/properties";
import { type Run } from "../run";
import { type Access, accessOf, urlsOf } from "./access";
import { type FleetCredentials, type FleetDatabase, type FleetOutputs, type FleetRecord } from "./fleetOutputs";
import { databasePassword } from "./kinds/databasePassword";
import { type Memory, parsed, sealed, unsealed } from "./memory";
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

/** The fields of a record with which clients connect. All others would be most of the state. */
const connectionFields = ["endpoint", "port", "tls"] as const;

/**
 * The saved databases by their ids.
 *
 * @throws StateError if the outputs are damaged: a database that is lost would be a new one, and be reset
 */
export function readFleet({ states, memory, ...outputs }: FleetOutputs): Map<string, SavedMember> {
  const memories = new Map(Object.entries(asRecord(parsed(memory), "memory")));
  const [credentials, records, files] = [outputs.credentials, outputs.records, outputs.encryptedCredentials].map(
    (one) => new Map(Object.entries(one as Readonly<Record<string, object | string>>)),
  );
  const members = Object.entries(asRecord(states, "states")).map(([name, saved]): SavedMember => {
    const { databaseId, error, ...shown } = saved as FleetDatabase;
    if (shown.outcome === "pending") return { name, databaseId, error };
    const own = { ...shown, ...(credentials?.get(name) as object), ...(records?.get(name) as object) };
    const state = stateIn({ ...own, encryptedCredentials: files?.get(name) }, unsealed(memories.get(databaseId)));
    return { name, databaseId, state, error };
  });
  return new Map(members.map((one) => [one.databaseId, one]));
}

function asRecord(value: unknown, output: string): Readonly<Record<string, unknown>> {
  if (isObject(value)) return value;
  const advice = "Restore it from an earlier export of the state.";
  throw new StateError({ output, reason: "is not a map", advice });
}

/** Whether whole records are saved. */
export function hasRecords(members: Iterable<SavedMember>): boolean {
  const isMore = (field: string) => !connectionFields.some((one) => one === field);
  return [...members].some(({ state }) => Object.keys(state?.record ?? {}).some(isMore));
}

/** The outputs to save, in the same order whatever the order in the program is. */
export function writeFleet(members: readonly SavedMember[], withRecords: boolean, run: Run): FleetOutputs {
  const sorted = sortedBy(members, ({ name }) => name);
  const byName = <T>(valueOf: (member: SavedMember) => T | undefined) => mapOf(sorted, ({ name }) => name, valueOf);
  const byId = sortedBy(members, ({ databaseId }) => databaseId);
  const rotatedAt = sorted.flatMap(({ state }) => state?.rotatedAt ?? []).sort();
  return known({
    fleet: fleetId,
    states: byName(shownOf),
    credentials: byName(({ state }) => state && credentialsOf(state)),
    connectionUrls: byName((one) => one.state && urlsOf(subjectOf(one), one.state, run).connectionUrl),
    records: byName(({ state }) => state?.record && recordOf(state, withRecords)),
    encryptedCredentials: byName(({ state }) => state?.encryptedCredentials),
    failed: sorted.flatMap(({ name, error }) => (error === undefined ? [] : name)),
    lastRotated: rotatedAt.at(-1),
    nextRotationAt: nextOf(sorted),
    access: jsonText(byName((one) => accessTo(one, run))),
    memory: JSON.stringify(
      mapOf(
        byId,
        ({ databaseId }) => databaseId,
        ({ state }) => state && sealed(state.memory),
      ),
    ),
  });
}

function sortedBy(members: readonly SavedMember[], keyOf: (member: SavedMember) => string): SavedMember[] {
  return members.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}

/** What there is of each, by a key. */
function mapOf<T>(
  members: readonly SavedMember[],
  keyOf: (member: SavedMember) => string,
  valueOf: (member: SavedMember) => T | undefined,
): Record<string, T> {
  const entries = members.flatMap((member) => {
    const value = valueOf(member);
    return value === undefined ? [] : [[keyOf(member), value] as const];
  });
  return Object.fromEntries(entries);
}

function shownOf({ databaseId, state, error }: SavedMember): FleetDatabase {
  if (!state) return known({ databaseId, outcome: "pending", rotationCount: 0, error });
  const { outcome, rotatedAt, adoptedAt, rotationCount, rotationReason, problems = [] } = state;
  const open = problems.length > 0 ? problems : undefined;
  return known({ databaseId, outcome, rotatedAt, adoptedAt, rotationCount, rotationReason, problems: open, error });
}

function credentialsOf(state: State): FleetCredentials | undefined {
  const values = known({ ...credentialsIn(state), otherFields: state.otherFields });
  return Object.keys(values).length > 0 ? values : undefined;
}

function recordOf({ record = {}, exactIntegers }: State, isWhole: boolean): FleetRecord {
  if (isWhole) return known({ record, exactIntegers });
  return { record: known(Object.fromEntries(connectionFields.map((field) => [field, record[field]]))) };
}

/** Of a database that was never reset or adopted, nothing can be tried. */
function accessTo(member: SavedMember, run: Run): Access | undefined {
  const { databaseId, state } = member;
  if (state) return accessOf(subjectOf(member), state, run);
  return { id: databaseId, of: databasePassword.noun, count: 0 };
}

/** When `rotateEvery` is first due. */
function nextOf(members: readonly SavedMember[]): string | undefined {
  let first: Memory | undefined;
  for (const { state } of members) {
    if (!state?.memory.declared.rotateEvery) continue;
    if (first === undefined || state.memory.rotatedAt < first.rotatedAt) first = state.memory;
  }
  return first && dueAt(first.rotatedAt, first.declared.rotateEvery ?? "").toISOString();
}

/** An object without the properties that are undefined. */
function known<T extends object>(object: T): T {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as T;
}

/** What is saved of a database that was not attempted. */
export const notAttempted =
  "Not attempted: the fleet stopped after too many failures (maxFailures). No reset was sent in this run.";

/** Databases that an error names; the others are counted. */
const maxFailed = 20;

/** The error for a fleet with failed databases; undefined if there is none. */
export function fleetFailure(states: Readonly<Record<string, FleetDatabase>>): RekeyError | undefined {
  const open = Object.entries(states).filter(([, { error }]) => error !== undefined);
  if (open.length === 0) return undefined;
  const failed = open.filter(([, { error }]) => error !== notAttempted);
  const lines = failed.slice(0, maxFailed).map(([name, { error = "" }]) => `  ${name}: ${error.replaceAll("\n", " ")}`);
  if (failed.length > maxFailed) lines.push(`  and ${failed.length - maxFailed} more: see the output \`failed\``);
  const others = open.length - failed.length;
  if (others > 0) {
    lines.push(
      `  ${others} were not attempted, because too many others had failed (maxFailures): no reset was sent for them in this run`,
    );
  }
  const count = `${failed.length} of ${Object.keys(states).length} databases failed`;
  return new RekeyError(
    "REKEY_FLEET_INCOMPLETE",
    `${count}:\n${lines.join("\n")}\nAll others are saved. ${outputsAreFormer} Run \`up\` again: it only processes databases that failed, are unknown or were not attempted.`,
    "maybe applied",
  );
}
