import type * as pulumi from "@pulumi/pulumi";
import { secretFlowControlResetOutputs } from "../provider/lifecycle/resource";
import { type FlowControlKey } from "../provider/records/flowControl";
import { DynamicResource, isOfType } from "./dynamicResource";

const type = "FlowControlReset";

/** What a `FlowControlReset` is made of. */
export interface FlowControlResetArgs {
  /** The key whose counters are reset. A change makes a new resource, and so a reset of the other key. */
  flowControlKey: pulumi.Input<string>;
  /**
   * The counters are reset when this changes; an incident's id is a good one. `1` and `"1"` are the same.
   *
   * @default none: only creating the resource resets
   */
  version?: pulumi.Input<string | number> | undefined;
  /**
   * Further values whose change resets the counters, together with `version`. Taking all of them away resets nothing.
   *
   * @default none
   */
  triggers?: pulumi.Input<Record<string, pulumi.Input<string | number | boolean>>> | undefined;
}

/**
 * Resets the parallelism and rate counters of a flow-control key, so that waiting messages can be dispatched at once:
 * when it is created, and when its trigger changes. Preview, refresh and destroy never reset anything.
 *
 * @see Interface, section 4.3
 */
export class FlowControlReset extends DynamicResource {
  /** The key. */
  declare readonly flowControlKey: pulumi.Output<string>;
  /** The key right before the reset; undefined where it could not be read. */
  declare readonly before: pulumi.Output<FlowControlKey | undefined>;
  /**
   * The key right after the reset; undefined where it could not be read. Platforms may take a moment to show a reset.
   */
  declare readonly after: pulumi.Output<FlowControlKey | undefined>;
  /** Time of the last reset (ISO 8601, UTC). */
  declare readonly resetAt: pulumi.Output<string>;
  /** Resets by this resource. */
  declare readonly resetCount: pulumi.Output<number>;
  /** Mark of the trigger that was answered last. Secret, because a version may be one. */
  declare readonly appliedTrigger: pulumi.Output<string>;

  /**
   * @param name unique name of the resource in its stack. A rename without `aliases` makes a new resource, and so a
   * reset.
   * @throws RunError if Pulumi's provider host would not find or configure this package, and for the options `import`
   * and `id`.
   */
  constructor(name: string, args: FlowControlResetArgs, options?: pulumi.CustomResourceOptions) {
    const outputs = {
      before: undefined,
      after: undefined,
      resetAt: undefined,
      resetCount: undefined,
      appliedTrigger: undefined,
    };
    super(type, "flowControlReset", name, { ...outputs, ...args }, secretFlowControlResetOutputs, options);
  }

  /** Whether an object is a FlowControlReset, also one of another copy of this package. */
  static override isInstance(this: void, object: unknown): object is FlowControlReset {
    return isOfType(type, object);
  }
}
