import { isDeepStrictEqual } from "node:util";
import { StateError } from "../platform/errors";
import { type Place, type SecretKind } from "../platform/secretKind";
import { type CredentialName, credentialNames, type Credentials, isObject } from "../records/fields";
import { jsonText } from "../records/properties";
import { type SecretResponse } from "../records/response";
import { type Marks, newSalt, saltedMark } from "./marks";

/**
 * What Rekey remembers of one secret. It is saved as one secret output, and whether a reset is due depends on nothing
 * else that is saved. It has salted marks, and never the value of a credential.
 */
export interface Memory {
  readonly salt: string;
  /**
   * Mark of the trigger that the last confirmed reset or the adoption has applied, empty if that was none. Undefined
   * after an import, which does not know the program: the first change adopts the program's trigger.
   */
  readonly applied?: string | undefined;
  /** The reset that was sent and is not confirmed. */
  readonly pending?: Pending | undefined;
  /** The last credentials that are known. A pending reset does not change them. */
  readonly current: Marks;
  /** What confirmed resets have replaced, the newest last: marks of the best credential of each record. */
  readonly former: readonly string[];
  /** What may have been replaced since the last confirmed reset. Until the next one, it may return. */
  readonly maybeFormer: readonly string[];
  /**
   * The name of the best credential of the records that were replaced, in the order of `credentialNames`. A record is
   * judged by the credential with this name, or by a better current one.
   */
  readonly best?: CredentialName | undefined;
  /** From when `rotateEvery` counts: the adoption, or when the last confirmed reset was sent (ISO 8601, UTC). */
  readonly scheduledFrom: string;
  /**
   * For a secret that is rolled: the last roll, confirmed or not, or the read that noticed a roll by someone else.
   */
  readonly rolledAt?: string | undefined;
  /** When the secret was generated; for a pair of keys two entries, that of the next one last. */
  readonly made: readonly Made[];
  /** Where it was reset, adopted or last read. Undefined if the settings were not known. */
  readonly place?: Place | undefined;
  readonly declared: Declared;
  /** The age file that is saved. */
  readonly file?: EncryptedFile | undefined;
}

/** A reset that was sent and is not confirmed. */
interface Pending {
  readonly trigger: string;
  /** What asked for the first of them. */
  readonly reason: ResetReason;
  /** Such resets in a row, with this trigger. */
  readonly count: number;
  /** When the first of them was sent (ISO 8601, UTC), and the `rotatedSince` that it applies. */
  readonly at: string;
  readonly since?: string | undefined;
  /** When the last of them was sent. */
  readonly lastAt: string;
  /** What was current before it. Undefined if no read can show whether it was applied. */
  readonly before?: Marks | undefined;
}

/** What asks for a reset. */
export type ResetReason = "created" | "trigger" | "schedule" | "rotatedSince";

/** When a secret, or one of its keys, was generated, as far as that is known. */
export interface Made {
  readonly at?: string | undefined;
  /** The `rotatedSince` that was applied by generating it. */
  readonly since?: string | undefined;
}

/** What the program says about the outputs. A refresh has no inputs, so it is remembered. */
export interface Declared {
  readonly saveCredentials?: false;
  /** Recipients of age, sorted, each once. */
  readonly encryptFor?: readonly string[];
  readonly connection?: Connection;
  readonly rotateEvery?: string;
}

/** Where, and as which user, clients connect to a database, as a program sets it. */
export interface Connection {
  /** May contain `{endpoint}` and `{id}`. */
  readonly host?: string | undefined;
  readonly port?: number | undefined;
  readonly tls?: boolean | undefined;
  /** May contain `{id}`. Default: `default`. */
  readonly username?: string | undefined;
}

/** An age file: whom it is for, marks of the credentials in it, and a mark of the whole file. */
interface EncryptedFile {
  readonly for: readonly string[];
  readonly has: Marks;
  readonly mark: string;
}

/** Former credentials that are remembered of one secret. */
export const maxFormer = 8;

/** The memory of a secret about which nothing is known yet. */
export function emptyMemory({ kind, now, place }: { kind: SecretKind; now: Date; place?: Place | undefined }): Memory {
  return {
    salt: newSalt(),
    current: {},
    former: [],
    maybeFormer: [],
    scheduledFrom: now.toISOString(),
    made: kind.minInterval === undefined ? [{}] : [{}, {}],
    place,
    declared: {},
  };
}

/** A memory with a mark of itself, which reveals any damage. */
export function sealed(memory: Memory): object {
  return { ...memory, seal: sealOf(memory) };
}

