import { type Credential } from "../domain/endpoint";
import { type SecretKind } from "../domain/secretKind";
import { isObject, isSet } from "../records/fields";
import { type LocatedDatabase } from "./databaseEndpoint";
import { type Connection, type Former } from "./memory";

/**
 * How one secret is verified: the output `access` of its rotation, as JSON text, and the input of a verification.
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
  /** What the last change has replaced: it must be refused by now. Its value is never saved. */
  readonly former?: AccessCredential | undefined;
  /** Set while the former one is valid: what retires it. */
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

/** An administrator as a program gives it: the output `access` of the rotation of its password, or its values. */
export type AdminInput = string | AdminValues;

export interface AdminValues {
  readonly host: string;
  readonly port: number;
  /** Default: true. */
  readonly tls?: boolean | null | undefined;
  /** Default: the user `default`. */
  readonly username?: string | null | undefined;
  readonly password: string;
}

/** What a verification needs to retire the former secret, and to report about it. */
export interface AccessRetirement {
  /** Those that are valid, with what retires them. */
  readonly formers: readonly Former[];
  /** Of a user: the hash of the current password, if it is certain. */
  readonly currentHash?: string | undefined;
  /** Since when the first of them was to be replaced (ISO 8601, UTC). */
  readonly since: string;
  /** If `overlap` is a duration: until when the former one is valid (ISO 8601, UTC). */
  readonly until?: string | undefined;
  /** Whether it must not wait: a date has asked for it, or its time is over. */
  readonly isUrgent?: true | undefined;
}

/** A credential that is known by its mark, with its value if the rotation saves it. */
export interface AccessCredential extends Omit<Credential, "value"> {
  readonly mark: string;
  readonly value?: string | undefined;
}

const parts: readonly string[] = ["current", "former", "retire", "record", "connection"];

/** A value as an `access`, in which null counts as not set; undefined if it is something else. */
export function accessIn(given: unknown): Access | undefined {
  if (!isObject(given) || typeof given["id"] !== "string" || typeof given["of"] !== "string") {
    return undefined;
  }
  const known = Object.entries(given).filter(([, value]) => isSet(value));
  const isWrong = known.some(([name, value]) => parts.includes(name) && !isObject(value));
  return isWrong ? undefined : (Object.fromEntries(known) as unknown as Access);
}
