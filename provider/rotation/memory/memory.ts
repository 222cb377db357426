import { type ClientEndpoint } from "../../domain/endpoint";
import { StateError } from "../../domain/errors";
import { type CredentialName, isObject } from "../../records/fields";
import { type Marks, newSalt, saltedMark } from "./marks";

/**
 * What Rekey remembers of one secret. It is saved as one secret output, and whether a rotation is due depends on
 * nothing else that is saved. It has salted marks, and never the value of a credential. All names here are saved.
 */
export interface Memory {
  readonly salt: string;
  /**
   * Mark of the trigger that the last rotation or the adoption has applied, empty if that was none. Undefined after an
   * import, which does not know the program: the first `up` adopts the program's trigger.
   */
  readonly applied?: string | undefined;
  /** What was sent, or made valid, and is not known to be the current one. */
  readonly attempt?: Attempt | undefined;
  /** The last credentials that are known. */
  readonly current: Current;
  /** Marks of replaced credentials, the newest last. A record that shows one of them is older than the current one. */
  readonly past: readonly string[];
  /**
   * What the current one has replaced, the newest last: those that are still valid, and the last one that is known,
   * which a verification tries.
   */
  readonly formers: readonly Former[];
  /** From when `rotateEvery` counts (ISO 8601, UTC): the adoption, or the last request of the last rotation. */
  readonly scheduledFrom: string;
  /** Where clients connect, and the schedule, as the program has them: a refresh has no inputs. */
  readonly program: SavedProgram;
  /** What only one source of secrets needs. */
  readonly kindFacts: KeyMemory & UserMemory;
}

/** What is known of the current credentials. A hand-over replaces all of it. */
export interface Current {
  readonly marks: Marks;
  /** The credential by which records are compared. Undefined until one is known. */
  readonly identity?: CredentialName | undefined;
  /**
   * When they were generated, as far as known (ISO 8601, UTC). At least as late as the `rotatedSince` for which they
   * were. Of signing keys, that of the current key.
   */
  readonly generatedAt?: string | undefined;
  /** How they are saved. Undefined after an import. */
  readonly form?: Form | undefined;
  /** The age file that is saved. */
  readonly file?: AgeFile | undefined;
  /** Whether the next `up` must read: a response did not contain them, or a refresh found that they are not valid. */
  readonly mustRead?: true | undefined;
}

/** A rotation whose result is not known to be the current one. */
export interface Attempt {
  /** Mark of the trigger; empty if there was none. */
  readonly trigger: string;
  /** What asked for the first one. */
  readonly reason: RotationReason;
  /** Attempts in a row with this trigger, or the limit, if no other one is made without a new version. */
  readonly count: number;
  /** When the first and the last of them were sent (ISO 8601, UTC), at least as late as their `rotatedSince`. */
  readonly firstSentAt: string;
  readonly lastSentAt: string;
  /** Whether it only adds: the current one stays valid, and what was added is not proven. Default: it replaces. */
  readonly adds?: true | undefined;
  /** What a read shows if it was applied, if that is known: the mark of a token or key, or the hash of a password. */
  readonly expects?: string | undefined;
  /** Whether a read has shown what was current before the last one, so that another read can settle it. */
  readonly canSettle?: true | undefined;
  /** Whether the token that it added existed before. */
  readonly isOfUnknownAge?: true | undefined;
}

/** What asks for a rotation. */
export type RotationReason = "created" | "trigger" | "schedule" | "rotatedSince";

/** The outcome of the last rotation; `unknown` or `unproven` if its result may not be the current one. */
export type Outcome = "reset" | "adopted" | "unknown" | "unproven";

/** A credential that the current one has replaced. */
export interface Former {
  /** Undefined if it is not known. */
  readonly credential?: KnownCredential | undefined;
  /**
   * By what it is retired, while it is valid, as SHA-256 in hexadecimal digits: of a token, that of the current one,
   * which a roll makes the only one; of a password, its own. Undefined if it is not valid, or if nothing retires it.
   */
  readonly retireHash?: string | undefined;
  /** When it was replaced (ISO 8601, UTC). */
  readonly since: string;
  /** For how long it is valid from then on: `retirement`, `none`, `next up`, or a duration. */
  readonly validFor: string;
  /** When it was generated, as far as known (ISO 8601, UTC). */
  readonly generatedAt?: string | undefined;
  /** Whether it was retired, and is valid again. */
  readonly isValidAgain?: true | undefined;
}

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

/** The marks of what is in an age file, and of the file itself: one that was replaced or removed is not a copy. */
interface AgeFile {
  readonly has: readonly string[];
  readonly mark: string;
}

/** What is remembered of signing keys only. */
export interface KeyMemory {
  /** When the next key was generated, as far as known (ISO 8601, UTC). */
  readonly nextGeneratedAt?: string | undefined;
  /** A mark of the account that they belong to, and its address, which messages name. */
  readonly account?: string | undefined;
  readonly address?: string | undefined;
}

/** What is remembered of Redis users only. */
export interface UserMemory {
  readonly server?: Server | undefined;
  /** By which the server lists the current password; undefined until one was added, or if that is not certain. */
  readonly hash?: string | undefined;
  /** The hashes that were retired last, the newest last: one that is listed again is retired again. */
  readonly retired?: readonly string[] | undefined;
  /** Whether the server has failed to save the last change of its users, which its restart would undo. */
  readonly isUnsaved?: true | undefined;
  /** How many passwords the user had when it was adopted, until its first rotation. */
  readonly passwordCount?: number | undefined;
  /** How the hashes begin that the last read has listed and Rekey does not know. */
  readonly unknown?: readonly string[] | undefined;
}

/** What is known of the server of a user. */
export interface Server {
  /** Its id, if it is a database of the platform. */
  readonly id?: string | undefined;
  /** Where its administrator connects. */
  readonly endpoint?: ClientEndpoint | undefined;
}

/** Old credentials of one secret that are remembered. */
export const maxPast = 12;

/** The marks of old credentials with some more: the newest ones, each once, without those that are current. */
export function withPast({ past }: Memory, marks: readonly string[], current: Marks): string[] {
  const all = [...new Set([...past, ...marks].toReversed())].toReversed();
  return all.filter((mark) => !Object.values(current).includes(mark)).slice(-maxPast);
}

/** The hashes that were retired last, with some more: one that is listed again is retired again. */
export function withRetired({ retired = [] }: UserMemory, hashes: readonly string[]): string[] {
  return [...retired, ...hashes].slice(-maxPast);
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

/** What is remembered, with a mark of all of it, which reveals any damage. */
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
