import { defaultUser } from "../clients/aclReplies";
import { type RedisAdmin } from "../clients/aclUsers";
import { type ClientEndpoint, comparedHost, hostProblem } from "../domain/endpoint";
import { InputError, RefusedError, RequestError } from "../domain/errors";
import { databasePassword, ownerOf, secretOf, type Subject } from "../domain/secretKind";
import { canonicalId, isObject, orUndefined } from "../records/fields";
import { isUnknown, jsonText } from "../pulumi/values";
import { type InputProblem, type Schemas } from "../resource/resource";
import { type Run } from "../run/run";
import { type FoundSetting } from "../settings/table";
import { type Access, accessIn, endpointOf, plainTextProblem } from "./access";
import { saltedMark } from "./marks";
import { type Memory, parsed, type Server } from "./memory";
import { type AdminInput, type AdminValues, type Program, type RotationInputs } from "./program";
import { isSame, type State } from "./state";
import { addressSchemas } from "./rotationInputs";

/** The schema of the input `admin`. It is a secret, so messages about it show none of its values. */
export function adminInput(of: Schemas) {
  const { z, refuseIf, refuseWrong, expected } = of;
  const text = z.string(expected("a string"));
  const filled = text.superRefine(
    refuseIf((value: string) => (value === "" ? "must not be empty" : undefined)),
  );
  const schemas = {
    ...addressSchemas(of, hostProblem),
    username: text,
    password: filled,
  } satisfies Record<keyof AdminValues, unknown>;
  const ofValues = refuseWrong({ required: ["host", "port", "password"], schemas });
  const ofAccess = refuseIf(adminAccessProblem);
  return z
    .unknown()
    .superRefine((given, context) =>
      isObject(given) ? ofValues(given, context) : ofAccess(given, context),
    );
}

const whatAdminIs =
  "the output `access` of a PasswordRotation, or an object with host, port and password";

function adminAccessProblem(given: unknown): string | undefined {
  const access = accessOfDatabase(given);
  if (access === undefined) return `must be ${whatAdminIs}`;
  return access.current === undefined || access.current.name === "password"
    ? undefined
    : "must have a password, which AUTH needs: the platform shows only a REST token of this database";
}

/** The access of a database's password; undefined if something else is given. */
function accessOfDatabase(given: unknown): Access | undefined {
  const access = typeof given === "string" ? accessIn(parsed(given)) : undefined;
  return access?.of === databasePassword.name ? access : undefined;
}

function isAdminValues(given: AdminInput | null | undefined): given is AdminValues {
  return isObject(given);
}

/** Whether the administrator's password would be sent in plain text over the network, as far as that is known. */
export function plainAdminProblems(given: unknown, { options }: Run): InputProblem[] {
  const access = accessOfDatabase(given);
  const values = isObject(given) ? given : {};
  const { host, tls } = access?.connection ?? values;
  if (isUnknown([host, tls])) return [];
  const problem = plainTextProblem({ host, tls }, access && options.settings.databaseHost);
  return problem === undefined ? [] : [{ property: "admin.tls", problem }];
}

/** Whether a user is the administrator of its own rotation, as far as that is known. */
export function ownAdminProblems(
  { id }: Subject,
  given: AdminInput | null | undefined,
): InputProblem[] {
  const login = accessOfDatabase(given)?.current ?? (isAdminValues(given) ? given : undefined);
  // A PasswordRotation without a confirmed reset does not show who logs in.
  if (!login || isUnknown([id, login.username]) || (login.username || defaultUser) !== id) {
    return [];
  }
  const why = "must not be the user itself: its former password, with which it logs in, is retired";
  const other = ". To reset that user of a database, use PasswordRotation";
  return [{ property: "admin", problem: id === defaultUser ? why + other : why }];
}

/** A mark by which two administrators are compared. */
function adminMark(salt: string, given: AdminInput): string {
  return saltedMark(salt, jsonText(given));
}

/** Where the server of an administrator is; undefined if that is not known. */
function adminEndpoint(
  given: AdminInput | null | undefined,
  setting: FoundSetting | undefined,
): ClientEndpoint | undefined {
  // Pulumi's marker would pass as a host.
  if (isAdminValues(given) && isUnknown([given.host, given.port, given.tls])) return undefined;
  return orUndefined(() => requireEndpoint(given, setting));
}

function requireEndpoint(
  given: AdminInput | null | undefined,
  setting: FoundSetting | undefined,
): ClientEndpoint {
  if (isAdminValues(given)) {
    const { host, port, tls } = given;
    // Unlike that of a connection, this host is not a template.
    return endpointOf({ databaseId: "" }, { host, port, tls: tls ?? true }, undefined);
  }
  const access = accessOfDatabase(given);
  if (access === undefined) throw new InputError("admin", `must be ${whatAdminIs}`);
  const database = { databaseId: access.id, record: access.record };
  return endpointOf(database, access.connection ?? {}, setting);
}

/** Why clients would send the password in plain text over the network, as far as that is known. */
export function plainClientsProblem({ connection, admin }: RotationInputs, { options }: Run) {
  if (!connection || isUnknown([connection, admin])) return undefined;
  const { host, tls } = connection;
  const endpoint = adminEndpoint(admin, options.settings.databaseHost);
  return plainTextProblem({ host: host ?? endpoint?.host, tls }, undefined);
}

