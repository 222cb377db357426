import { fleetName } from "./fleetRun";
import { type PlannedDatabase, type PasswordRotationShardInputs } from "./passwordRotationShard";

/** Databases that are named for one reason; of the others only the count is said. */
const named = 5;

/** A change of a shard does not show which of its databases it is about; so this says it, a line for each reason. */
export function shardNotice(
  planned: readonly PlannedDatabase[],
  { fleet, shard, rotateEvery }: Pick<PasswordRotationShardInputs, "fleet" | "shard" | "rotateEvery">,
): string | undefined {
  const idsOf = new Map<string, string[]>();
  for (const { plan, wish } of planned) {
    const what = whatIsPlanned(plan, rotateEvery);
    if (what !== undefined) idsOf.set(what, [...(idsOf.get(what) ?? []), wish.databaseId]);
  }
  if (idsOf.size === 0) return undefined;
  const of = `PasswordRotationFleet ${JSON.stringify(fleetName(fleet))}, shard ${shard}, ${planned.length} in all`;
  return [...idsOf].map(([what, ids]) => `${of}: ${ids.length} ${what}: ${listed(ids)}.`).join("\n");
}

function whatIsPlanned(plan: PlannedDatabase["plan"], rotateEvery: unknown): string | undefined {
  if (plan.do === "refuse") return `will not be reset, because ${plan.why}`;
  if (plan.do === "adopt") return "to be adopted without a reset";
  if (plan.do === "keep") return undefined;
  switch (plan.reason) {
    case "created":
      return "to be reset for the first time";
    case "trigger":
      return "to be reset because of a changed version or trigger";
    case "schedule":
      return `due to be reset by rotateEvery (${String(rotateEvery)})`;
    case "unconfirmed":
      return "to be reset once more, because the last reset was not confirmed";
  }
}

function listed(ids: readonly string[]): string {
  const shown = ids
    .slice(0, named)
    .map((id) => JSON.stringify(id))
    .join(", ");
  return ids.length > named ? `${shown} and ${ids.length - named} more` : shown;
}