/** A version that remembers something else has another text here, so that an older version refuses the memory. */
function sealOf(memory: Memory): string {
  return saltedMark(memory.salt, `memory 1 ${JSON.stringify(memory)}`);
}

/** @throws StateError if it is damaged, or was written by a newer version: nothing is decided from a part of it */
export function unsealed(saved: unknown): Memory {
  if (isObject(saved) && typeof saved["salt"] === "string") {
    const { seal, ...memory } = saved;
    if (seal === sealOf(memory as unknown as Memory)) return memory as unknown as Memory;
  }
  const advice =
    "Use the version of pulumi-rekey that wrote it, or a newer one, or restore an earlier export of the state.";
  throw new StateError({ output: "memory", reason: "cannot be read", advice });
}

/** The saved form. */
export function writeMemory(memory: Memory): string {
  return JSON.stringify(sealed(memory));
}

/** As `unsealed`, for the saved form. */
export function readMemory(text: unknown): Memory {
  return unsealed(parsed(text));
}

/** A saved JSON text as a value; undefined if it is damaged. */
export function parsed(text: unknown): unknown {
  try {
    return JSON.parse(String(text));
  } catch {
    return undefined;
  }
}

/**
 * A secret as a rotation saves it: what a program can use, and what Rekey remembers in `memory`. Outputs that follow
 * from these are added when it is saved: `outputsOf` and, for a fleet, `writeFleet`.
 */
export interface State extends Credentials {
  /** Time of the last confirmed reset (ISO 8601, UTC). */
  readonly rotatedAt?: string | undefined;
  /** Confirmed resets. */
  readonly rotationCount: number;
  readonly rotationReason?: ResetReason | undefined;
  readonly record?: Readonly<Record<string, unknown>> | undefined;
  readonly exactIntegers?: Readonly<Record<string, string>> | undefined;
  readonly otherFields?: string | undefined;
  readonly problems?: readonly string[] | undefined;
  readonly encryptedCredentials?: string | undefined;
  readonly memory: Memory;
}

/** The outcome of the last reset; `unknown` if it was not confirmed. */
export type Outcome = "reset" | "adopted" | "unknown";

/** What a program is told of the last reset. */
export interface Progress {
  readonly outcome: Outcome;
  /** Time of the adoption, until the first reset (ISO 8601, UTC). */
  readonly adoptedAt?: string | undefined;
}

export function progressOf({ memory, rotatedAt }: State): Progress {
  const outcome = memory.pending ? "unknown" : rotatedAt === undefined ? "adopted" : "reset";
  return { outcome, adoptedAt: outcome === "adopted" ? memory.scheduledFrom : undefined };
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
export function withoutValues(state: State, names: readonly CredentialName[] = credentialNames): State {
  const rest = Object.entries(state).filter(([name]) => !names.includes(name as CredentialName));
  return Object.fromEntries(rest) as unknown as State;
}

/** A state with what a response shows of the record: a field that it leaves out stays. */
export function withRecord(state: State, { record, exactIntegers, otherFields, problems }: SecretResponse): State {
  const exact = Object.entries(state.exactIntegers ?? {}).filter(([name]) => !Object.hasOwn(record, name));
  return {
    ...state,
    record: { ...state.record, ...record },
    exactIntegers: { ...Object.fromEntries(exact), ...exactIntegers },
    otherFields: otherFields ?? state.otherFields,
    problems,
  };
}

/** The state of saved outputs. What follows from a state is made again when it is saved. */
export function stateIn(outputs: Readonly<Record<string, unknown>>, memory = readMemory(outputs["memory"])): State {
  const own = withSavedFile(memory, outputs["encryptedCredentials"]);
  const saved = { ...outputs, memory: own } as unknown as State;
  return { ...withoutValues(saved), ...credentialsIn(saved) };
}

/**
 * A memory without its age file if the state has another file, or none: no credential is in a file that was removed or
 * changed. It counts as not encrypted yet, so that the next `up` does it again.
 */
function withSavedFile(memory: Memory, text: unknown): Memory {
  const { salt, file, declared } = memory;
  if (file === undefined || (typeof text === "string" && saltedMark(salt, text) === file.mark)) return memory;
  const { encryptFor: _for, ...others } = declared;
  return { ...memory, file: undefined, declared: others };
}

/** Compares two values as a saved state has them. */
export function isSame(saved: unknown, read: unknown): boolean {
  const inState = (value: unknown): unknown => JSON.parse(jsonText({ value }));
  return isDeepStrictEqual(inState(saved), inState(read));
}
