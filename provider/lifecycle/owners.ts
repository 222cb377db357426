import { type Run } from "./run";

/**
 * Claims a database for a resource.
 *
 * @param otherOwners full names of other resources of the program for the same database, as far as it knew them
 * @returns why it cannot have it; undefined where it can
 */
export function whyNotOwned(
  databaseId: string,
  owner: string,
  otherOwners: readonly string[] | undefined,
  run: Run,
): string | undefined {
  const other = otherOwners?.[0] ?? run.claim(databaseId, owner);
  if (other === undefined) return undefined;
  return `database ${JSON.stringify(databaseId)} is already rotated by ${other}: each of the two would destroy what the other one made. Remove one of them`;
}
