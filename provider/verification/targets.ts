import { databasePassword, kindNamed, ownerOf, type Subject } from "../domain/secretKind";
import { isObject, isSet } from "../records/fields";
import { type Access, type AccessCredential, accessIn } from "../rotation/access";
import { restConnection, usernameFor } from "../rotation/databaseEndpoint";
import { type Connection } from "../rotation/memory";
import { type RotationInputs } from "../rotation/program";

/** One secret to verify. */
export interface Target extends Access {
  readonly subject: Subject;
  /** Its name in messages: that of the program, if it belongs to a fleet. */
  readonly name: string;
}

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
  if (!access || !kind || typeof access.count !== "number") {
    throw new Error("it is not about a secret");
  }
  const { id, server, current, former } = access;
  const subject = { kind, id, server };
  // A user is tried on its server, by its name.
  const own = kind === databasePassword ? ofVerification : {};
  return {
    ...access,
    subject,
    name: ownerOf(subject),
    connection: connectionFor(access, own),
    current: current && withUser(current, id, own),
    former: former && withUser(former, id, own),
  };
}

function connectionFor({ connection = {}, current }: Partial<Access>, own: Connection): Connection {
  return { ...(current?.name === "restToken" ? restConnection(connection) : connection), ...own };
}

/** A password has the user that the verification sets, if it sets one. */
function withUser(
  credential: AccessCredential,
  databaseId: string,
  own: Connection,
): AccessCredential {
  if (credential.name !== "password" || own.username === undefined) return credential;
  return { ...credential, username: usernameFor({ databaseId }, own) };
}

/** What the program sets of a connection. */
export function connectionIn(given: RotationInputs["connection"]): Connection {
  return Object.fromEntries(Object.entries(given ?? {}).filter(([, value]) => isSet(value)));
}

/** Only the connection of a database is used. */
export function connectionsIn(targets: readonly Target[]): Connection[] {
  return targets.flatMap(({ subject, connection }) =>
    subject.kind === databasePassword && connection ? [connection] : [],
  );
}
