import { InputError } from "../platform/errors";
import { isSet } from "../records/fields";
import { type Credential } from "../platform/credential";
import { keyOf, ownerOf, type Subject } from "../platform/secretKind";
import { type Connection, connectionNames } from "../rotation/connection";
import { endpointOf, type LocatedDatabase, usernameFor } from "../rotation/endpoint";
import { type ClientEndpoint } from "../platform/address";
import { type FleetOutcome } from "../rotation/fleet";
import { type FleetOutputs, type KnownCredentials } from "../rotation/fleetOutputs";
import { kinds, type RotationType } from "../rotation/kinds/kinds";
import { type FoundSetting } from "../settings/foundSetting";
import { type UnsavedCredential, unsavedIn } from "./unsaved";

/** A database, or what else has a secret, after its rotation. */
export interface VerificationTarget {
  /** The resource that rotates it. Default: PasswordRotation. */
  readonly type?: RotationType | undefined;
  /** Id of the database, or of what else has the secret. */
  readonly databaseId: string;
  /** Its name in the program. */
  readonly name: string;
  /** Time of the last confirmed reset. */
  readonly rotatedAt?: string | undefined;
  /** Confirmed resets so far. */
  readonly rotationCount?: number | undefined;
  /** Undefined if no credential is known. */
  readonly access?: VerificationAccess | undefined;
  /** Whether the credentials are not saved, if none is known. */
  readonly unsaved?: true | undefined;
}

/** How the current credential of a target is tried: at the endpoint of a database, at an index, or at the queue. */
export type VerificationAccess = (ClientEndpoint | { readonly restUrl?: string }) & {
  readonly credential: Credential | UnsavedCredential;
};

/** What has the secret of a target. */
export function subjectOf({ type = "PasswordRotation", databaseId }: VerificationTarget): Subject {
  return { kind: kinds[type], id: databaseId };
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
  { password, restToken, currentMarks }: KnownCredentials,
  hostSetting: FoundSetting | undefined,
): VerificationTarget["access"] {
  const ofPassword = password === undefined ? unsavedIn(currentMarks, "password") : { password };
  if (ofPassword) {
    const username = usernameFor(database, connection);
    const credential = { ...(username !== undefined && { username }), ...ofPassword };
    return { ...endpointOf(database, connection, hostSetting), credential };
  }
  const credential = restToken === undefined ? unsavedIn(currentMarks, "restToken") : { restToken };
  if (!credential) return undefined;
  const { port = 443, tls = true } = connection;
  return { ...endpointOf(database, { ...connection, port, tls }, hostSetting), credential };
}

/**
 * What a verification needs to know of each database of a fleet.
 *
 * @param accessOf returns how the current credential of a database is tried
 */
export function targetsOf({ databases, credentials, records }: FleetOutputs, accessOf: AccessOf): VerificationTarget[] {
  return Object.entries(databases).map(([name, database]) =>
    databaseTarget(name, { ...database, ...credentials[name], record: records?.[name]?.record }, accessOf),
  );
}

function databaseTarget(name: string, outputs: RotationOutputs, accessOf: AccessOf): VerificationTarget {
  const { databaseId, record, rotatedAt, rotationCount, outcome, password, restToken, currentMarks } = outputs;
  // The credentials of an unconfirmed reset are the former ones, which may be invalid.
  const known = outcome === "unknown" ? {} : { password, restToken, currentMarks };
  const access = accessOf(name, { databaseId, record }, known);
  const isUnsaved = !access && currentMarks !== undefined && password === undefined && restToken === undefined;
  return { databaseId, name, rotatedAt, rotationCount, access, ...(isUnsaved && { unsaved: true }) };
}

/** The type of a rotation that can be verified: not one of signing keys, of which a read is the proof. */
export type VerifiableType = Exclude<RotationType, "SigningKeyRotation">;

/**
 * The type of the rotation to verify.
 *
 * @param type undefined if it is none of a rotation
 * @param args those of the verification
 * @throws InputError if it cannot be verified, or if an argument is set that is for databases only
 */
