import { isDeepStrictEqual } from "node:util";
import { defaultUser } from "../../clients/aclReplies";
import { type RedisAdmin } from "../../clients/aclUsers";
import { type ClientEndpoint, comparedHost } from "../../domain/endpoint";
import { InputError, RefusedError } from "../../domain/errors";
import { databasePassword, ownerOf, secretOf, type Subject } from "../../domain/secretKind";
import { canonicalId, isObject, isSet } from "../../records/fields";
import { isUnknown } from "../../pulumi/values";
import { type InputProblem } from "../../resource/resource";
import { type Run } from "../../run/run";
import { type FoundSetting } from "../../settings/table";
import { type Access, accessIn, readCurrent } from "./access";
import { endpointOf, type LocatedDatabase } from "./databaseEndpoint";
import {
  type AdminInput,
  type AdminValues,
  type Connection,
  type Memory,
  parsed,
  type Server,
} from "../memory/memory";

/** The administrator of a user, whichever of its two forms the program gives. In a preview, any part may be unknown. */
export interface Admin {
  /** As the program gives it, and as it is saved. */
  readonly given: AdminInput;
  /** The server, as far as it is known. */
  readonly server: Server;
  /** Why it cannot be used, if that is known. */
  readonly problem?: InputProblem | undefined;
  /** Who logs in; undefined while the last reset of the password is not confirmed. */
  readonly login?:
    | {
        readonly username?: string | undefined;
        /** Undefined if the PasswordRotation does not save it: it is read. */
        readonly password?: string | undefined;
      }
    | undefined;
  /** The output `access` of the PasswordRotation that has its password. */
  readonly database?: Access | undefined;
}

const notAnAdmin: InputProblem = {
  property: "admin",
  problem:
    "must be the output `access` of a PasswordRotation, or an object with host, port and password",
};

/**
 * Reads an administrator once: nothing else asks in which form it is.
 *
 * @param given undefined or unknown as a whole, without a result
 * @param databaseHost the setting, with which the host of a database is completed
 */
export function readAdmin(
  given: AdminInput | null | undefined,
  databaseHost: FoundSetting | undefined,
): Admin | undefined {
  if (!isSet(given)) return undefined;
  if (isValues(given)) return adminOfValues(given);
  return isUnknown(given) ? undefined : adminOfDatabase(given, databaseHost);
}

/** As `readAdmin`, of the saved output `access` of a user. */
export function savedAdmin(
  access: unknown,
  databaseHost: FoundSetting | undefined,
): Admin | undefined {
  const saved = parsed(access);
  return isObject(saved) ? readAdmin(saved["admin"] as AdminInput, databaseHost) : undefined;
}

function isValues(given: AdminInput): given is AdminValues {
  return isObject(given);
}

function adminOfValues(given: AdminValues): Admin {
  const { host, port, tls, username, password } = given;
  const { endpoint, problem } = locate({ databaseId: "" }, { host, port, tls: tls ?? true });
  return {
    given,
    server: { endpoint },
    problem,
    login: { username: username ?? undefined, password },
  };
}

function adminOfDatabase(given: string, databaseHost: FoundSetting | undefined): Admin {
  const database = typeof given === "string" ? accessIn(parsed(given)) : undefined;
  if (database?.of !== databasePassword.name) return { given, server: {}, problem: notAnAdmin };
  const { id, record, connection = {}, current } = database;
  const { endpoint, problem } = locate({ databaseId: id, record }, connection, databaseHost);
  const onlyToken: InputProblem = {
    property: "admin",
    problem:
      "must have a password, which AUTH needs: the platform shows only a REST token of this database",
  };
  return {
    given,
    server: { id: canonicalId(id), endpoint },
    problem: current && current.name !== "password" ? onlyToken : problem,
    login: current && { username: current.username, password: current.value },
    database,
  };
}

/** Where the server is, or why that cannot be used; nothing if it is not known yet. */
function locate(
  database: LocatedDatabase,
  connection: Connection,
  setting?: FoundSetting,
): { readonly endpoint?: ClientEndpoint; readonly problem?: InputProblem } {
  // Pulumi's marker would pass as a host.
  if (isUnknown(connection)) return {};
  try {
    return { endpoint: endpointOf(database, connection, setting) };
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    return { problem: { property: `admin.${error.property}`, problem: error.reason } };
  }
}

/** Why an administrator cannot rotate a user, as far as that is known. */
export function adminProblem({ id }: Subject, admin: Admin): InputProblem | undefined {
  const { problem, login } = admin;
  // A PasswordRotation without a confirmed reset does not show who logs in.
  const isOther =
    !login || isUnknown([id, login.username]) || (login.username || defaultUser) !== id;
  if (problem || isOther) return problem;
  const why = "must not be the user itself: its former password, with which it logs in, is retired";
  const other = ". To reset that user of a database, use PasswordRotation";
  return { property: "admin", problem: id === defaultUser ? why + other : why };
}

/** The known names of a server in messages, the best first: its database, and its address as it is compared. */
export function serverNames({ id, endpoint }: Server = {}): string[] {
  const database = id === undefined ? undefined : ownerOf({ kind: databasePassword, id });
  return [database, comparedAddress(endpoint)].filter((name) => name !== undefined);
}

function comparedAddress(endpoint: ClientEndpoint | undefined): string | undefined {
  return endpoint && `${comparedHost(endpoint.host)}:${endpoint.port}`;
}

/**
 * True if the program may name another server than before, as far as that is known: a copy of a database may have its
 * address, and a database may have moved away from an address. Only a read shows that it is the same.
 */
export function isServerChanged(admin: Admin | undefined, { kindFacts }: Memory): boolean {
  const { server: before } = kindFacts;
  if (!admin || !before) return false;
  const { id, endpoint } = admin.server;
  const isMoved = endpoint && comparedAddress(endpoint) !== comparedAddress(before.endpoint);
  return isMoved === true || (id !== undefined && id !== before.id);
}

/** True if the program names another address than before, which the URLs contain. */
export function isMoved(admin: Admin | undefined, { kindFacts }: Memory): boolean {
  const { endpoint } = admin?.server ?? {};
  return endpoint !== undefined && !isDeepStrictEqual(endpoint, kindFacts.server?.endpoint);
}

/**
 * An administrator as it logs in. A password that its rotation does not save is read.
 *
 * @throws RekeyError if it is not known
 */
export async function redisAdminOf(
  admin: Admin | undefined,
  subject: Subject,
  run: Run,
): Promise<RedisAdmin> {
  const { server, problem = notAnAdmin, login, database } = admin ?? {};
  if (!server?.endpoint) throw new InputError(problem.property, problem.problem);
  const refusal = (code: "REKEY_UNCONFIRMED" | "REKEY_NOT_READ", isNot: string) => {
    const why = `the password of its admin, ${serverNames(server)[0]}, is not ${isNot}`;
    return new RefusedError(code, { secret: secretOf(subject), why });
  };
  if (!login) {
    throw refusal(
      "REKEY_UNCONFIRMED",
      "known, because the last reset by its PasswordRotation is not confirmed, or no read has shown the password. Run `up` again without `--target` and `--continue-on-error`, so that the PasswordRotation settles it first. If no read shows the password, set a new version of the PasswordRotation, which resets it",
    );
  }
  const { username } = login;
  const password = login.password ?? (await readCurrent(databasePassword, database as Access, run));
  if (typeof password === "string") return { ...server.endpoint, username, password };
  const { why, advice } = password;
  throw refusal("REKEY_NOT_READ", `saved, and ${why}. ${advice.replace(/\.$/, "")}`);
}
