import { InputError } from "../platform/errors";
import { isSet } from "../records/fields";
import { type Credential } from "../platform/probe";
import { type Connection } from "../rotation/connection";
import { endpointOf, type LocatedDatabase, usernameFor } from "../rotation/endpoint";
import { type ClientEndpoint } from "../platform/address";
import { type FleetOutputs, type KnownCredentials } from "../rotation/fleet";
import { type PasswordRotationOutputs } from "../rotation/outputs";
import { type FoundSetting } from "../settings/settings";

/** A database after its rotation. */
export interface VerificationTarget {
  readonly databaseId: string;
  /** Its name in the program. */
  readonly name: string;
  /** Time of the last confirmed reset. */
  readonly rotatedAt?: string | undefined;
  /** Confirmed resets so far. */
  readonly rotationCount?: number | undefined;
  /** Undefined if no credential is known. */
  readonly access?: (ClientEndpoint & { readonly credential: Credential }) | undefined;
}

/**
 * The argument that is the resource to verify.
 *
 * @throws InputError unless exactly one is set
 */
export function verifiedArgument(args: {
  readonly rotation?: unknown;
  readonly fleet?: unknown;
}): "rotation" | "fleet" {
  const [name, ...more] = (["rotation", "fleet"] as const).filter((one) => isSet(args[one]));
  if (name !== undefined && more.length === 0) return name;
  throw new InputError("rotation", "or fleet must be set to the resource to verify, not both");
}

/**
 * How the current credential of a database is tried; undefined if none is known. The REST interface has the port of
 * HTTPS.
 *
 * @param hostSetting `rekey:databaseHost`
 * @throws InputError if the endpoint is unknown or cannot be used
 */
export function accessTo(
  database: LocatedDatabase,
  connection: Connection,
  { password, restToken }: KnownCredentials,
  hostSetting: FoundSetting | undefined,
): VerificationTarget["access"] {
  if (password !== undefined) {
    const username = usernameFor(database, connection);
    const credential: Credential = { ...(username !== undefined && { username }), password };
    return { ...endpointOf(database, connection, hostSetting), credential };
  }
  if (restToken === undefined) return undefined;
  const { port = 443, tls = true } = connection;
  return { ...endpointOf(database, { ...connection, port, tls }, hostSetting), credential: { restToken } };
}

/**
 * What a verification needs to know of each database of a fleet.
 *
 * @param accessOf returns how the current credential of a database is tried
 */
export function targetsOf(
  { databases, credentials, records }: FleetOutputs,
  accessOf: (name: string, database: LocatedDatabase, known: KnownCredentials) => VerificationTarget["access"],
): VerificationTarget[] {
  return Object.entries(databases).map(([name, { databaseId, rotatedAt, rotationCount, outcome }]) => {
    const database = { databaseId, record: records?.[name]?.record };
    // The credentials of an unconfirmed reset are the former ones, which may be invalid.
    const known = outcome === "unknown" ? undefined : credentials[name];
    return { databaseId, name, rotatedAt, rotationCount, access: accessOf(name, database, known ?? {}) };
  });
}

/** The outputs of a rotation that a verification needs. */
export interface RotationOutputs extends LocatedDatabase, KnownCredentials {
  readonly rotatedAt?: string | undefined;
  readonly rotationCount: number;
  readonly outcome: PasswordRotationOutputs["outcome"];
}

/** A single rotation as a fleet, in which its id is the name. */
export function fleetOfOne(outputs: RotationOutputs): FleetOutputs {
  const { databaseId, rotatedAt, rotationCount, outcome, record, password, restToken } = outputs;
  return {
    databases: { [databaseId]: { databaseId, rotatedAt, rotationCount, outcome } },
    credentials: { [databaseId]: { password, restToken } },
    records: { [databaseId]: { record } },
  };
}

/** The input `targets`. Sorted by id: the order in the program does not matter. */
export function targetsText(targets: readonly VerificationTarget[]): string {
  return JSON.stringify(targets.toSorted((a, b) => (a.databaseId < b.databaseId ? -1 : 1)));
}
