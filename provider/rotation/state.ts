import { isDeepStrictEqual } from "node:util";
import { type ClientEndpoint } from "../domain/endpoint";
import { StateError } from "../domain/errors";
import {
  type CredentialName,
  credentialNames,
  type Credentials,
  isObject,
  isSet,
} from "../records/fields";
import { jsonText } from "../pulumi/values";
import { type SecretResponse } from "../records/response";
import { type Marks, newSalt, saltedMark } from "./marks";
import { type AdminInput, type UserMemory } from "./userMemory";

/**
 * What Rekey remembers of one secret. It is saved as one secret output, and whether a reset is due depends on nothing
 * else that is saved. It has salted marks, and never the value of a credential.
 */
export interface Memory {
  readonly salt: string;
  /**
   * Mark of the trigger that the last confirmed reset or the adoption has applied, empty if that was none. Undefined
   * after an import, which does not know the program: the first `up` adopts the program's trigger.
   */
  readonly applied?: string | undefined;
  /** The reset that was sent and is not confirmed. */
  readonly pending?: PendingReset | undefined;
  /**
   * The credential by which records are compared: the first of its kind's `identities` that a record has shown. Only a
   * confirmed reset changes it. Undefined until a record shows one.
   */
  readonly identity?: CredentialName | undefined;
  /** The last credentials that are known: a pending reset may have replaced them. */
  readonly current: Marks;
  /**
   * Marks of what was replaced, and of what the pending reset is to replace, the newest last. A record that shows one
   * of them is older than what is current.
   */
  readonly former: readonly string[];
  /**
   * What the last reset has replaced, or the pending one is to replace; after a change by someone else, what that has
   * replaced. Undefined if it was not known. A verification tries it.
   */
  readonly replaced?: KnownCredential | undefined;
  /** Whether the credentials of the last reset are still to be read: its response did not contain them. */
  readonly isUnread?: true | undefined;
  /**
   * When the secret was generated, as far as known (ISO 8601, UTC): its last confirmed reset, or the creation of what
   * has it. At least as late as the `rotatedSince` for which it was reset. Of signing keys, that of the current key.
   */
  readonly generatedAt?: string | undefined;
  /** From when `rotateEvery` counts: the adoption, or the last of the resets that led to the confirmed one. */
  readonly scheduledFrom: string;
  /** How the current credentials are saved. Undefined after an import. */
  readonly form?: Form | undefined;
  /** Where clients connect, and the schedule, as the program has them: a refresh has no inputs. */
  readonly connection?: Connection | undefined;
  /** Of a queue user. */
  readonly queueUrl?: string | undefined;
  readonly rotateEvery?: string | undefined;
  /** The age file that is saved. */
  readonly file?: AgeFile | undefined;
  /** Two are valid: the current one and, until it is retired, the former one. Undefined if only one is valid. */
  readonly overlap?: Overlap | undefined;
  /** What was made valid in addition to the current one, and could not be proven: it was never handed out. */
  readonly added?: Addition | undefined;
  /** What is remembered of signing keys only. */
  readonly keys?: KeyMemory | undefined;
  /** What is remembered of Redis users only. */
  readonly user?: UserMemory | undefined;
}

/** A reset that was sent and is not confirmed. */
export interface PendingReset {
  readonly trigger: string;
  /** What asked for the first of them. */
  readonly reason: ResetReason;
  /** Such resets in a row with this trigger, or the limit, if no other one is sent without a new version. */
  readonly count: number;
  /** When the first and the last of them were sent (ISO 8601, UTC), at least as late as their `rotatedSince`. */
  readonly firstSentAt: string;
  readonly lastSentAt: string;
  /** Whether a read has shown what was current before the last one, so that another read can settle it. */
  readonly canSettle?: true | undefined;
}

/** A former secret that stays valid until it is retired. */
export interface Overlap {
  /** When the current one was saved as such (ISO 8601, UTC). */
  readonly since: string;
  /** For how long, as the program has it: `verified`, `none`, or a duration. */
  readonly lasts: string;
  /** Whether a date has asked for the replacement of the former one, which must not stay valid. */
  readonly isUrgent?: true | undefined;
  /**
   * What retires the former one, SHA-256 in hexadecimal digits: for a queue token, that of the current one, which a
   * roll makes the only one; for a user, those of its former passwords, which are removed.
   */
  readonly hashes: readonly string[];
  /** When the former one was generated, as far as known (ISO 8601, UTC). */
  readonly formerGeneratedAt?: string | undefined;
}

/** A rotation that is due again, because the secret that it added was not proven. */
export interface Addition {
  readonly reason: ResetReason;
  readonly trigger: string;
  /** Of a password, its SHA-256 in hexadecimal digits, by which it is removed. */
  readonly hash?: string | undefined;
  /** Of a token, whether it existed before the rotation. */
  readonly isOfUnknownAge?: true | undefined;
}

