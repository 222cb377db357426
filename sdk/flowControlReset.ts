import type * as pulumi from "@pulumi/pulumi";
import { type FlowControlKey } from "../provider/records/flowControl";
import { DynamicResource } from "./dynamicResource";
import { type TriggerArgs } from "./trigger";

/** The arguments of `FlowControlReset`. */
export interface FlowControlResetArgs extends TriggerArgs {
  /** The key whose counters are reset. Changing it replaces the resource, and so resets the other key. */
  flowControlKey: pulumi.Input<string>;
  /**
   * Whether creating the resource resets the counters. `false` keeps them until `version` or `triggers` change. It
   * counts only when the resource is created.
   *
   * @default true
   */
  initialReset?: pulumi.Input<boolean> | undefined;
}

/**
 * Resets the counters of a flow-control key, so that waiting messages can be delivered at once: when it is created,
 * unless `initialReset` is false, and when its trigger changes. Previews, refresh and destroy never reset anything. The
 * platform's `reset` clears the parallelism counter and the rate counter; `resetRate`, which the preset `upstash` uses
 * if there is no `reset`, only the rate counter. A notice names the one that was sent.
 *
 * @example
 * ```ts
 * const reset = new FlowControlReset("orders", { flowControlKey: "orders", version: "incident-42" });
 * export const waiting = reset.after.apply((key) => key?.waitListSize);
 * ```
 */
export class FlowControlReset extends DynamicResource {
  /** The key. */
  declare readonly flowControlKey: pulumi.Output<string>;
  /** The key immediately before the last reset; undefined if it could not be read, or if there was no reset. */
  declare readonly before: pulumi.Output<FlowControlKey | undefined>;
  /**
   * The key immediately after the last reset; undefined if it could not be read, or if there was no reset. A platform
   * may show a reset with a delay.
   */
  declare readonly after: pulumi.Output<FlowControlKey | undefined>;
  /** Time of the last reset (ISO 8601, UTC); undefined if there was none. */
  declare readonly resetAt: pulumi.Output<string | undefined>;
  /** Number of resets by this resource. */
  declare readonly resetCount: pulumi.Output<number>;
  /** Mark of the trigger that was applied last. Secret, because a version may be. */
  declare readonly appliedTrigger: pulumi.Output<string>;

  constructor(name: string, args: FlowControlResetArgs, options?: pulumi.CustomResourceOptions) {
    super("FlowControlReset", name, args, options);
  }
}
