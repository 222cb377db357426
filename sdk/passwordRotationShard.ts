import type * as pulumi from "@pulumi/pulumi";
import { type FleetDatabaseState, secretPasswordRotationShardOutputs } from "../provider/resource";
import { DynamicResource } from "./dynamicResource";
import { type NamedDatabase } from "./fleetDatabases";
import { shardOwnersFor } from "./owners";

const type = "PasswordRotationShard";

/** Some databases of a fleet, in one resource. */
export class PasswordRotationShard extends DynamicResource {
  /** The state of each database. */
  declare readonly rotations: pulumi.Output<FleetDatabaseState[] | undefined>;
  /** JSON text of the secrets of each database. */
  declare readonly secrets: pulumi.Output<string | undefined>;

  /** @param fleet the inputs of the whole fleet */
  constructor(
    name: string,
    shard: string,
    databases: readonly NamedDatabase[],
    fleet: pulumi.Inputs,
    options: pulumi.CustomResourceOptions & { parent: pulumi.Resource },
  ) {
    // Sorted by id: the order in the program does not matter.
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
    // A fleet that the native plugin managed keeps its shards, and so is not reset.
    const aliases = [{ type: `rekey:index:${type}` }];
    super(type, "passwordRotationShard", name, inputs, secretPasswordRotationShardOutputs, { ...options, aliases });
  }
}
