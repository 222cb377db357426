import { createHmac, randomUUID } from "node:crypto";
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

/** The names of the credentials that have a mark. */
export function namesIn(marks: Marks): CredentialName[] {
  return credentialNames.filter((name) => marks[name] !== undefined);
}
