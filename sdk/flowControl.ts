import type * as pulumi from "@pulumi/pulumi";
import { type FlowControlKey } from "../provider/records/flowControl";
import { DynamicResource } from "./dynamicResource";
import { type TriggerArgs } from "./rotation";

/** The arguments of `FlowControlLimits`. */
export interface FlowControlLimitsArgs {
  /** The key. Changing it replaces the resource: the limits of the old key are unpinned. */
  flowControlKey: pulumi.Input<string>;
  /**
   * Maximum number of messages that run at the same time: a whole number, at least 1. Changing it
   * pins the new value, which resets the counters; removing it unpins the parallelism.
   *
   * @default none: the parallelism is not pinned
   */
  parallelism?: pulumi.Input<number> | undefined;
  /**
   * Maximum number of messages that are dispatched in one period: a whole number, at least 1. Changing it
   * pins the new value, which resets the counters; removing it unpins the rate.
   *
   * @default none: the rate is not pinned
   */
  rate?: pulumi.Input<number> | undefined;
  /**
   * Length of the rate period: a duration (`30s`, `1d`, `PT1H`) or a number of seconds; whole seconds, at most a week.
   * It needs `rate`. Changing it pins the rate again, which resets the counters.
   *
   * @default 1 s
   */
  period?: pulumi.Input<string | number> | undefined;
  /**
   * If `true`, delivery is paused; if `false`, it is not. Messages of a paused key wait. Changing it pauses or resumes
   * the key; removing it does neither.
   *
   * @default none: this resource neither pauses nor resumes the key
   */
  paused?: pulumi.Input<boolean> | undefined;
}

/**
 * Pins the limits of a flow-control key, so that messages cannot change them, and pauses or resumes it. It needs
 * `parallelism`, `rate` or `paused`. Only what differs from the platform is sent, because a pin resets the counters of
 * the key. Refresh shows what was changed elsewhere, and the next `up` puts it back. Destroy unpins the limits, and
 * leaves a paused key paused. Limits are not secret: previews and the state show them.
 *
 * The option `retainOnDelete` is false by default: the resource must be removed before the package. With `true`,
 * removing the resource makes no request: set it before you move the resource to another provider, to the plugin or to
 * another stack.
 *
 * @example
 * ```ts
 * const orders = new FlowControlLimits("orders", { flowControlKey: "orders", rate: 100, period: "1m" });
 * export const rate = orders.rate;
 * ```
 */
export class FlowControlLimits extends DynamicResource {
  /** The key. */
  declare readonly flowControlKey: pulumi.Output<string>;
  /** The parallelism that is pinned at the platform; undefined if none is. */
  declare readonly parallelism: pulumi.Output<number | undefined>;
  /** The rate that is pinned at the platform; undefined if none is. */
  declare readonly rate: pulumi.Output<number | undefined>;
  /** Seconds, length of the pinned rate's period; undefined if no rate is pinned. */
  declare readonly period: pulumi.Output<number | undefined>;
  /** True if delivery is paused. */
  declare readonly paused: pulumi.Output<boolean>;
  /**
   * The limits that this resource declares, with the period in seconds. It unpins a limit that it no longer declares.
   */
  declare readonly declared: pulumi.Output<Record<string, number | boolean>>;

  constructor(name: string, args: FlowControlLimitsArgs, options?: pulumi.CustomResourceOptions) {
    super("FlowControlLimits", name, args, options);
  }
}

/** The arguments of `FlowControlReset`. */
export interface FlowControlResetArgs extends TriggerArgs {
  /** The key whose counters are reset. Changing it replaces the resource, which resets the new key. */
  flowControlKey: pulumi.Input<string>;
  /**
   * If `true`, creating the resource resets the counters. `false` keeps them until `version` or `triggers` change. It
   * only matters when the resource is created.
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
