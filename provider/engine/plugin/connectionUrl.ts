import { type Resource } from "../resources";
import { type Properties, unknownNames, unknownValue } from "../../records/properties";
import { type LocatedDatabase, connectionIn, connectionNames, urlFor } from "../../rotation/clientEndpoint";
import { type RunSession } from "../session";

/**
 * The URL of a database; undefined if its password or its endpoint is not known. It never throws: a reset must not be
 * lost because of its URL.
 */
export function knownUrl(
  database: LocatedDatabase,
  inputs: Properties,
  password: string | undefined,
  session: RunSession,
): string | undefined {
  try {
    return urlFor(database, connectionIn(inputs), password, session.options.databaseHost());
  } catch {
    return undefined;
  }
}

/** Adds the output `connectionUrl` to the outputs of a rotation, for plain inputs. */
export function withConnectionUrl(
  { hasConnectionUrl }: Resource,
  { connectionUrl: _former, ...outputs }: Properties,
  inputs: Properties,
  session: RunSession,
): Properties {
  if (!hasConnectionUrl) return outputs;
  const unknown = unknownNames(inputs);
  if (connectionNames.some((name) => unknown.has(name))) return { ...outputs, connectionUrl: unknownValue };
  const { databaseId, record, password } = outputs as unknown as LocatedDatabase & { readonly password?: string };
  const connectionUrl = knownUrl({ databaseId, record }, inputs, password, session);
  return { ...outputs, ...(connectionUrl !== undefined && { connectionUrl }) };
}

/**
 * Whether a rotation must save another `connectionUrl`, which sends nothing. A stack of a version without this output
 * stays unchanged until its next reset. One that was moved from the SDK gets it at once, because its program can no
 * longer derive it.
 */
export function isUrlOutdated(resource: Resource, saved: Properties, inputs: Properties, session: RunSession): boolean {
  const isMoved = saved["__provider"] !== undefined;
  const isGiven = connectionNames.some((name) => (inputs[name] ?? undefined) !== undefined);
  if (saved["connectionUrl"] === undefined && !isMoved && !isGiven) return false;
  return withConnectionUrl(resource, saved, inputs, session)["connectionUrl"] !== saved["connectionUrl"];
}
