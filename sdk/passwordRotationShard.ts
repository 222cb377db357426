import type * as pulumi from "@pulumi/pulumi";
import { type FleetDatabaseState, secretPasswordRotationShardOutputs } from "../provider/lifecycle/resource";
import { DynamicResource } from "./dynamicResource";
import { type NamedDatabase } from "./fleetDatabases";
import { shardOwnersFor } from "./owners";

const type = "PasswordRotationShard";

/** Those databases of a fleet that share a resource. */
export class PasswordRotationShard extends DynamicResource {
  /** How each of them stands. */
  declare readonly rotations: pulumi.Output<FleetDatabaseState[] | undefined>;
  /** JSON text of what is secret of each of them. */
  declare readonly secrets: pulumi.Output<string | undefined>;

  /** @param fleet what holds for the whole fleet */
  constructor(
    name: string,
    shard: string,
    databases: readonly NamedDatabase[],
    fleet: pulumi.Inputs,
    options: pulumi.CustomResourceOptions & { parent: pulumi.Resource },
  ) {
    // In the order of their ids: moving one in the program's list is no change.
    const sorted = [...databases].sort((a, b) => (a.databaseId < b.databaseId ? -1 : 1));
    const ids = sorted.map(({ databaseId }) => databaseId);
    const inputs = {
      rotations: undefined,
      secrets: undefined,
      ...fleet,
      shard,
      databases: sorted.map(({ input }) => input),
      ...shardOwnersFor(type, name, ids, options.parent),
    };
    super(type, "passwordRotationShard", name, inputs, secretPasswordRotationShardOutputs, options);
  }
}
