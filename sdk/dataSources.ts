import * as pulumi from "@pulumi/pulumi";
import { callFunction } from "../provider/engine/functions";
import { childrenOf, initializationOf, isMocked } from "../provider/engine/pulumiInternals";
import { InputError, RekeyError } from "../provider/domain/errors";
import { type PlatformClient } from "../provider/run/platformClient";
import { type ListedDatabase } from "../provider/records/database";
import { type FlowControlKey, type GlobalParallelism } from "../provider/records/flowControl";
import { type Properties } from "../provider/pulumi/values";
import { ending, perRun, settingsOfProgram, warnOfSettings } from "./program";

/** The arguments of a data source's Output form. */
export type InputsOf<Args> = { [K in keyof Args]: pulumi.Input<Args[K]> };

/** Options of a data source's Output form. */
export interface DataSourceOptions {
  /**
   * Resources to wait for before the platform is read, for example a FlowControlReset. A component includes its
   * children.
   *
   * @default none
   */
  dependsOn?:
    pulumi.Input<pulumi.Input<pulumi.Resource>[]> | pulumi.Input<pulumi.Resource> | undefined;
}

/** The arguments of `getFlowControlKey`. */
export interface GetFlowControlKeyArgs {
  /** The key to read. */
  flowControlKey: string;
}

/**
 * Reads the state of one flow-control key: waiting and running messages, and its limits. A key without state has
 * `exists: false` and counters of 0. Reads that are started together share their requests: the same key is read once,
 * and more than 8 keys are read by one list request.
 *
 * @throws SettingsError, InputError or RequestError
 * @example
 * ```ts
 * const { waitListSize } = await getFlowControlKey({ flowControlKey: "orders" });
 * ```
 */
export function getFlowControlKey(args: GetFlowControlKeyArgs): Promise<FlowControlKey> {
  return readNow("getFlowControlKey", args);
}

/**
 * `getFlowControlKey` for Inputs. It reads after `dependsOn`, and not while an input is unknown.
 *
 * @example
 * ```ts
 * const key = getFlowControlKeyOutput({ flowControlKey: "orders" }, { dependsOn: reset });
 * export const waiting = key.waitListSize;
 * ```
 */
export function getFlowControlKeyOutput(
  args: InputsOf<GetFlowControlKeyArgs>,
  options?: DataSourceOptions,
): pulumi.Output<FlowControlKey> {
  return readAfter("getFlowControlKey", args, options);
}

/** The arguments of `getFlowControlKeys`. */
export interface GetFlowControlKeysArgs {
  /**
   * Filters the keys by name. The platform decides whether it matches any part or the beginning of the name.
   *
   * @default none: all keys
   */
  search?: string | undefined;
}

/** The result of `getFlowControlKeys`. */
export interface GetFlowControlKeysResult {
  /** The keys, with their counters and limits. */
  readonly keys: readonly FlowControlKey[];
}

/**
 * Lists the flow-control keys that have state, with their counters and limits.
 *
 * @throws SettingsError, InputError or RequestError
 * @example
 * ```ts
 * const { keys } = await getFlowControlKeys({ search: "orders" });
 * ```
 */
export function getFlowControlKeys(
  args: GetFlowControlKeysArgs = {},
): Promise<GetFlowControlKeysResult> {
  return readNow("getFlowControlKeys", args);
}

/**
 * `getFlowControlKeys` for Inputs. It reads after `dependsOn`, and not while an input is unknown.
 *
 * @example
 * ```ts
 * const keys = getFlowControlKeysOutput({}, { dependsOn: reset }).keys;
 * ```
 */
export function getFlowControlKeysOutput(
  args: InputsOf<GetFlowControlKeysArgs> = {},
  options?: DataSourceOptions,
): pulumi.Output<GetFlowControlKeysResult> {
  return readAfter("getFlowControlKeys", args, options);
}

/**
 * Reads how many messages are running, and how many may run, across all keys. Older platforms return `waitListSize`
 * only.
 *
 * @throws SettingsError or RequestError
 * @example
 * ```ts
 * const { parallelismCount, parallelismMax } = await getGlobalParallelism();
 * ```
 */
