import { type ClientEndpoint } from "../../domain/endpoint";
import { StateError } from "../../domain/errors";
import { type CredentialName, isObject } from "../../records/fields";
import { type Marks, newSalt, saltedMark } from "./marks";

/**
 * All that Rekey remembers of one secret. It is saved as one secret output, and whether a rotation is due depends on
 * nothing else that is saved. It has salted marks, and never the value of a credential. All names here are saved.
 *
 * `adopted` makes the first memory of a secret, and `beforeFirst` that of a user at another server. After that, only
 * the functions that are named here write a field.
 */
export interface Memory {
  /** Written once. */
  readonly salt: string;
  /**
   * Mark of the trigger that the last rotation or the adoption has applied, empty if that was none. Undefined after an
   * import, which does not know the program: the first `up` adopts the program's trigger (`withProgram`).
   * Written by `handOver`; before the first one, `beforeFirst` makes it empty.
   */
  readonly applied?: string | undefined;
  /**
   * The rotation whose outcome is not known yet. `withAttempt` begins it, `withAttemptFacts` adds what else is known,
   * and `withCurrent` ends it.
   */
  readonly attempt?: Attempt | undefined;
  /** The last credentials that are known. Replaced by `withCurrent`; its fields name who else writes them. */
  readonly current: Current;
  /**
   * Marks of replaced credentials, the newest last. A record that shows one of them is older than the current one.
   * Written by `withAttempt` and `withCurrent`.
   */
  readonly past: readonly string[];
  /**
   * The former ones, the newest last: those that are still valid, and the last one, which a verification tries.
   * Replaced by `withCurrent`; `onlyValid` ends some, and `withOverlapOf` changes for how long they are valid.
   */
  readonly formers: readonly Former[];
  /**
   * From when `rotateEvery` counts (ISO 8601, UTC): the adoption, or the last request of the last rotation. Written by
   * `handOver`, and after a roll by someone else.
   */
  readonly scheduledFrom: string;
  /**
   * Where clients connect, and the schedule, as the program has them: a refresh has no inputs. `withProgram` writes it.
   */
  readonly program: SavedProgram;
  /**
   * Facts that only one kind of secret needs. Each step of the lifecycle writes what its source has returned; of keys,
   * also a read of another account or of a roll by someone else.
   */
  readonly kindFacts: KeyMemory & UserMemory;
}

/** Facts about the current credentials. A hand-over replaces all of them. */
export interface Current {
  /** A read of the same secret (`afterSame`) adds what was not known. */
  readonly marks: Marks;
  /** The credential by which records are compared. Undefined until a read has shown one (`withAttempt`). */
  readonly identity?: CredentialName | undefined;
  /**
   * When they were generated, as far as known (ISO 8601, UTC), and never earlier than the `rotatedSince` that caused
   * the rotation. Of signing keys, that of the current key. Of an adopted secret, a read may write it.
   */
  readonly generatedAt?: string | undefined;
  /** How they are saved. Undefined after an import, until `withProgram`; empty if `save` could not encrypt them. */
  readonly form?: Form | undefined;
  /** The age file that is saved. Written by `save`. */
  readonly file?: AgeFile | undefined;
  /**
   * The next `up` must read: a response did not contain them, or a refresh found that they are not valid. Also written
   * by `withMustRead`.
   */
  readonly mustRead?: true | undefined;
}

/** A rotation whose result is not known to be the current one. */
export interface Attempt {
  /** Mark of the trigger; empty if there was none. */
  readonly trigger: string;
  /** The reason of the first one. */
  readonly reason: RotationReason;
  /** Attempts in a row with this trigger, or the limit, if no other one is made without a new version. */
  readonly count: number;
  /** When the first and the last of them were sent (ISO 8601, UTC), at least as late as their `rotatedSince`. */
  readonly firstSentAt: string;
  readonly lastSentAt: string;
  /** It only adds: the current one stays valid, and what was added is not proven. Default: it replaces. */
  readonly adds?: true | undefined;
  /** The mark of the token or key, or the hash of the password, that a read shows if it was applied, if known. */
  readonly expects?: string | undefined;
  /** A read has shown what was current before the last one, so that another read can settle it. */
  readonly canSettle?: true | undefined;
  /** The token that it added existed before. */
  readonly isOfUnknownAge?: true | undefined;
}

/** The reason of a rotation. */
export type RotationReason = "created" | "trigger" | "schedule" | "rotatedSince";

/** The outcome of the last rotation; `unknown` or `unproven` if its result may not be the current one. */
export type Outcome = "reset" | "adopted" | "unknown" | "unproven";

