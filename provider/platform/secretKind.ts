import { type ErrorCode } from "./errors";
import { type RecordTable } from "../records/fields";

/** A kind of secret that can be reset. */
export interface SecretKind {
  /** The service that has its operations. */
  readonly service: "management" | "queue";
  /** The paths of its operations; undefined if they are settings. */
  readonly paths?: SecretPaths;
  /** What its record consists of. */
  readonly table: RecordTable;
  /** The JSON text that confirms a reset without a record. Default: only a record does. */
  readonly confirmation?: string;
  /** The argument and output of the resource that is the id. */
  readonly idInput: string;
  /** The id of the only one that an account has; `idInput` is then an output only. Default: an argument is the id. */
  readonly onlyId?: string;
  /** What is reset, in messages: `password` */
  readonly word: string;
  /** What has it, in messages: `database` */
  readonly noun: string;
  /** More than one of them, in messages. Default: with an s. */
  readonly plural?: string;
  /** The code of the error for two resources with the same secret. */
  readonly duplicateCode: ErrorCode;
  /**
   * For a secret that is rolled, so that a second reset too soon is an outage: the default of the shortest time between
   * two. Default: it is not rolled.
   */
  readonly minInterval?: string;
  /** Whether it authorizes requests to the queue, and so may be the token that Rekey uses. Default: it does not. */
  readonly authorizesQueue?: true;
  /**
   * The URL with which it is used, from its record; undefined if the record has none that can be used. Default: no such
   * output.
   *
   * @param host of the platform, with `{endpoint}` for an endpoint that is a slug
   */
  readonly restUrl?: (record: Readonly<Record<string, unknown>>, host?: string) => string | undefined;
  /**
   * How its token is tried: by a GET of a path, for `index` below `restUrl`, for `queue` below the queue's address.
   * Default: it is that of a database, or cannot be tried.
   */
  readonly probe?: { readonly service: "index" | "queue"; readonly path: string };
}

/** Paths with `{id}`. */
export interface SecretPaths {
  readonly reset: string;
  /** `none` if it cannot be read. */
  readonly read: string;
  /** Path, without `{id}`, of the list of all that an account has; undefined if there is only one. */
  readonly list?: string;
}

/** One secret of an account. */
export interface Subject {
  readonly kind: SecretKind;
  readonly id: string;
}

/** Where a secret is. Another account may have another one with the same id. */
export interface Place {
  /** A hash of the address and the account. */
  readonly account: string;
  /** The address itself, for a secret without an id: messages name it. */
  readonly address?: string | undefined;
}

/** A secret of an account, as a key. */
export function keyOf({ kind, id }: Subject): string {
  return `${kind.noun} ${id}`;
}

/** What has the secret, in messages: `database "sessions"` */
export function ownerOf({ kind: { noun, onlyId }, id }: Subject): string {
  return onlyId === undefined ? `${noun} ${JSON.stringify(id)}` : `the ${noun}`;
}

/** More than one of what has such a secret, in messages: `databases` */
export function pluralOf({ noun, plural = `${noun}s` }: SecretKind): string {
  return plural;
}

/** The secret in messages: `password of database "sessions"` */
export function secretOf(subject: Subject): string {
  const { word, onlyId } = subject.kind;
  return onlyId === undefined ? `${word} of ${ownerOf(subject)}` : word;
}
