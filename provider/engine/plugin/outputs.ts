import { type AnyResource } from "../resources";
import {
  type Properties,
  reveal,
  secretNames,
  unknownNames,
  unknownValue,
  withoutProvider,
  wrap,
} from "../../records/properties";
import { type LocatedDatabase, connectionIn, connectionNames, restUrlFor, urlFor } from "../../rotation/clientEndpoint";
import { type KnownCredentials } from "../../rotation/fleet";
import { type RunSession } from "../session";

/**
 * A URL of a database; undefined if its credential or its endpoint is not known. It never throws: a reset must not be
 * lost because of its URL.
 */
export function knownUrl(
  urlOf: typeof urlFor,
  database: LocatedDatabase,
  inputs: Properties,
  credential: string | undefined,
  session: RunSession,
): string | undefined {
  try {
    return urlOf(database, connectionIn(inputs), credential, session.options.databaseHost());
  } catch {
    return undefined;
  }
}

/** Adds the outputs `connectionUrl` and `restUrl` to the outputs of a rotation, for plain inputs. */
export function withUrls(
  { hasUrls }: AnyResource,
  { connectionUrl: _formerUrl, restUrl: _formerRestUrl, ...outputs }: Properties,
  inputs: Properties,
  session: RunSession,
): Properties {
  if (!hasUrls) return outputs;
  const unknown = unknownNames(inputs);
  if (connectionNames.some((name) => unknown.has(name))) {
    return { ...outputs, connectionUrl: unknownValue, restUrl: unknownValue };
  }
  const { databaseId, record, password, restToken } = outputs as unknown as LocatedDatabase & KnownCredentials;
  const database = { databaseId, record };
  const connectionUrl = knownUrl(urlFor, database, inputs, password, session);
  const restUrl = knownUrl(restUrlFor, database, inputs, restToken, session);
  return { ...outputs, connectionUrl, restUrl };
}

/** The outputs that a refresh saves: the URLs follow the credentials, unless the stack has saved none so far. */
export function withRefreshedUrls(
  resource: AnyResource,
  outputs: Properties,
  saved: Properties,
  inputs: Properties,
  session: RunSession,
): Properties {
  // Only a changed database has another record object: the one that was read.
  const isChanged = outputs["record"] !== saved["record"];
  return isChanged ? withUrls(resource, outputs, inputs, session) : outputs;
}

/**
 * Whether a rotation must save another URL, which sends nothing. A stack of a version without these outputs stays
 * unchanged until its next reset. One that was moved from the SDK gets `connectionUrl`, and with it `restUrl`, at
 * once, because its program can no longer derive them.
 */
export function areUrlsOutdated(
  resource: AnyResource,
  saved: Properties,
  inputs: Properties,
  session: RunSession,
): boolean {
  const isMoved = saved["__provider"] !== undefined;
  const isGiven = connectionNames.some((name) => (inputs[name] ?? undefined) !== undefined);
  const current = withUrls(resource, saved, inputs, session);
  const differs = (name: string) => current[name] !== saved[name];
  if (saved["restUrl"] !== undefined && differs("restUrl")) return true;
  return (saved["connectionUrl"] !== undefined || isMoved || isGiven) && differs("connectionUrl");
}

/** Values without marks. State that the dynamic adapter saved also contains its text. */
export function plain(properties: Properties): Properties {
  return withoutProvider(reveal(properties) as Properties);
}

/** Outputs with marks on all secrets, also on those of the inputs or former outputs with the same name. */
export function marked({ secretOutputs }: AnyResource, outputs: Properties, like: Properties): Properties {
  return wrap(outputs, [...new Set([...secretOutputs, ...secretNames(like)])]);
}

/** The outputs of a change in a preview. */
export function planned(resource: AnyResource, inputs: Properties): Properties {
  const unknown = Object.fromEntries(resource.outputs.map((name) => [name, unknownValue]));
  const { idInput } = resource;
  return marked(resource, { ...unknown, [idInput]: reveal(inputs[idInput]) }, inputs);
}
