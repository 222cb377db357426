import type * as pulumi from "@pulumi/pulumi";
import { DynamicResource, type ResourceType } from "./dynamicResource";
import { type NamedDatabase } from "./fleetDatabases";
import { type FleetDatabaseState } from "../provider/rotation/fleet";
import { secretPasswordRotationShardOutputs } from "../provider/rotation/shardState";
import { otherOwnersFor } from "./program";

const resourceType: ResourceType = {
  type: "PasswordRotationShard",
  outputs: ["rotations", "secrets"],
  secretOutputs: secretPasswordRotationShardOutputs,
};

/** Some databases of a fleet, in one resource. */
export class PasswordRotationShard extends DynamicResource {
  /** The state of each database. */
  declare readonly rotations: pulumi.Output<FleetDatabaseState[] | undefined>;
  /** JSON text of the secrets of each database. */
  declare readonly secrets: pulumi.Output<string | undefined>;

  /**
   * @param fleet the fleet's name
   * @param settings the inputs of the whole fleet, and its URN
   */
  constructor(
    fleet: string,
    shard: string,
    databases: readonly NamedDatabase[],
    settings: pulumi.Inputs & { fleet: Promise<string> },
    options: pulumi.CustomResourceOptions & { parent: pulumi.Resource },
  ) {
    const ids = databases.map(({ databaseId }) => databaseId);
    const inputs = {
      ...settings,
      shard,
      databases: databases.map(({ input }) => input),
      otherOwners: otherOwnersFor(fleet, settings.fleet, ids),
    };
    // A fleet that the native plugin managed keeps its shards, and so is not reset.
    const all = { ...options, aliases: [{ type: "rekey:index:PasswordRotationShard" }] };
    super(resourceType, `${fleet}-${shard}`, inputs, all);
  }
}
