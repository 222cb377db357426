import * as pulumi from "@pulumi/pulumi";
import { typeOf } from "./dynamicResource";
import { perRun } from "./perRun";

/** Who rotates which database, by the databases' ids: as far as this program has said it. */
const ownersOfRun = perRun(() => new Map<string, Set<Owner>>());

/**
 * Who rotates a database. A child's full name is known only when the engine has its component; so there is a short one.
 */
interface Owner {
  readonly shortName: string;
  urn?: string;
}

/** What tells the provider who else wants to rotate a database. */
export interface Owners {
  readonly owner: Promise<string>;
  readonly otherOwners: pulumi.Output<string[] | undefined>;
}

/** Registers a resource as the owner of a database. */
export function ownersFor(
  type: string,
  name: string,
  databaseId: pulumi.Input<string>,
  parent: pulumi.Resource | undefined,
): Owners {
  const owner = valueOnly(pulumi.createUrn(name, typeOf(type), parent));
  const self = ownerOf(type, name, owner);
  const otherOwners = pulumi.output(databaseId).apply(async (id) => (await othersFor([id], self)).get(id));
  return { owner, otherOwners };
}

/** What tells the provider who else wants to rotate some of a shard's databases, by their ids. */
export interface ShardOwners {
  readonly owner: Promise<string>;
  readonly otherOwners: Promise<Record<string, string[]> | undefined>;
}

/** Registers a shard as the owner of databases. */
export function shardOwnersFor(
  type: string,
  name: string,
  databaseIds: readonly string[],
  parent: pulumi.Resource,
): ShardOwners {
  const owner = valueOnly(pulumi.createUrn(name, typeOf(type), parent));
  const otherOwners = othersFor(databaseIds, ownerOf(type, name, owner)).then((others) =>
    others.size > 0 ? Object.fromEntries(others) : undefined,
  );
  return { owner, otherOwners };
}

/**
 * Registers the owner of databases, and finds the others. A turn of the event loop passes before those are read, so
 * that all resources of a program's first turn know of each other before the first one is sent to the engine.
 */
async function othersFor(databaseIds: readonly string[], self: Owner): Promise<Map<string, string[]>> {
  const ownersOf = ownersOfRun();
  for (const id of databaseIds) ownersOf.set(id, (ownersOf.get(id) ?? new Set()).add(self));
  await new Promise((resolve) => setImmediate(resolve));
  const others = databaseIds.map((id) => {
    const owners = [...(ownersOf.get(id) ?? [])].filter((other) => other !== self);
    return [id, owners.map(({ urn, shortName }) => urn ?? shortName)] as const;
  });
  return new Map(others.filter(([, owners]) => owners.length > 0));
}

function ownerOf(type: string, name: string, urn: Promise<string>): Owner {
  const owner: Owner = { shortName: `${type} ${JSON.stringify(name)}` };
  void urn.then((known) => (owner.urn = known));
  return owner;
}

/**
 * A full name without what it was made of. It is made of the parent's, and who needs an output of a component waits for
 * all of the component's children: two of them would wait for each other for ever.
 */
export function valueOnly(urn: pulumi.Output<string>): Promise<string> {
  return new Promise((resolve) => void urn.apply(resolve));
}
