import { type Credential } from "../../domain/endpoint";
import { RequestError } from "../../domain/errors";
import { type SecretKind } from "../../domain/secretKind";
import { canonicalId, isObject } from "../../records/fields";
import { type Run } from "../../run/run";
import { type LocatedDatabase } from "./databaseEndpoint";
import { saltedMark } from "../memory/marks";
import { type AdminInput, type Connection, type Former } from "../memory/memory";

/**
 * How one secret is verified and its former ones are retired: the output `access` of its rotation, as JSON text.
 * Neither credential is known while a reset is not confirmed.
 */
export interface Access {
  readonly id: string;
  /** Of a user: its server, in messages. */
  readonly server?: string | undefined;
  /** `name` of its kind. */
  readonly of: SecretKind["name"];
  /** Confirmed resets so far. */
  readonly count: number;
  /** The salt of the marks. */
  readonly salt: string;
  readonly current?: AccessCredential | undefined;
  /** The credential that the last change has replaced: it must be refused by now. Its value is never saved. */
  readonly former?: AccessCredential | undefined;
  /** Set while a former one is valid. */
  readonly retire?: AccessRetirement | undefined;
  /** Where a database is: what is known from its record, and what the program sets. */
  readonly record?: LocatedDatabase["record"];
  readonly connection?: Omit<Connection, "username"> | undefined;
  /** Where an index is. */
  readonly restUrl?: string | undefined;
  /** Of a queue user: the address of its queue, if the program sets it. */
  readonly queueUrl?: string | undefined;
  /** Of a user: its administrator, in the form in which the program gives it. */
  readonly admin?: AdminInput | undefined;
}

/** The former secrets that are valid, and what a Retirement needs to retire them. */
export interface AccessRetirement {
  readonly formers: readonly Former[];
  /** Of a user: the hash of the current password, if it is certain. */
  readonly currentHash?: string | undefined;
}

/** A credential that is known by its mark, with its value if the rotation saves it. */
export interface AccessCredential extends Omit<Credential, "value"> {
  readonly mark: string;
  readonly value?: string | undefined;
}

/** By which a secret is remembered elsewhere: two users with one name, at two servers, are two. */
export function keyOf({ of, id, salt }: Pick<Access, "of" | "id" | "salt">): string {
  return JSON.stringify([of, canonicalId(id), salt]);
}

/** A value as an `access`; undefined if it is something else. */
export function accessIn(given: unknown): Access | undefined {
  const isAccess =
    isObject(given) && typeof given["id"] === "string" && typeof given["count"] === "number";
  return isAccess ? (given as unknown as Access) : undefined;
}

/** Reads the value of a current credential that is not saved. @returns why it is not known, and what to do */
export async function readCurrent(
  kind: SecretKind,
  { id, salt, current }: Access,
  { options, platform }: Run,
): Promise<string | { readonly why: string; readonly advice: string }> {
  if (!options.settings.canRead(kind)) {
    const advice = "Set rekey:databasePath, or remove saveCredentials.";
    return { why: "this platform cannot be read", advice };
  }
  try {
    const { credentials } = await platform.operations(kind).read(id);
    const shown = current && credentials[current.name];
    if (shown && saltedMark(salt, shown) === current.mark) return shown;
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    return { why: `could not be read: ${error.happened}`, advice: error.advice };
  }
  const advice =
    "Run `pulumi refresh`, then `up`. If that does not help, remove saveCredentials and set a new version of its rotation.";
  return { why: "the platform does not show it", advice };
}
