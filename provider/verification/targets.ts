import { databasePassword, kindNamed, ownerOf, type Subject } from "../domain/secretKind";
import { isObject } from "../records/fields";
import { type Access, type AccessCredential, accessIn } from "../rotation/program/access";
import { restConnection, usernameFor } from "../rotation/program/databaseEndpoint";
import { type Connection } from "../rotation/memory/memory";

/** One secret to verify. */
export interface Target extends Access {
  readonly subject: Subject;
  /** Its name in messages: that of the program, if it belongs to a fleet. */
  readonly name: string;
}

/** A target whose current credential is known. */
export type KnownTarget = Target & { readonly current: AccessCredential };

/**
 * The secrets of the output `access` of a rotation or a fleet.
 *
 * @param own has precedence over the connection of the rotation
 * @throws Error if it is something else
 */
export function targetsIn(text: string, own: Connection = {}): Target[] {
  const given: unknown = JSON.parse(text);
  if (!isObject(given)) throw new Error("it is not an object");
  if (typeof given["id"] === "string") return [targetOf(given, own)];
  return Object.entries(given).map(([name, access]) => ({
    ...targetOf(access, own),
    name: JSON.stringify(name),
  }));
}

function targetOf(given: unknown, ofVerification: Connection): Target {
  const access = accessIn(given);
  const kind = kindNamed(access?.of);
  if (!access || !kind) throw new Error("it is not about a secret");
  const { id, server, connection = {}, current, former } = access;
  const subject = { kind, id, server };
  // A user is tried on its server, by its name.
  const own = kind === databasePassword ? ofVerification : {};
  const ofRotation = current?.name === "restToken" ? restConnection(connection) : connection;
  const asUser = (credential: AccessCredential | undefined) =>
    credential?.name === "password" && own.username !== undefined
      ? { ...credential, username: usernameFor(id, own.username) }
      : credential;
  return {
    ...access,
    subject,
    name: ownerOf(subject),
    connection: { ...ofRotation, ...own },
    current: asUser(current),
    former: asUser(former),
  };
}