export function verifiableType(
  type: string | undefined,
  args: { readonly [K in keyof Connection]?: unknown },
): VerifiableType {
  const isOne = (name: string): name is VerifiableType => name !== "SigningKeyRotation" && Object.hasOwn(kinds, name);
  if (type === "SigningKeyRotation") {
    const why = "the read after its roll already shows that the keys are new";
    throw new InputError("rotation", `must not be a SigningKeyRotation: ${why}`);
  }
  if (type === undefined || !isOne(type)) {
    const types = Object.keys(kinds).filter(isOne);
    throw new InputError(
      "rotation",
      `must be a ${types.slice(0, -1).join(", ")} or ${types.at(-1)}, the resource itself`,
    );
  }
  const given = type === "PasswordRotation" ? undefined : connectionNames.find((name) => isSet(args[name]));
  if (given !== undefined) throw new InputError(given, `is for databases only: a ${type} has its own address`);
  return type;
}

/** The input `subject` for a rotation: an id alone is that of a database. */
export function subjectText(type: VerifiableType, id: string): string {
  return type === "PasswordRotation" ? id : keyOf({ kind: kinds[type], id });
}

/** The outputs of a rotation, or of a fleet, that a verification needs. */
export function verifiedOutputs(type: VerifiableType | undefined): string[] {
  if (type === undefined) return ["databases", "credentials", "records"];
  const credentials = type === "PasswordRotation" ? ["password", "restToken"] : ["token"];
  const restUrl = kinds[type].restUrl ? ["restUrl"] : [];
  return [
    kinds[type].idInput,
    "record",
    ...restUrl,
    ...credentials,
    "currentMarks",
    "rotatedAt",
    "rotationCount",
    "outcome",
  ];
}

/**
 * What a verification needs to know of one rotation or of a fleet, from its outputs.
 *
 * @param type undefined for a fleet
 * @param accessOf returns how the current credential of a database is tried
 * @throws InputError if it is unknown where an index is
 */
export function targetsFrom(
  type: VerifiableType | undefined,
  outputs: Readonly<Record<string, unknown>>,
  accessOf: AccessOf,
): VerificationTarget[] {
  if (type === undefined) return targetsOf(outputs as unknown as FleetOutputs, accessOf);
  const rotation = outputs as unknown as RotationOutputs;
  if (type === "PasswordRotation") return [databaseTarget(rotation.databaseId, rotation, accessOf)];
  const { rotatedAt, rotationCount, outcome, token, currentMarks } = rotation;
  const kind = kinds[type];
  const id = outputs[kind.idInput] as string;
  const target: VerificationTarget = { type, databaseId: id, name: id, rotatedAt, rotationCount };
  const credential = token === undefined ? unsavedIn(currentMarks, "token") : { token };
  if (!credential) return [target];
  if (outcome === "unknown") return [{ ...target, ...("mark" in credential && { unsaved: true }) }];
  const { restUrl } = rotation;
  if (kind.restUrl && restUrl === undefined) {
    const why = `the platform's record of ${ownerOf({ kind, id })} has no endpoint that can be used`;
    throw new InputError("rotation", `cannot be verified: ${why}`);
  }
  return [{ ...target, access: { ...(restUrl !== undefined && { restUrl }), credential } }];
}

/** Returns how the current credential of a database is tried. */
type AccessOf = (name: string, database: LocatedDatabase, known: KnownCredentials) => VerificationTarget["access"];

/** The outputs of a rotation that a verification needs. */
interface RotationOutputs extends Omit<LocatedDatabase, "record">, KnownCredentials {
  readonly record?: (NonNullable<LocatedDatabase["record"]> & Readonly<Record<string, unknown>>) | undefined;
  readonly token?: string | undefined;
  readonly restUrl?: string | undefined;
  readonly rotatedAt?: string | undefined;
  readonly rotationCount: number;
  readonly outcome: FleetOutcome;
}

/** The input `targets`. Sorted by id: the order in the program does not matter. */
export function targetsText(targets: readonly VerificationTarget[]): string {
  return JSON.stringify(targets.toSorted((a, b) => (a.databaseId < b.databaseId ? -1 : 1)));
}
