import * as pulumi from "@pulumi/pulumi";
import { typeOf } from "./dynamicResource";
import { perRun } from "./perRun";
import { endOfTurn } from "./refusal";

/** The resources of this program that rotate a database, by its id. */
const ownersOfRun = perRun(() => new Map<string, Set<Owner>>());

/**
 * A resource that rotates a database. The URN of a component's child is known late; until then it has a short name.
 */
interface Owner {
  readonly shortName: string;
  urn?: string;
}

/** The inputs that tell the provider which other resources rotate a database. */
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

/**
 * Registers a fleet as the owner of databases.
 *
 * @param urn the fleet's URN
 * @returns the provider's input for the other resources that rotate them, by their ids
 */
export async function otherOwnersFor(
  fleet: string,
  urn: Promise<string>,
  databaseIds: readonly string[],
): Promise<Record<string, string[]> | undefined> {
  const others = await othersFor(databaseIds, ownerOf("PasswordRotationFleet", fleet, urn));
  return others.size > 0 ? Object.fromEntries(others) : undefined;
}

/**
 * Registers the owner of databases, and returns the other owners. It waits for one turn of the event loop, so that all
 * resources of the program's first turn are registered before the first one is sent to the engine.
 */
async function othersFor(databaseIds: readonly string[], self: Owner): Promise<Map<string, string[]>> {
  const ownersOf = ownersOfRun();
  for (const id of databaseIds) ownersOf.set(id, (ownersOf.get(id) ?? new Set()).add(self));
  await endOfTurn();
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
 * A URN without its dependencies. A URN depends on that of the parent, and an output of a component waits for all of
 * its children: two children would wait for each other permanently.
 */
export function valueOnly(urn: pulumi.Output<string>): Promise<string> {
  return new Promise((resolve) => void urn.apply(resolve));
}
