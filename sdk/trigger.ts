import type * as pulumi from "@pulumi/pulumi";

/** What causes a reset when it changes. */
export interface TriggerArgs {
  /**
   * A change of it, for example from `1` to `2`, causes a reset; of a fleet, that of all passwords. `1` and `"1"` are
   * the same.
   *
   * @default none
   */
  version?: pulumi.Input<string | number> | undefined;
  /**
   * Further values whose change causes a reset, in addition to `version`. Removing all of them resets nothing.
   *
   * @default none
   */
  triggers?: pulumi.Input<Record<string, pulumi.Input<string | number | boolean>>> | undefined;
}
