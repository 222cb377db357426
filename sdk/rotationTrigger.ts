import * as pulumi from "@pulumi/pulumi";
import { version } from "@pulumi/pulumi/version";
import { isOlderVersion, oldestForTriggers } from "../provider/engine/installedPackage";
import { type RotationReason } from "../provider/rotation/memory/memory";
import { DynamicResource, resourceTitle } from "./dynamicResource";
import { type TriggerArgs } from "./rotation";

/** The arguments of `RotationTrigger`. */
export interface RotationTriggerArgs extends TriggerArgs {
  /**
   * The interval after which `up` turns: an ISO 8601 duration (`P30D`, `PT12H`), or `30d`, `12h`. It starts at the last
   * turn or at the first `up`. Changing it only moves the time of the next turn.
   *
   * @default none: only a changed trigger turns
   */
  rotateEvery?: pulumi.Input<string> | undefined;
  /**
   * Turns if the last turn was before this: an ISO 8601 date (`2026-04-19`, midnight UTC), or a date and time with a
   * zone (`2026-04-19T18:30:00Z`). The age of what existed before the first turn is not known, so a date turns it, but
   * not in the first `up`. Each date turns at most once. A date more than five minutes in the future is refused.
   *
   * @default none
   */
  rotatedSince?: pulumi.Input<string> | undefined;
  /**
   * Set it to `true` if `value` is used in another stack, so that no resource of this one has it: `doctor --due` then
   * does not miss one.
   *
   * @default false
   */
  usedElsewhere?: pulumi.Input<boolean> | undefined;
  /**
   * For a key that only a person can make: `true` keeps the trigger from turning when its schedule or date is due.
   * Each `up` then warns, `waits` says so, and `doctor --due` lists it. Only a new `version` or `triggers` turns it,
   * by which the person says that the key was replaced.
   *
   * @default false
   */
  byHand?: pulumi.Input<boolean> | undefined;
}

/**
 * Says when a secret that another provider creates is to be replaced, on the schedule of every rotation. Give `value`
 * to the option `replacementTrigger` of that resource: when it turns, the engine creates a new one, updates what uses
 * it, and deletes the former one last, or, if something in between fails, in a later `up` that succeeds. The first
 * value replaces nothing. It sends no requests and needs no settings; `rekey:scheduledResets` and
 * `rekey:maxResetsPerRun` apply.
 *
 * A trigger that is renamed without `aliases`, or replaced, has a new first value, and so turns, too.
 *
 * @example
 * ```ts
 * const turn = new RotationTrigger("sessions", { rotateEvery: "30d", version: 1 });
 * // Yours: the key of any provider, with the option `{ replacementTrigger: turn.value }`.
 * export const value = turn.value;
 * ```
 */
export class RotationTrigger extends DynamicResource {
  /** The id, `trigger`. */
  declare readonly subject: pulumi.Output<string>;
  /**
   * Changes exactly when the secret is to be replaced: the day of the last turn, or of the first `up`, in UTC, and the
   * number of turns, and characters of its own (`20261128-3-1b9d6b`). Previews know it.
   */
  declare readonly value: pulumi.Output<string>;
  /** Time of the last turn (ISO 8601, UTC); undefined before the first one. */
  declare readonly turnedAt: pulumi.Output<string | undefined>;
  /**
   * When `rotateEvery` will have elapsed (ISO 8601, UTC): the first `up` after this time, or up to 12 hours before it
   * (a tenth of `rotateEvery`, if that is less), turns.
   */
  declare readonly nextRotationAt: pulumi.Output<string | undefined>;
  /** Why it last turned; undefined before the first turn. */
  declare readonly rotationReason: pulumi.Output<RotationReason | undefined>;
  /** Number of turns. Give it to a write-only argument that has a version, such as `secretStringWoVersion`. */
  declare readonly rotationCount: pulumi.Output<number>;
  /** With `byHand`: that the secret is due to be replaced, and what to do. Undefined if it is not due. */
  declare readonly waits: pulumi.Output<string | undefined>;
  /** JSON text of what Rekey remembers of the trigger: times and salted hashes. Secret. */
  declare readonly memory: pulumi.Output<string>;

  constructor(
    name: string,
    args: RotationTriggerArgs = {},
    options?: pulumi.CustomResourceOptions,
  ) {
    if (isOlderVersion(version, oldestForTriggers)) {
      const text = `${resourceTitle("RotationTrigger", name)}: @pulumi/pulumi ${version} ignores the option \`replacementTrigger\`, so that nothing is replaced. Install ${oldestForTriggers} or later, or make \`value\` a part of an argument that forces a replacement.`;
      void pulumi.log.warn(text);
    }
    // The host of dynamic resources does not tell their names.
    const named = { ...args, name };
    super("RotationTrigger", name, named, options);
  }
}