export function getGlobalParallelism(): Promise<GlobalParallelism> {
  return readNow("getGlobalParallelism", {});
}

/**
 * `getGlobalParallelism` after `dependsOn`. It does not read while one of these resources is unknown.
 *
 * @example
 * ```ts
 * const parallelism = getGlobalParallelismOutput({ dependsOn: reset });
 * ```
 */
export function getGlobalParallelismOutput(
  options?: DataSourceOptions,
): pulumi.Output<GlobalParallelism> {
  return readAfter("getGlobalParallelism", {}, options);
}

/** The result of `getDatabases`. */
export interface GetDatabasesResult {
  /** All databases of the account, in the order of the platform. */
  readonly databases: readonly ListedDatabase[];
}

/**
 * Lists all databases of the account: ids, names, states, regions and creation times, and never a credential. A list
 * that cannot be read as a whole is an error, so that a fleet does not lose databases. It needs
 * `rekey:databaseListPath`, which the preset `upstash` sets.
 *
 * @throws SettingsError, InputError or RequestError
 * @example
 * ```ts
 * const { databases } = await getDatabases();
 * const ids = databases.map(({ databaseId }) => databaseId);
 * ```
 */
export function getDatabases(): Promise<GetDatabasesResult> {
  return readNow("getDatabases", {});
}

/**
 * `getDatabases` after `dependsOn`. It does not read while one of these resources is unknown.
 *
 * @example
 * ```ts
 * const databases = getDatabasesOutput({ dependsOn: cache }).databases;
 * ```
 */
export function getDatabasesOutput(options?: DataSourceOptions): pulumi.Output<GetDatabasesResult> {
  return readAfter("getDatabases", {}, options);
}

const platformOfRun = perRun((): PlatformClient => {
  warnOfSettings();
  // Loaded on first use: axios and zod would slow down every import of this package.
  const { PlatformClient } =
    require("../provider/run/platformClient") as typeof import("../provider/run/platformClient");
  return new PlatformClient(settingsOfProgram());
});

/**
 * Calls a function of the package, or asks `call` of `pulumi.runtime.setMocks`: a unit test sends no request.
 *
 * @throws RekeyError that ends the program, unless the program catches it
 */
async function readNow<Result>(name: string, args: object): Promise<Result> {
  try {
    if (isMocked(pulumi.runtime.getMonitor())) {
      return (await pulumi.runtime.invoke(`rekey:index:${name}`, { ...args })) as Result;
    }
    return (await callFunction(name, platformOfRun(), args as Properties)) as Result;
  } catch (error) {
    if (!(error instanceof RekeyError)) throw error;
    const isInput = error instanceof InputError;
    throw ending(
      isInput
        ? new InputError(error.property, error.reason, { of: name, afterReset: true })
        : error,
    );
  }
}

/** Reads when the arguments are known and the resources are done; not while one is unknown, as in a preview. */
function readAfter<Result>(
  name: string,
  args: object,
  { dependsOn }: DataSourceOptions = {},
): pulumi.Output<Result> {
  const done = pulumi.output(dependsOn).apply(allDone);
  return pulumi
    .all([pulumi.output<object>(args), done])
    .apply(([known]) => readNow<Result>(name, known));
}

/**
 * Resolves when resources are done, including the children of components. In a preview it is unknown if one is unknown.
 * `pulumi.output(resource)` does not wait for resources.
 */
function allDone(
  resources: pulumi.Unwrap<pulumi.Resource[]> | pulumi.Resource = [],
): pulumi.Output<unknown> {
  return pulumi.all((Array.isArray(resources) ? resources : [resources]).map(done));
}

function done(resource: pulumi.Resource): pulumi.Output<unknown> {
  if (pulumi.CustomResource.isInstance(resource)) {
    // In a preview of a FlowControlReset, id and urn are known, but its outputs are not.
    const { resetCount } = resource as { readonly resetCount?: unknown };
    return pulumi.all([resource.urn, resource.id, resetCount]);
  }
  return pulumi
    .all([resource.urn, initializationOf(resource)])
    .apply(() => allDone(childrenOf(resource)));
}
