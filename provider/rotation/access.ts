import { type Credential } from "../platform/credential";
import { type Subject } from "../platform/secretKind";
import { type DatabaseRecord } from "../records/database";
import { type Run } from "../run";
import { type Connection, connectionUrlOf, type HostSetting, known, type LocatedDatabase, restUrlOf } from "./endpoint";
import { databasePassword } from "./kinds/databasePassword";
import { knownIn } from "./memory";
import { type State } from "./state";

/**
 * How the current credential of one secret is tried: the output `access` of its rotation, as JSON text, and the input
 * of a verification.
 */
export interface Access {
  readonly id: string;
  /** `noun` of its kind. */
  readonly of: string;
  /** Confirmed resets so far. */
  readonly count: number;
  /** Undefined if none is known, and while a reset is not confirmed. */
  readonly current?: AccessCredential | undefined;
  /** Where a database is: what is known from its record, and what the program sets. */
  readonly record?: LocatedDatabase["record"];
  readonly connection?: Connection | undefined;
  /** Where an index is. */
  readonly restUrl?: string | undefined;
}

/** A credential; one whose value is not saved is recognized by its mark when it is read. */
export type AccessCredential = { readonly name: Credential["name"] } & (
  { readonly value: string } | { readonly mark: string; readonly salt: string }
);

/** Credentials that can be tried, the best first. */
const triable = ["password", "restToken", "token"] as const;

/** Undefined for a secret that cannot be tried: of signing keys, a read is the proof. */
export function accessOf({ kind, id }: Subject, state: State, run: Run): Access | undefined {
  if (kind !== databasePassword && kind.probe === undefined) return undefined;
  const { outcome, memory, rotationCount, record } = state;
  const access: Access = { id, of: kind.noun, count: rotationCount };
  const name = triable.find((one) => knownIn(memory.current).includes(one));
  // Those of an unconfirmed reset are the former ones, which may be invalid.
  if (name === undefined || outcome === "unknown") return access;
  const value = state[name];
  const current: AccessCredential =
    value === undefined ? { name, mark: memory.current[name] ?? "", salt: memory.salt } : { name, value };
  if (kind !== databasePassword) return { ...access, current, restUrl: urlsOf({ kind, id }, state, run).restUrl };
  const { endpoint, port, tls } = record ?? {};
  const located = record && ({ endpoint, port, tls } as DatabaseRecord);
  return { ...access, current, record: located, connection: memory.declared.connection };
}

/** The URLs with which the credentials of a state are used, as far as they are known. */
export function urlsOf({ kind, id }: Subject, { record = {}, password, restToken, memory }: State, run: Run) {
  if (kind !== databasePassword) {
    return { connectionUrl: undefined, restUrl: kind.restUrl?.(record, run.options.settings.preset?.indexHost) };
  }
  const { connection = {} } = memory.declared;
  const database = { databaseId: id, record: record as DatabaseRecord };
  const setting = hostSetting(run);
  return {
    connectionUrl: connectionUrlOf(database, connection, password, setting),
    restUrl: restUrlOf(database, connection, restToken, setting),
  };
}

/** A wrong setting is reported by the check: a reset must not be lost because of it. */
function hostSetting({ options }: Run): HostSetting {
  return known(() => options.settings.databaseHost);
}
