import { InputError } from "../../platform/errors";
import { type AnyResource, type CheckFailure, checkFailures, messagesOf } from "../../resource";
import { resources } from "../resources";
import {
  type Properties,
  reveal,
  secretNames,
  unknownNames,
  unknownValue,
  withoutProvider,
  wrap,
} from "../../records/properties";
import { connectionIn, connectionNames, withoutConnection } from "../../rotation/connection";
import { knownUrl, type LocatedDatabase, restUrlFor, urlFor } from "../../rotation/endpoint";
import { type KnownCredentials } from "../../rotation/fleet";
import { type Run } from "../../run";

/** Outputs of a PasswordRotation that only the plugin saves: the SDK derives them in the program. */
const urlOutputs = ["connectionUrl", "restUrl"];

function hasUrls(resource: AnyResource): boolean {
  return resource === resources.PasswordRotation;
}

/** The names of all outputs that the plugin saves. */
export function outputsOf(resource: AnyResource): string[] {
  return [...resource.outputs, ...(hasUrls(resource) ? urlOutputs : [])];
}

/** The names of those that are always secret. */
export function secretsOf(resource: AnyResource): string[] {
  return [...resource.secretOutputs, ...(hasUrls(resource) ? urlOutputs : [])];
}

/**
 * What is wrong with the inputs of a resource, including those that describe the connection of a rotation, of which
 * only the plugin makes outputs.
 */
export function checkWithConnection(resource: AnyResource, news: Properties, run: Run, urn: string): string[] {
  const [inputs, unknown] = [plain(news), unknownNames(news)];
  if (!hasUrls(resource)) return messagesOf(checkFailures(resource, inputs, unknown, run, urn));
  // A wrong setting is reported before anything is sent.
  run.options.databaseHost();
  return messagesOf([
    ...checkFailures(resource, withoutConnection(inputs), unknown, run, urn),
    ...checkConnection(inputs, unknown, run.options.databaseHost),
  ]);
}

/** What is wrong with the inputs that describe a connection, as far as they are known. */
export function checkConnection(
  inputs: Properties,
  unknown: ReadonlySet<string>,
  hostSetting: Run["options"]["databaseHost"],
): CheckFailure[] {
  const known = Object.entries(inputs).filter(([name]) => !unknown.has(name));
  try {
    connectionIn(Object.fromEntries(known), unknown.has("host") ? undefined : hostSetting);
    return [];
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    return [{ property: error.property, reason: `${error.property} ${error.reason}` }];
  }
}

/** Adds the outputs `connectionUrl` and `restUrl` to the outputs of a rotation, for plain inputs. */
export function withUrls(resource: AnyResource, applied: Properties, inputs: Properties, run: Run): Properties {
  if (!hasUrls(resource)) return applied;
  const { connectionUrl: _formerUrl, restUrl: _formerRestUrl, ...outputs } = applied;
  const unknown = unknownNames(inputs);
  if (connectionNames.some((name) => unknown.has(name))) {
    return { ...outputs, connectionUrl: unknownValue, restUrl: unknownValue };
  }
  const { databaseId, record, password, restToken } = outputs as unknown as LocatedDatabase & KnownCredentials;
  const database = { databaseId, record };
  const connectionUrl = knownUrl(urlFor, database, inputs, password, run.options.databaseHost);
  const restUrl = knownUrl(restUrlFor, database, inputs, restToken, run.options.databaseHost);
  return { ...outputs, connectionUrl, restUrl };
}

/**
 * Whether a rotation must save another URL, which sends nothing. One whose URLs were not known stays unchanged until
 * its next reset. One that was moved from the SDK gets `connectionUrl`, and with it `restUrl`, at once, because its
 * program can no longer derive them.
 */
export function areUrlsOutdated(resource: AnyResource, saved: Properties, inputs: Properties, run: Run): boolean {
  const isMoved = saved["__provider"] !== undefined;
  const isGiven = connectionNames.some((name) => (inputs[name] ?? undefined) !== undefined);
  const current = withUrls(resource, saved, inputs, run);
  const differs = (name: string) => current[name] !== saved[name];
  if (saved["restUrl"] !== undefined && differs("restUrl")) return true;
  return (saved["connectionUrl"] !== undefined || isMoved || isGiven) && differs("connectionUrl");
}

/** Values without marks. State that the dynamic adapter saved also contains its text. */
export function plain(properties: Properties): Properties {
  return withoutProvider(reveal(properties) as Properties);
}

/** Outputs with marks on all secrets, also on those of the inputs or former outputs with the same name. */
export function marked(resource: AnyResource, outputs: Properties, like: Properties): Properties {
  return wrap(outputs, [...new Set([...secretsOf(resource), ...secretNames(like)])]);
}

/** The outputs of a change in a preview. */
export function planned(resource: AnyResource, inputs: Properties): Properties {
  const unknown = Object.fromEntries(outputsOf(resource).map((name) => [name, unknownValue]));
  const { idInput, onlyId } = resource;
  return marked(resource, { ...unknown, [idInput]: onlyId ?? reveal(inputs[idInput]) }, inputs);
}
