import { type LocatedDatabase } from "../api/endpoint";
import { InputError } from "../api/errors";
import { type Properties, unknownNames } from "../engineValues";
import { type Connection, connectionIn, connectionNames, urlFor } from "../lifecycle/connection";
import { type Resource } from "../lifecycle/resourceTable";
import { type Session } from "../lifecycle/session";
import { unknownValue } from "../records/markers";

/** The URL of a database; undefined if its password or its endpoint is not known. */
export function knownUrl(
  database: LocatedDatabase,
  connection: Connection,
  password: string | undefined,
  session: Session,
): string | undefined {
  try {
    return urlFor(database, connection, password, session.options.databaseHost());
  } catch (error) {
    if (error instanceof InputError) return undefined;
    throw error;
  }
}

/** Adds the output `connectionUrl` to the outputs of a rotation, for plain inputs. */
export function withConnectionUrl(
  { hasConnectionUrl }: Resource,
  { connectionUrl: _former, ...outputs }: Properties,
  inputs: Properties,
  session: Session,
): Properties {
  if (!hasConnectionUrl) return outputs;
  const unknown = unknownNames(inputs);
  if (connectionNames.some((name) => unknown.has(name))) return { ...outputs, connectionUrl: unknownValue };
  const { databaseId, record, password } = outputs as unknown as LocatedDatabase & { readonly password?: string };
  const url = knownUrl({ databaseId, record }, connectionIn(inputs), password, session);
  return url === undefined ? outputs : { ...outputs, connectionUrl: url };
}

/**
 * Whether a rotation must save another `connectionUrl`, which sends nothing. A stack that was saved by a version without
 * this output stays unchanged until its next reset. One that was moved from the SDK gets the output at once, because its
 * program can no longer derive it.
 */
export function isUrlOutdated(resource: Resource, saved: Properties, inputs: Properties, session: Session): boolean {
  const isMoved = saved["__provider"] !== undefined;
  const isGiven = connectionNames.some((name) => (inputs[name] ?? undefined) !== undefined);
  if (saved["connectionUrl"] === undefined && !isMoved && !isGiven) return false;
  return withConnectionUrl(resource, saved, inputs, session)["connectionUrl"] !== saved["connectionUrl"];
}
