import { hash, randomBytes } from "node:crypto";
import { type CredentialName, credentialNames, type Credentials } from "../../records/fields";

/** Marks of credentials by their names. */
export type Marks = Readonly<Partial<Record<CredentialName, string>>>;

/** The inputs whose change requests one more reset. */
export interface Trigger {
  readonly version?: Scalar | null | undefined;
  readonly triggers?: Readonly<Record<string, Scalar | null | undefined>> | null | undefined;
}

type Scalar = string | number | boolean;

/**
 * The canonical form of a trigger, in which `1` and `"1"`, and no triggers and `{}`, are the same. It is empty if there
 * is none: removing the whole trigger requests nothing.
 */
export function canonicalTrigger({ version, triggers }: Trigger): string {
  const entries = Object.entries(triggers ?? {})
    .flatMap(([name, value]) =>
      value === null || value === undefined ? [] : [[name, String(value)] as const],
    )
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const isNone = version === null || version === undefined;
  return isNone && entries.length === 0
    ? ""
    : JSON.stringify([isNone ? null : String(version), entries]);
}

/** The mark of a canonical trigger; empty if there is none. */
export function triggerMark({ salt }: { readonly salt: string }, trigger: string): string {
  return trigger === "" ? "" : saltedMark(salt, trigger);
}

/** 64 random bits. Marks with the same salt can be compared. */
export function newSalt(): string {
  return randomBytes(8).toString("hex");
}

/** 96 bits of a salted SHA-256: a version may be a short secret, which a plain hash would reveal. */
export function saltedMark(salt: string, text: string): string {
  return hash("sha256", salt + text, "base64url").slice(0, 16);
}

export function marksOf({ salt }: { readonly salt: string }, credentials: Credentials): Marks {
  const marks: Partial<Record<CredentialName, string>> = {};
  for (const name of credentialNames) {
    const value = credentials[name];
    if (value !== undefined) marks[name] = saltedMark(salt, value);
  }
  return marks;
}

/** The names of the credentials that have a mark. */
export function namesIn(marks: Marks): CredentialName[] {
  return credentialNames.filter((name) => marks[name] !== undefined);
}
