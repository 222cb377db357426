/** Credentials that a platform may show. All are secrets. */
export interface Credentials {
  /** The password of a database. */
  readonly password?: string;
  /** Token of a database's REST interface. It may be the password itself. */
  readonly restToken?: string;
  /** Read-only token of a database's REST interface. */
  readonly readOnlyRestToken?: string;
  /** Token of an index or of a queue user. */
  readonly token?: string;
  /** Read-only token of an index or of a queue user. */
  readonly readOnlyToken?: string;
  /** The key that signs messages. */
  readonly currentKey?: string;
  /** The key that will sign messages after the next roll. */
  readonly nextKey?: string;
}

export type CredentialName = keyof Credentials;

/**
 * The names of all credentials. A record is judged by the first one that it shows. Append only: saved marks contain
 * positions.
 */
export const credentialNames = [
  "password",
  "restToken",
  "readOnlyRestToken",
  "token",
  "readOnlyToken",
  "currentKey",
  "nextKey",
] as const satisfies readonly CredentialName[];

/** Whether a field in JSON has a credential of any kind. */
export function isNameOfCredential(wireName: string): boolean {
  return /^(password|(read_?only_?)?(rest_?)?token|current|next)$/i.test(wireName);
}

/** The credentials themselves. */
export function valuesOf(credentials: Credentials = {}): string[] {
  return Object.values(credentials as Readonly<Record<string, string>>);
}
