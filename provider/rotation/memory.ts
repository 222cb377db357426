import { createHmac, randomBytes } from "node:crypto";
import { StateError } from "../platform/errors";
import { type Place, type SecretKind } from "../platform/secretKind";
import { type CredentialName, credentialNames, type Credentials, isObject } from "../records/fields";

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
  /** What someone else has replaced since the last confirmed reset. It may return. */
  readonly replacedByOthers: readonly string[];
  /**
   * The best credential of the records that were replaced, in the order of `credentialNames`. A record is judged by it,
   * or by a better current one.
   */
  readonly best?: CredentialName | undefined;
  /** The last confirmed reset or the adoption, from which `rotateEvery` counts (ISO 8601, UTC). */
  readonly rotatedAt: string;
  /**
   * For a secret that is rolled: the last roll, also one that is not confirmed, or the read that noticed another one.
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
  /** Mark of its trigger. */
  readonly trigger: string;
  /** What asked for the first of them. */
  readonly reason: ResetReason;
  /** Such resets in a row, with this trigger. */
  readonly count: number;
  /** When the first of them was sent (ISO 8601, UTC), and the `rotatedSince` that it applies. */
  readonly at: string;
  readonly since?: string | undefined;
  /** What was current before it. Undefined if no read can show whether it was applied. */
  readonly before?: Marks | undefined;
}

/** What asks for a reset. */
export type ResetReason = "created" | "trigger" | "schedule" | "rotatedSince";

/** Marks of the credentials of one record. Empty for one that is known to exist, but not which it is. */
export type Marks = Readonly<Partial<Record<CredentialName, string>>>;

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

/** An age file: whom it is for, and marks of the credentials in it. */
interface EncryptedFile {
  readonly for: readonly string[];
  readonly has: Marks;
}

/** Former credentials that are remembered of one secret. */
export const maxFormer = 8;

/** The memory of a secret of which nothing is known yet. */
export function emptyMemory({ kind, now, place }: { kind: SecretKind; now: Date; place?: Place | undefined }): Memory {
  return {
    salt: newSalt(),
    current: {},
    former: [],
    replacedByOthers: [],
    rotatedAt: now.toISOString(),
    made: kind.minInterval === undefined ? [{}] : [{}, {}],
    place,
    declared: {},
  };
}

/** Marks with the same salt can be compared. */
export function newSalt(): string {
  return randomBytes(16).toString("base64url");
}

/** 96 bits of an HMAC-SHA256: a version may be a short secret, which a plain hash would reveal. */
export function saltedMark(salt: string, text: string): string {
  const mac = createHmac("sha256", Buffer.from(salt, "base64url")).update(text).digest();
  return mac.subarray(0, 12).toString("base64url");
}

export function marksOf(memory: Pick<Memory, "salt">, credentials: Credentials): Marks {
  const marked = credentialNames.flatMap((name) => {
    const value = credentials[name];
    return value === undefined ? [] : [[name, saltedMark(memory.salt, value)] as const];
  });
  return Object.fromEntries(marked);
}

/** The credentials that are known to exist, but not which they are. */
export function missingIn({ current }: Pick<Memory, "current">): CredentialName[] {
  return credentialNames.filter((name) => current[name] === "");
}

/** The credentials that are known to exist, and which they are. */
export function knownIn(marks: Marks): CredentialName[] {
  return credentialNames.filter((name) => marks[name]);
}

/** Marks for credentials of which only the names are known. */
export function unknownMarks(names: readonly string[]): Marks {
  return Object.fromEntries(names.map((name) => [name, ""]));
}

export function onlyKnown(marks: Marks): Marks {
  return Object.fromEntries(knownIn(marks).map((name) => [name, marks[name]]));
}

/** The best credential of a record, by which it is judged. The next key is not yet one that could be former. */
export function bestOf(record: Credentials | Marks): CredentialName | undefined {
  return credentialNames.find((name) => name !== "nextKey" && record[name] !== undefined);
}

/** The mark of the best known credential of a record, in a list; empty if there is none. */
export function bestMark(record: Marks = {}): string[] {
  const best = bestOf(onlyKnown(record));
  return best === undefined ? [] : [record[best] ?? ""];
}

/** The better one of two credentials. */
export function better(a: CredentialName | undefined, b: CredentialName | undefined): CredentialName | undefined {
  return credentialNames.find((name) => name === a || name === b);
}

/** A memory with its own mark, by which any damage of it is noticed. */
export function sealed(memory: Memory): object {
  return { ...memory, seal: sealOf(memory) };
}

/** A version that remembers something else has another text here: an older one then refuses, and decides nothing. */
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
