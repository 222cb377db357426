import { isDeepStrictEqual } from "node:util";
import {
  type CredentialName,
  credentialNames,
  type Credentials,
  isSet,
} from "../../records/fields";
import { jsonText } from "../../pulumi/values";
import { type SecretResponse } from "../../records/secretResponse";
import { saltedMark } from "./marks";
import {
  type AdminInput,
  type Attempt,
  type Memory,
  type Outcome,
  readMemory,
  type RotationReason,
  type Server,
} from "./memory";

/**
 * A secret as a rotation saves it: what a program can use, and what Rekey remembers in `memory`. Outputs that follow
 * from these are added when it is saved: `outputsOf` and, for a fleet, `writeFleet`.
 */
export interface State extends Credentials {
  /** Time of the adoption, until the first reset (ISO 8601, UTC). */
  readonly adoptedAt?: string | undefined;
  /** Time of the last confirmed rotation (ISO 8601, UTC). */
  readonly rotatedAt?: string | undefined;
  /** Confirmed rotations. */
  readonly rotationCount: number;
  readonly rotationReason?: RotationReason | undefined;
  /** When the rotation itself has retired the former secret, without a Retirement (ISO 8601, UTC). */
  readonly formerRetiredAt?: string | undefined;
  /** Why a rotation that is due waits. */
  readonly waits?: string | undefined;
  readonly record?: Readonly<Record<string, unknown>> | undefined;
  readonly exactIntegers?: Readonly<Record<string, string>> | undefined;
  readonly otherFields?: string | undefined;
  readonly problems?: readonly string[] | undefined;
  readonly encryptedCredentials?: string | undefined;
  /** Of a user: its administrator. It is saved as a part of `access`. */
  readonly admin?: SavedAdmin | undefined;
  readonly memory: Memory;
}

/** A state with an open attempt. */
export interface AttemptedState extends State {
  readonly memory: Memory & { readonly attempt: Attempt };
}

/** An administrator as the program gives it, and its server, as far as it is known. */
interface SavedAdmin {
  readonly given: AdminInput;
  readonly server: Server;
}

export function outcomeOf({ memory, rotatedAt }: State): Outcome {
  const { attempt } = memory;
  if (attempt) return attempt.adds ? "unproven" : "unknown";
  return rotatedAt === undefined ? "adopted" : "reset";
}

/** The credentials with some names, as far as they are known. Those that are not text are damaged. */
export function picked(credentials: Credentials, names: readonly CredentialName[]): Credentials {
  const known = names.filter((name) => typeof credentials[name] === "string");
  return Object.fromEntries(known.map((name) => [name, credentials[name]]));
}

/** The credentials whose values are in a state. */
export function credentialsIn(state: Credentials | undefined): Credentials {
  return picked(state ?? {}, credentialNames);
}

/** A state without the values of some credentials. */
export function withoutValues(
  state: State,
  names: readonly CredentialName[] = credentialNames,
): State {
  const rest = Object.entries(state).filter(([name]) => !names.includes(name as CredentialName));
  return Object.fromEntries(rest) as unknown as State;
}

/** A state with what a response shows of the record: a field that it leaves out stays. */
export function withRecord(
  state: State,
  { record, exactIntegers, otherFields, problems }: SecretResponse,
): State {
  const exact = Object.entries(state.exactIntegers ?? {}).filter(
    ([name]) => !Object.hasOwn(record, name),
  );
  return {
    ...state,
    // Spreading both into one object takes six times as long.
    record: Object.assign({}, state.record, record),
    exactIntegers: { ...Object.fromEntries(exact), ...exactIntegers },
    otherFields: otherFields ?? state.otherFields,
    problems,
  };
}

/** A state with an administrator, and its server in place of the one before. */
export function withAdmin(state: State, admin: SavedAdmin | undefined): State {
  if (admin === undefined) return state;
  const { memory } = state;
  const kindFacts = { ...memory.kindFacts, server: admin.server };
  return { ...state, admin, memory: { ...memory, kindFacts } };
}

/** The saved outputs that are not made from something else. */
const stateFields = [
  "adoptedAt",
  "rotatedAt",
  "rotationCount",
  "rotationReason",
  "formerRetiredAt",
  "waits",
  "record",
  "exactIntegers",
  "otherFields",
  "problems",
  "encryptedCredentials",
] as const satisfies readonly (keyof State)[];

/** The state of saved outputs. What follows from a state is made again when it is saved. */
export function stateIn(
  outputs: Readonly<Record<string, unknown>>,
  memory = readMemory(outputs["memory"]),
): State {
  const saved = outputs as unknown as State;
  const fields = stateFields.flatMap((name) => (isSet(saved[name]) ? [[name, saved[name]]] : []));
  return {
    ...(Object.fromEntries(fields) as unknown as State),
    ...credentialsIn(saved),
    memory: withSavedFile(memory, outputs["encryptedCredentials"]),
  };
}

/** A memory without its age file if the state has a different one or none: that is not a copy of the credentials. */
function withSavedFile(memory: Memory, text: unknown): Memory {
  const { salt, current } = memory;
  const { file, form } = current;
  if (file === undefined || (typeof text === "string" && saltedMark(salt, text) === file.mark)) {
    return memory;
  }
  const { encryptFor: _lost, ...others } = form ?? {};
  return { ...memory, current: { ...current, file: undefined, form: others } };
}

/** Compares two values as a saved state has them. */
export function isSame(saved: unknown, read: unknown): boolean {
  const inState = (value: unknown): unknown => JSON.parse(jsonText({ value }));
  return isDeepStrictEqual(inState(saved), inState(read));
}
