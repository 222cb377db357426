import * as pulumi from "@pulumi/pulumi";
import { typeOf } from "./dynamicResource";
import { perRun } from "./perRun";

/** Who rotates which database, by the databases' ids: as far as this program has said it. */
const ownersOfRun = perRun(() => new Map<string, Set<string>>());

/** What tells the provider who else wants to rotate a database. */
export interface Owners {
  readonly owner: pulumi.Output<string>;
  readonly otherOwners: pulumi.Output<string[] | undefined>;
}

/**
 * Registers a resource as the owner of a database. A turn of the event loop passes before the others are read, so that
 * all resources of a program's first turn know of each other before the first one is sent to the engine.
 */
export function ownersFor(
  type: string,
  name: string,
  databaseId: pulumi.Input<string>,
  parent: pulumi.Resource | undefined,
): Owners {
  const owner = pulumi.createUrn(name, typeOf(type), parent);
  const ownersOf = ownersOfRun();
  const otherOwners = pulumi.all([databaseId, owner]).apply(async ([id, urn]) => {
    const owners = ownersOf.get(id) ?? new Set();
    ownersOf.set(id, owners.add(urn));
    await new Promise((resolve) => setImmediate(resolve));
    const others = [...owners].filter((other) => other !== urn);
    return others.length > 0 ? others : undefined;
  });
  return { owner, otherOwners };
}