/** A credential that the current one has replaced. */
export interface Former {
  /** Undefined if it is not known. */
  readonly credential?: KnownCredential | undefined;
  /**
   * The hash that retires it, while it is valid, as SHA-256 in hexadecimal digits: of a token, that of the current one,
   * which a roll makes the only one; of a password, its own. Undefined if it is not valid, or if nothing retires it.
   */
  readonly retireHash?: string | undefined;
  /** When it was replaced (ISO 8601, UTC). */
  readonly since: string;
  /** For how long it is valid from then on: `retirement`, `none`, `next up`, or a duration. */
  readonly validFor: string;
  /** When it was generated, as far as known (ISO 8601, UTC). */
  readonly generatedAt?: string | undefined;
  /** It was retired, and is valid again. */
  readonly isValidAgain?: true | undefined;
}

/** A credential that is known by its mark, and its user, as the program or its kind has it: it may contain `{id}`. */
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

/** The inputs that are saved: for a refresh, which has none, and to see their change. */
export interface SavedProgram {
  readonly connection?: Connection | undefined;
  /** Of a queue user: the address of the queue of its region. */
  readonly queueUrl?: string | undefined;
  readonly rotateEvery?: string | undefined;
  /** Of a user: a mark of its administrator as the program gives it. */
  readonly admin?: string | undefined;
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

/** An administrator as a program gives it: the output `access` of the rotation of its password, or its values. */
export type AdminInput = string | AdminValues;

export interface AdminValues {
  readonly host: string;
  readonly port: number;
  /** Default: true. */
  readonly tls?: boolean | null | undefined;
  /** Default: the user `default`. */
  readonly username?: string | null | undefined;
  readonly password: string;
}

/** The marks of what is in an age file, and of the file itself: one that was replaced or removed is not a copy. */
interface AgeFile {
  readonly has: readonly string[];
  readonly mark: string;
}

/** Facts about signing keys. */
export interface KeyMemory {
  /** When the next key was generated, as far as known (ISO 8601, UTC). */
  readonly nextGeneratedAt?: string | undefined;
  /** A mark of the account that they belong to, and its address, which messages name. */
  readonly account?: string | undefined;
  readonly address?: string | undefined;
}

/** Facts about Redis users. */
export interface UserMemory {
  readonly server?: Server | undefined;
  /** By which the server lists the current password; undefined until one was added, or if that is not certain. */
  readonly hash?: string | undefined;
  /** The hashes that were retired last, the newest last: one that is listed again is retired again. */
  readonly retired?: readonly string[] | undefined;
  /** The server has failed to save the last change of its users, which its restart would undo. */
  readonly isUnsaved?: true | undefined;
  /** How many passwords the user had when it was adopted, until its first rotation. */
  readonly passwordCount?: number | undefined;
  /** How the hashes begin that the last read has listed and Rekey does not know. */
  readonly unknown?: readonly string[] | undefined;
}

/** The server of a user, as far as it is known. */
export interface Server {
  /** Its id, if it is a database of the platform. */
  readonly id?: string | undefined;
  /** Where its administrator connects. */
  readonly endpoint?: ClientEndpoint | undefined;
}

/** Old credentials of one secret that are remembered. */
const maxPast = 12;

/** The marks of old credentials with some more: the newest ones, each once, without those that are current. */
export function withPast({ past }: Memory, marks: readonly string[], current: Marks): string[] {
  const all = [...new Set([...past, ...marks].toReversed())].toReversed();
  return all.filter((mark) => !Object.values(current).includes(mark)).slice(-maxPast);
}

/** The hashes that were retired last, with some more: one that is listed again is retired again. */
export function withRetired({ retired = [] }: UserMemory, hashes: readonly string[]): string[] {
  return [...retired, ...hashes].slice(-maxPast);
}

/** The memory of which the next `up` must read the secret, or need not. */
export function withMustRead(memory: Memory, mustRead: boolean): Memory {
  return { ...memory, current: { ...memory.current, mustRead: mustRead || undefined } };
}

/** The memory of a secret about which nothing is known yet. */
export function emptyMemory(now: Date): Memory {
  return {
    salt: newSalt(),
    current: { marks: {} },
    past: [],
    formers: [],
    scheduledFrom: now.toISOString(),
    program: {},
    kindFacts: {},
  };
}

/** The remembered facts, with a mark of all of them, which reveals any damage. */
export function sealed(remembered: object): object {
  return { ...remembered, seal: sealOf(remembered) };
}

/** A version that remembers something else has another text here, so that an older version refuses the memory. */
function sealOf(remembered: object): string {
  return saltedMark("memory 9", JSON.stringify(remembered));
}

/** @throws StateError if it is damaged, or was written by another version: nothing is decided from a part of it */
export function unsealed<T = Memory>(saved: unknown): T {
  if (isObject(saved)) {
    const { seal, ...remembered } = saved;
    if (seal === sealOf(remembered)) return remembered as T;
  }
  const reason =
    "cannot be read: another version of pulumi-rekey has written it, or the state is damaged";
  const advice =
    "Use the version that wrote it, or restore an earlier export of the state. Otherwise, take the resource out of the state (`pulumi state delete`) and adopt the secret again with `initialRotation: false`; rotate a user, whose password no read shows; a new trigger turns.";
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