/** What is known of the server of an administrator. */
export function adminServer(
  given: AdminInput | null | undefined,
  setting: FoundSetting | undefined,
): Server {
  const endpoint = adminEndpoint(given, setting);
  const access = accessOfDatabase(given);
  return {
    ...(access && { id: canonicalId(access.id) }),
    ...(endpoint && { address: `${comparedHost(endpoint.host)}:${endpoint.port}` }),
  };
}

/**
 * Whether the server of an administrator has another address than the saved one, as far as both are known.
 *
 * @param access the saved output, which has the address
 */
export function isMoved(access: unknown, given: AdminInput | null | undefined, run: Run): boolean {
  const saved = parsed(access);
  const before = isObject(saved) ? saved["connection"] : undefined;
  const now = adminEndpoint(given, run.options.settings.databaseHost);
  return before !== undefined && now !== undefined && !isSame(before, now);
}

/** Whether two are the same server. Two databases are compared by their ids. */
function isSameServer(one: Server, other: Server): boolean {
  if (one.id !== undefined && other.id !== undefined) return one.id === other.id;
  return one.address !== undefined && one.address === other.address;
}

/** A server in messages; undefined if nothing is known of it. */
export function shownServer({ id, address }: Server): string | undefined {
  return id === undefined ? address : databaseNamed(id);
}

/** A state with the administrator that the program gives, of a kind that has one. */
export function withAdmin(state: State, { admin }: Program, { options }: Run): State {
  if (admin === undefined) return state;
  const { memory } = state;
  const setting = options.settings.databaseHost;
  // What was known of the server stays known, because the next program may name it in the other way.
  const server = { ...memory.ofSource.server, ...adminServer(admin, setting) };
  const ofSource = { ...memory.ofSource, server, admin: adminMark(memory.salt, admin) };
  return {
    ...state,
    admin: { given: admin, endpoint: adminEndpoint(admin, setting) },
    memory: { ...memory, ofSource },
  };
}

/** A saved state with its administrator, which the output `access` contains. */
export function withSavedAdmin(state: State, access: unknown, { options }: Run): State {
  const saved = parsed(access);
  const given = isObject(saved) ? (saved["admin"] as AdminInput | undefined) : undefined;
  if (given === undefined) return state;
  return {
    ...state,
    admin: { given, endpoint: adminEndpoint(given, options.settings.databaseHost) },
  };
}

/** Whether the program gives another administrator than before, gives it in another form, or does not know it yet. */
export function isAdminChanged({ admin, unknown }: Program, { ofSource, salt }: Memory): boolean {
  if (unknown.has("admin")) return true;
  return admin !== undefined && adminMark(salt, admin) !== ofSource.admin;
}

/** Whether the program names another server than before, as far as both are known. */
export function isServerChanged({ admin }: Program, { ofSource }: Memory): boolean {
  const server = adminServer(admin, undefined);
  const before = ofSource.server;
  return before !== undefined && isKnown(server) && !isSameServer(before, server);
}

function isKnown({ id, address }: Server): boolean {
  return id !== undefined || address !== undefined;
}

/**
 * An administrator as it logs in. A password that its rotation does not save is read.
 *
 * @throws RekeyError if it is not known
 */
export async function redisAdminOf(
  given: AdminInput | null | undefined,
  subject: Subject,
  run: Run,
): Promise<RedisAdmin> {
  const endpoint = requireEndpoint(given, run.options.settings.databaseHost);
  if (isAdminValues(given)) {
    const { username, password } = given;
    return { ...endpoint, username: username ?? undefined, password };
  }
  const access = accessOfDatabase(given) as Access;
  const { current } = access;
  if (current === undefined) {
    const why = `the password of its admin, ${databaseNamed(access.id)}, is not known, because the last reset by its PasswordRotation is not confirmed, or no read has shown the password. Run \`up\` again without \`--target\` and \`--continue-on-error\`, so that the PasswordRotation settles it first. If no read shows the password, set a new version of the PasswordRotation, which resets it`;
    throw new RefusedError("REKEY_UNCONFIRMED", { secret: secretOf(subject), why });
  }
  const password = current.value ?? (await readPassword(access, subject, run));
  return { ...endpoint, username: current.username, password };
}

function databaseNamed(id: string): string {
  return ownerOf({ kind: databasePassword, id });
}

async function readPassword(access: Access, subject: Subject, run: Run): Promise<string> {
  const refuse = (why: string): never => {
    const whole = `the password of its admin, ${databaseNamed(access.id)}, is not saved, and ${why}`;
    throw new RefusedError("REKEY_NOT_READ", {
      secret: secretOf(subject),
      why: whole,
    });
  };
  if (!run.options.settings.canRead(databasePassword)) {
    return refuse(
      "this platform cannot be read. Set rekey:databasePath, or remove saveCredentials",
    );
  }
  try {
    const { credentials } = await run.platform.operations(databasePassword).read(access.id);
    const { password } = credentials;
    const isCurrent = password && saltedMark(access.salt, password) === access.current?.mark;
    return isCurrent
      ? password
      : refuse(
          "the platform does not show it. Run `pulumi refresh`, then `up`. If that does not help, remove saveCredentials and set a new version of the PasswordRotation, which resets it",
        );
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    return refuse(`could not be read: ${error.happened}. ${error.advice.replace(/\.$/, "")}`);
  }
}
