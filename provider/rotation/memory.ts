import { StateError } from "../platform/errors";
import { type Place } from "../platform/secretKind";
import { type CredentialName, credentialNames, type Credentials } from "../records/credentials";
import { isObject } from "../records/fields";
import { type Connection } from "./endpoint";
import { newSalt, saltedMark } from "./mark";
import { isInterval, isWholeTime } from "./schedule";

/**
 * What Rekey remembers of one secret. It is saved as one secret output, and all decisions depend on it alone. It has
 * salted marks, and never the value of a credential.
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
  readonly current: Marks;
  /** What confirmed resets have replaced, the newest last: marks of the best credential of each record. */
  readonly former: readonly string[];
  /** What someone else has replaced since the last confirmed reset. It may return. */
  readonly replaced: readonly string[];
  /** The best credential by which any of these is marked. Records are judged by it. */
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

/** An age file: whom it is for, and marks of the credentials in it. */
export interface EncryptedFile {
  readonly for: readonly string[];
  readonly has: Marks;
}

/** Former credentials that are remembered of one secret. */
export const maxFormer = 8;

/** What is known of a secret before anything was sent. */
export function emptyMemory(keys: number, now: Date): Memory {
  return {
    salt: newSalt(),
    current: {},
    former: [],
    replaced: [],
    rotatedAt: now.toISOString(),
    made: Array.from({ length: keys }, () => ({})),
    declared: {},
  };
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

/** The saved form. */
export function writeMemory(memory: Memory): string {
  return JSON.stringify(memory);
}

/** @throws StateError if it is damaged, or was written by a newer version: nothing is decided from a part of it */
export function readMemory(text: unknown): Memory {
  return asMemory(parsed(text));
}

/** A saved JSON text as a value; undefined if it is damaged. */
export function parsed(text: unknown): unknown {
  try {
    return JSON.parse(String(text));
  } catch {
    return undefined;
  }
}

/** As `readMemory`, for a value that is parsed. */
export function asMemory(memory: unknown): Memory {
  if (isMemory(memory)) return memory;
  const advice =
    "Use the version of pulumi-rekey that wrote it, or a newer one, or restore an earlier export of the state.";
  throw new StateError({ output: "memory", reason: "cannot be read", advice });
}

const isText = (value: unknown): boolean => typeof value === "string";
const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every(isText);
const isMarks = (value: unknown): boolean => isObject(value) && Object.values(value).every(isText);
const isTime = isWholeTime;
const isMade = (value: unknown): boolean => isObject(value) && [value["at"], value["since"]].every(optional(isTime));
const isPending = (value: unknown): boolean =>
  isObject(value) &&
  isText(value["trigger"]) &&
  isText(value["reason"]) &&
  Number.isSafeInteger(value["count"]) &&
  Number(value["count"]) > 0 &&
  isTime(value["at"]) &&
  optional(isTime)(value["since"]) &&
  optional(isMarks)(value["before"]);
const isFile = (value: unknown): boolean => isObject(value) && isTexts(value["for"]) && isMarks(value["has"]);

/** An interval that cannot be read would end a refresh, and no plan could be made. */
function isDeclared(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { saveCredentials, encryptFor, connection, rotateEvery } = value;
  return [
    saveCredentials === undefined || saveCredentials === false,
    optional(isTexts)(encryptFor),
    optional(isObject)(connection),
    optional((written) => typeof written === "string" && isInterval(written))(rotateEvery),
  ].every(Boolean);
}

/** How each field is recognized. A time that is cut off could be read as an earlier one, and so cause a reset. */
const fields: Readonly<Record<keyof Memory, (value: unknown) => boolean>> = {
  salt: (value) => typeof value === "string" && /^[\w-]{22}$/.test(value),
  applied: optional(isText),
  pending: optional(isPending),
  current: isMarks,
  former: isTexts,
  replaced: isTexts,
  best: optional((value) => credentialNames.some((name) => name === value)),
  rotatedAt: isTime,
  rolledAt: optional(isTime),
  made: (value) => Array.isArray(value) && value.length > 0 && value.every(isMade),
  place: optional((value) => isObject(value) && isText(value["account"]) && optional(isText)(value["address"])),
  declared: isDeclared,
  file: optional(isFile),
};

function optional(is: (value: unknown) => boolean): (value: unknown) => boolean {
  return (value) => value === undefined || is(value);
}

function isMemory(value: unknown): value is Memory {
  return (
    isObject(value) &&
    Object.entries(fields).every(([name, is]) => is(value[name])) &&
    Object.keys(value).every((name) => Object.hasOwn(fields, name))
  );
}
