import type * as pulumi from "@pulumi/pulumi";
import { type FlowControlKey, type GlobalParallelism } from "../provider/records/flowControl";
import { type DataSourceOptions, type InputsOf, read, readAfter } from "./dataSource";

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
  return read("getFlowControlKey", args);
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

/** What `getFlowControlKeys` returns. */
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
export function getFlowControlKeys(args: GetFlowControlKeysArgs = {}): Promise<GetFlowControlKeysResult> {
  return read("getFlowControlKeys", args);
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
  return read("getGlobalParallelism", {});
}

/**
 * `getGlobalParallelism` after `dependsOn`. It does not read while one of these resources is unknown.
 *
 * @example
 * ```ts
 * const parallelism = getGlobalParallelismOutput({ dependsOn: reset });
 * ```
 */
export function getGlobalParallelismOutput(options?: DataSourceOptions): pulumi.Output<GlobalParallelism> {
  return readAfter("getGlobalParallelism", {}, options);
}
