import { outputsAreFormer, RekeyError, StateError } from "../../domain/errors";
import { type Subject, databasePassword } from "../../domain/secretKind";
import { isDeepStrictEqual } from "node:util";
import { canonicalId, isObject, isSet } from "../../records/fields";
import { jsonText } from "../../pulumi/values";
import { credentialsIn, outcomeOf, type State, stateIn } from "../memory/state";
import { type Memory, parsed, sealed, unsealed } from "../memory/memory";
import { type Access } from "../program/access";
import { type FleetCredentials, type FleetDatabase } from "./fleetTypes";

export const fleetId = "fleet";

/** One database of a fleet. */
export interface Member {
  readonly name: string;
  readonly subject: Subject;
  /** Undefined if it was never reset or adopted. */
  readonly state?: State | undefined;
  /** Why the last `up` failed for it. */
  readonly error?: string | undefined;
}

/**
 * The saved databases by their ids, as these are compared.
 *
 * @throws StateError if the outputs are damaged: a database that is lost would be a new one, and be reset
 */
export function readFleet(outputs: FleetOutputs): Map<string, Member> {
  const { states, credentials, encryptedCredentials } = outputs;
  const { databases: memories } = unsealed<{ databases: Record<string, Memory> }>(
    parsed(outputs.memory),
  );
  const accesses = parsed(outputs.access);
  const all = { states, credentials, encryptedCredentials, access: accesses };
  for (const [output, map] of Object.entries(all)) {
    if (!isObject(map)) throw damaged(output, "is incomplete");
  }
  if (!Object.values(states).every(isObject)) throw damaged("states", "is incomplete");
  const remembered = Object.values(states).flatMap((one) =>
    one.outcome === "none" ? [] : one.databaseId,
  );
  if (!isDeepStrictEqual(remembered.toSorted(), Object.keys(memories).toSorted())) {
    throw damaged("memory", "does not have the same databases as states");
  }
  const members = Object.entries(states).map(
    ([name, { databaseId, error, ...others }]): [string, Member] => {
      const id = canonicalId(databaseId);
      const member = { name, subject: { kind: databasePassword, id: databaseId }, error };
      const access = (accesses as Readonly<Record<string, Access | undefined>>)[name];
      if (typeof access?.count !== "number") throw damaged("access", "is incomplete");
      if (others.outcome === "none") return [id, member];
      // Of the record, only where clients connect is saved.
      const known = { rotationCount: access.count, record: access.record };
      const own = { ...others, ...known, ...credentials[name] };
      const state = { ...own, encryptedCredentials: encryptedCredentials[name] };
      const memory = { ...memories[databaseId], kindFacts: {} } as Memory;
      return [id, { ...member, state: stateIn(state, memory) }];
    },
  );
  return new Map(members);
}

function damaged(output: string, reason: string): StateError {
  return new StateError({
    output,
    reason: `${reason}: the state is damaged`,
    advice: "Restore it from an earlier export of the state.",
  });
}

export type FleetOutputs = ReturnType<typeof writeFleet>;

/** A database with what programs use that follows from its state. */
export interface SavedMember extends Member {
  readonly connectionUrl?: string | undefined;
  readonly nextRotationAt?: string | undefined;
  /** An `Access`. */
  readonly access?: object | undefined;
}

/** The outputs to save, by name, in the same order whatever the order in the program is. */
export function writeFleet(members: readonly SavedMember[]) {
  const sorted = members.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  // Undefined values are not saved.
  const byName = <T>(valueOf: (member: SavedMember) => T | undefined) =>
    Object.fromEntries(sorted.map((one) => [one.name, valueOf(one)])) as Record<string, T>;
  const inOrder = (times: readonly (string | undefined)[]) => times.filter(isSet).toSorted();
  // By id: another name changes nothing. A database has no facts of its kind.
  const memories = sorted.map(
    ({ subject, state }) =>
      [subject.id, state && { ...state.memory, kindFacts: undefined }] as const,
  );
  return {
    fleet: fleetId,
    states: byName(databaseOf),
    credentials: byName(({ state }): FleetCredentials | undefined => {
      const { otherFields } = state ?? {};
      const values = { ...credentialsIn(state), ...(otherFields && { otherFields }) };
      return Object.keys(values).length > 0 ? values : undefined;
    }),
    connectionUrls: byName(({ connectionUrl }) => connectionUrl),
    encryptedCredentials: byName(({ state }) => state?.encryptedCredentials),
    failed: sorted.flatMap(({ name, error }) => (error === undefined ? [] : name)),
    lastRotated: inOrder(sorted.map(({ state }) => state?.rotatedAt)).at(-1),
    nextRotationAt: inOrder(sorted.map((one) => one.nextRotationAt))[0],
    access: jsonText(byName(({ access }) => access)),
    memory: JSON.stringify(sealed({ databases: Object.fromEntries(memories) })),
  };
}

function databaseOf({ subject, state, error }: Member): FleetDatabase {
  if (!state) return { databaseId: subject.id, outcome: "none", error };
  // Each value of a thousand databases takes time: what is in `access` is not here, nor is an empty list.
  const problems = state.problems?.length === 0 ? undefined : state.problems;
  return {
    databaseId: subject.id,
    outcome: outcomeOf(state),
    adoptedAt: state.adoptedAt,
    rotatedAt: state.rotatedAt,
    problems,
    mustRead: state.memory.current.mustRead,
    error,
  };
}

/** The saved error of a database that was not attempted. */
export const notAttempted =
  "Not attempted: the fleet stopped after too many failures (maxFailures). No reset was sent in this run.";

/** Names in a line; the others are counted. */
const maxNamed = 5;

export function namesInLine(names: readonly string[]): string {
  const more = names.length > maxNamed ? ` and ${names.length - maxNamed} more` : "";
  return `${names.slice(0, maxNamed).join(", ")}${more}`;
}

/** Lines of an error; the databases of the others are counted. */
const maxLines = 20;

/** The error for a fleet with failed databases; undefined if there is none. */
export function fleetFailure(
  states: Readonly<Record<string, FleetDatabase>>,
): RekeyError | undefined {
  const open = Object.entries(states).filter(([, { error }]) => error !== undefined);
  if (open.length === 0) return undefined;
  const failed = open.filter(([, { error }]) => error !== notAttempted);
  // An error that is the same for many databases is one line.
  const errors = [...new Set(failed.map(([, { error = "" }]) => error))].slice(0, maxLines);
  const namesOf = (of: string) => failed.flatMap(([name, { error }]) => (error === of ? name : []));
  const lines = errors.map(
    (error) => `  ${namesInLine(namesOf(error))}: ${error.replaceAll("\n", " ")}`,
  );
  const others = open.length - errors.flatMap(namesOf).length;
  if (others > 0) {
    lines.push(
      `  and ${others} more, which failed or were not attempted: see the output \`failed\``,
    );
  }
  return new RekeyError(
    "REKEY_FLEET_INCOMPLETE",
    `${failed.length} of ${Object.keys(states).length} databases failed:\n${lines.join("\n")}\nAll others are saved. ${outputsAreFormer} Run \`up\` again: it only processes databases that failed, are unknown or were not attempted.`,
    "maybe applied",
  );
}
