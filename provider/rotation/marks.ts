import { createHmac, randomUUID } from "node:crypto";
import { type CredentialName, credentialNames, type Credentials } from "../records/fields";

/** Marks of the credentials of one record. The mark of one that exists, but whose value is not known, is empty. */
export type Marks = Readonly<Partial<Record<CredentialName, string>>>;

/** The inputs whose change requests one more reset. */
export interface Trigger {
  readonly version?: Scalar | null | undefined;
  readonly triggers?: Readonly<Record<string, Scalar | null | undefined>> | null | undefined;
}

type Scalar = string | number | boolean;

/** The canonical form of a trigger, in which `1` and `"1"`, and no triggers and `{}`, are the same. */
export function canonicalTrigger({ version, triggers }: Trigger): string {
  const entries = Object.entries(triggers ?? {})
    .flatMap(([name, value]) => (value === null || value === undefined ? [] : [[name, String(value)] as const]))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([version === null || version === undefined ? null : String(version), entries]);
}

/** Whether a trigger is empty. Removing the whole trigger requests nothing. */
export function isNoTrigger(trigger: Trigger): boolean {
  return canonicalTrigger(trigger) === canonicalTrigger({});
}

/** The mark of a trigger; empty if there is none. */
export function triggerMark({ salt }: { readonly salt: string }, trigger: Trigger): string {
  return isNoTrigger(trigger) ? "" : saltedMark(salt, canonicalTrigger(trigger));
}

/** Marks with the same salt can be compared. */
export function newSalt(): string {
  return randomUUID();
}

/** 96 bits of an HMAC-SHA256: a version may be a short secret, which a plain hash would reveal. */
export function saltedMark(salt: string, text: string): string {
  const mac = createHmac("sha256", salt).update(text).digest();
  return mac.subarray(0, 12).toString("base64url");
}

export function marksOf({ salt }: { readonly salt: string }, credentials: Credentials): Marks {
  const marked = credentialNames.flatMap((name) => {
    const value = credentials[name];
    return value === undefined ? [] : [[name, saltedMark(salt, value)] as const];
  });
  return Object.fromEntries(marked);
}

/** The credentials that exist, but whose values are not known. */
export function unknownIn(marks: Marks): CredentialName[] {
  return credentialNames.filter((name) => marks[name] === "");
}

/** The credentials whose values are known. */
export function knownIn(marks: Marks): CredentialName[] {
  return credentialNames.filter((name) => marks[name]);
}

/** Marks of credentials of which only the names are known. */
export function unknownMarks(names: readonly string[]): Marks {
  return Object.fromEntries(names.map((name) => [name, ""]));
}

export function onlyKnown(marks: Marks): Marks {
  return Object.fromEntries(knownIn(marks).map((name) => [name, marks[name]]));
}

/** The best credential of a record, by which it is judged: never the next key, which has not been in use yet. */
export function bestOf(record: Credentials | Marks): CredentialName | undefined {
  return credentialNames.find((name) => name !== "nextKey" && record[name] !== undefined);
}

/** The mark of the best known credential of a record, in a list; empty if there is none. */
export function bestMark(record: Marks = {}): string[] {
  const best = bestOf(onlyKnown(record));
  return best === undefined ? [] : [record[best] ?? ""];
}

export function better(a: CredentialName | undefined, b: CredentialName | undefined): CredentialName | undefined {
  return credentialNames.find((name) => name === a || name === b);
}
