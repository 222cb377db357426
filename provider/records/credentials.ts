/** Credentials that a platform may show. All are secrets. */
export interface Credentials {
  /** The password of a database. */
  readonly password?: string;
  /** Token of a database's REST interface. It may be the password itself. */
  readonly restToken?: string;
  /** Read-only token of a database's REST interface. */
  readonly readOnlyRestToken?: string;
  /** Token of an index. */
  readonly token?: string;
  /** Read-only token of an index. */
  readonly readOnlyToken?: string;
  /** Key that signs messages. */
  readonly currentKey?: string;
  /** Key that signs messages after the next roll. */
  readonly nextKey?: string;
}

export type CredentialName = keyof Credentials;

/**
 * The names of all credentials, the best first: a record is judged by the first one that it shows. Append only: in
 * another order, saved memories would be judged otherwise.
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

/** The names of credentials in JSON, as a regular expression without regard to case. */
export const wireNamesOfCredentials = "(password|(read_?only_?)?(rest_?)?token|current|next)";

/** The credentials themselves. */
export function valuesOf(credentials: Credentials = {}): string[] {
  return Object.values(credentials as Readonly<Record<string, string>>);
}