/** What asks for a reset. */
export type ResetReason = "created" | "trigger" | "schedule" | "rotatedSince";

/** A credential that is known by its mark, and its user, as the program sets it: it may contain `{id}`. */
export interface KnownCredential {
  readonly name: CredentialName;
  readonly mark: string;
  readonly username?: string | undefined;
}

/** In which form credentials are saved: in the state, in an age file, in both, or not at all. */
export interface Form {
  readonly saveCredentials?: false;
  /** Recipients of age, sorted, each once. */
  readonly encryptFor?: readonly string[];
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

/** The marks of what is in an age file, and of the file itself: one that was replaced or removed is not a copy. */
interface AgeFile {
  readonly has: readonly string[];
  readonly mark: string;
}

/** Pairs of signing keys are rolled: the next key becomes the current one. */
export interface KeyMemory {
  /** The last roll, confirmed or not, or the read that noticed a roll by someone else (ISO 8601, UTC). */
  readonly rolledAt?: string | undefined;
  /** When the next key was generated, as far as known (ISO 8601, UTC). */
  readonly nextGeneratedAt?: string | undefined;
  /** A mark of the account that they belong to, and its address, which messages name. */
  readonly account?: string | undefined;
  readonly address?: string | undefined;
}

/** Old credentials of one secret that are remembered. */
const maxFormer = 12;

/** The marks of old credentials with some more: the newest ones, each once, without those that are current. */
export function withFormer({ former }: Memory, marks: readonly string[], current: Marks): string[] {
  const all = [...new Set([...former, ...marks].toReversed())].toReversed();
  return all.filter((mark) => !Object.values(current).includes(mark)).slice(-maxFormer);
}

/** The memory of a secret about which nothing is known yet. */
export function emptyMemory(now: Date): Memory {
  return { salt: newSalt(), current: {}, former: [], scheduledFrom: now.toISOString() };
}

/** A memory with a mark of itself, which reveals any damage. */
export function sealed(memory: Memory): object {
  return { ...memory, seal: sealOf(memory) };
}

/** A version that remembers something else has another text here, so that an older version refuses the memory. */
function sealOf(memory: Memory): string {
  return saltedMark(memory.salt, `memory 3 ${JSON.stringify(memory)}`);
}

/** @throws StateError if it is damaged, or was written by another version: nothing is decided from a part of it */
export function unsealed(saved: unknown): Memory {
  if (isObject(saved) && typeof saved["salt"] === "string") {
    const { seal, ...memory } = saved;
    if (seal === sealOf(memory as unknown as Memory)) return memory as unknown as Memory;
  }
  const reason =
    "cannot be read: another version of pulumi-rekey has written it, or the state is damaged";
  const advice = "Use the version that wrote it, or restore an earlier export of the state.";
  throw new StateError({ output: "memory", reason, advice });
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
  /** When the rotation itself has retired the former secret, without a verification (ISO 8601, UTC). */
  readonly formerRetiredAt?: string | undefined;
  readonly record?: Readonly<Record<string, unknown>> | undefined;
  readonly exactIntegers?: Readonly<Record<string, string>> | undefined;
  readonly otherFields?: string | undefined;
  readonly problems?: readonly string[] | undefined;
  readonly encryptedCredentials?: string | undefined;
  /** Of a Redis user: its administrator. It is saved as a part of `access`. */
  readonly admin?: { readonly given: AdminInput; readonly endpoint?: ClientEndpoint | undefined };
  readonly memory: Memory;
}

/** The outcome of the last reset; `unknown` if it was not confirmed. */
export type Outcome = "reset" | "adopted" | "unknown";

/** What the outputs show of the last reset. */
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
    record: { ...state.record, ...record },
    exactIntegers: { ...Object.fromEntries(exact), ...exactIntegers },
    otherFields: otherFields ?? state.otherFields,
    problems,
  };
}

/** What of the saved outputs is not made from something else. */
const stateFields = [
  "rotatedAt",
  "rotationCount",
  "rotationReason",
  "formerRetiredAt",
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

/** A state whose credentials are, or will be, saved in a form. */
export function withForm(state: State, form: Form | undefined): State {
  return { ...state, memory: { ...state.memory, form } };
}

/** A memory without its age file if the state has a different one or none: that is not a copy of the credentials. */
function withSavedFile(memory: Memory, text: unknown): Memory {
  const { salt, file, form } = memory;
  if (file === undefined || (typeof text === "string" && saltedMark(salt, text) === file.mark)) {
    return memory;
  }
  const { encryptFor: _lost, ...others } = form ?? {};
  return { ...memory, file: undefined, form: others };
}

/** Compares two values as a saved state has them. */
export function isSame(saved: unknown, read: unknown): boolean {
  const inState = (value: unknown): unknown => JSON.parse(jsonText({ value }));
  return isDeepStrictEqual(inState(saved), inState(read));
}
