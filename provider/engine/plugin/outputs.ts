import { InputError } from "../../platform/errors";
import { type AnyResource, type CheckFailure, checkFailures, messagesOf } from "../../resource";
import { resources } from "../resources";
import {
  type Properties,
  reveal,
  secret,
  secretNames,
  unknownNames,
  unknownValue,
  withoutProvider,
  wrap,
} from "../../records/properties";
import { isWholeTime, nextRotation } from "../../rotation/planRotation";
import { connectionIn, connectionNames, withoutConnection } from "../../rotation/connection";
import { knownUrl, type LocatedDatabase, restUrlFor, urlFor } from "../../rotation/endpoint";
import { type KnownCredentials } from "../../rotation/fleetOutputs";
import { type Run } from "../../run";

/** Outputs of a PasswordRotation that only the plugin saves: the SDK derives them in the program. */
const urlOutputs = ["connectionUrl", "restUrl"];

function hasUrls(resource: AnyResource): boolean {
  return resource === resources.PasswordRotation;
}

function isRotation(resource: AnyResource): boolean {
  return resource.outputs.includes("adoptedAt");
}

/** The names of all outputs that the plugin saves. */
export function outputsOf(resource: AnyResource): string[] {
  return [
    ...resource.outputs,
    ...(isRotation(resource) ? ["nextRotationAt"] : []),
    ...(hasUrls(resource) ? urlOutputs : []),
  ];
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

/** Adds the outputs of a rotation that the SDK derives in the program. */
export function withDerived(resource: AnyResource, applied: Properties, inputs: Properties, run: Run): Properties {
  return withNextRotation(resource, withUrls(resource, applied, plain(inputs), run), inputs);
}

/** Adds the output `nextRotationAt`, which is secret if `rotateEvery` is. */
export function withNextRotation(resource: AnyResource, outputs: Properties, inputs: Properties): Properties {
  if (!isRotation(resource)) return outputs;
  const next = nextRotationOf(outputs, inputs);
  const isHidden = next !== undefined && secretNames(inputs).includes("rotateEvery");
  return { ...outputs, nextRotationAt: isHidden ? secret(next) : next };
}

function nextRotationOf({ rotatedAt, adoptedAt }: Properties, inputs: Properties): string | undefined {
  const rotateEvery = reveal(inputs["rotateEvery"]) as string | undefined;
  if (rotateEvery === unknownValue) return unknownValue;
  const last = rotatedAt ?? adoptedAt;
  return isWholeTime(last) ? nextRotation(last, rotateEvery) : undefined;
}

/** Adds the outputs `connectionUrl` and `restUrl` to the outputs of a rotation, for plain inputs. */
function withUrls(resource: AnyResource, applied: Properties, inputs: Properties, run: Run): Properties {
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
 * Whether a rotation must save another output that is derived, which sends nothing.
 *
 * @param saved its outputs
 * @param savedInputs empty if the engine does not pass them
 */
export function areDerivedOutdated(
  resource: AnyResource,
  saved: Properties,
  savedInputs: Properties,
  inputs: Properties,
  run: Run,
): boolean {
  return (
    isNextRotationOutdated(resource, saved, savedInputs, inputs) || areUrlsOutdated(resource, saved, plain(inputs), run)
  );
}

/**
 * A state of an earlier version without the time of the next rotation gets it with the next refresh, reset or change of
 * `rotateEvery`.
 */
function isNextRotationOutdated(
  resource: AnyResource,
  { nextRotationAt, ...saved }: Properties,
  savedInputs: Properties,
  inputs: Properties,
): boolean {
  if (!isRotation(resource) || nextRotationOf(saved, inputs) === nextRotationAt) return false;
  const isMoved = savedInputs["__provider"] !== undefined;
  const isChanged =
    Object.keys(savedInputs).length > 0 && reveal(savedInputs["rotateEvery"]) !== reveal(inputs["rotateEvery"]);
  return nextRotationAt !== undefined || isMoved || isChanged;
}

/**
 * Whether a rotation must save another URL. One whose URLs were not known stays unchanged until
 * its next reset. One that was moved from the SDK gets `connectionUrl`, and with it `restUrl`, at once, because its
 * program can no longer derive them.
 */
function areUrlsOutdated(resource: AnyResource, saved: Properties, inputs: Properties, run: Run): boolean {
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
