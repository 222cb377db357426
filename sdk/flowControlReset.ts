import * as pulumi from "@pulumi/pulumi";
import { type FlowControlKey } from "../provider/records/flowControl";
import { DynamicResource, isOfType, type ResourceType } from "./dynamicResource";
import { endOfTurn } from "./program";
import { flowControlResetOutputs, secretFlowControlResetOutputs } from "../provider/flowControl/flowControlReset";

const resourceType: ResourceType = {
  type: "FlowControlReset",
  outputs: flowControlResetOutputs,
  secretOutputs: secretFlowControlResetOutputs,
};

/** The arguments of `FlowControlReset`. */
export interface FlowControlResetArgs {
  /** The key whose counters are reset. Changing it replaces the resource, and so resets the other key. */
  flowControlKey: pulumi.Input<string>;
  /**
   * The counters are reset when this changes, for example to the id of an incident. `1` and `"1"` are the same.
   *
   * @default none: only creating the resource resets
   */
  version?: pulumi.Input<string | number> | undefined;
  /**
   * Further values whose change resets the counters, in addition to `version`. Removing all of them resets nothing.
   *
   * @default none
   */
  triggers?: pulumi.Input<Record<string, pulumi.Input<string | number | boolean>>> | undefined;
}

/**
 * Resets the counters of a flow-control key, so that waiting messages can be delivered at once: when it is created, and
 * when its trigger changes. Previews, refresh and destroy never reset anything. The platform's `reset` clears the
 * parallelism counter and the rate counter; `resetRate`, which the preset `upstash` uses if there is no `reset`, only
 * the rate counter. A notice names the one that was sent, and reports if messages still wait because the parallelism is
 * used up.
 *
 * Renaming the resource without `aliases` replaces it, and so resets the counters.
 *
 * @throws RekeyError if Pulumi's provider host cannot find or configure this package, or for the option `import` or
 * `id`.
 * @example
 * ```ts
 * const reset = new FlowControlReset("orders", { flowControlKey: "orders", version: "incident-42" });
 * export const waiting = reset.after.apply((key) => key?.waitListSize);
 * ```
 */
export class FlowControlReset extends DynamicResource {
  /** The key. */
  declare readonly flowControlKey: pulumi.Output<string>;
  /** The key immediately before the reset; undefined if it could not be read. */
  declare readonly before: pulumi.Output<FlowControlKey | undefined>;
  /**
   * The key immediately after the reset; undefined if it could not be read. A platform may show a reset with a delay.
   */
  declare readonly after: pulumi.Output<FlowControlKey | undefined>;
  /** Time of the last reset (ISO 8601, UTC). */
  declare readonly resetAt: pulumi.Output<string>;
  /** Number of resets by this resource. */
  declare readonly resetCount: pulumi.Output<number>;
  /** Mark of the trigger of the last reset. Secret, because a version may be. */
  declare readonly appliedTrigger: pulumi.Output<string>;

  constructor(name: string, args: FlowControlResetArgs, options?: pulumi.CustomResourceOptions) {
    const flowControlKey = pulumi.output(args.flowControlKey).apply(async (key) => {
      await endOfTurn();
      return key;
    });
    super(resourceType, name, { ...args, flowControlKey }, options);
  }

  /** Whether an object is a FlowControlReset, even from another copy of this package. */
  static override isInstance(this: void, object: unknown): object is FlowControlReset {
    return isOfType(resourceType, object);
  }
}
