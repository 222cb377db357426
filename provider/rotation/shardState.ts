import { StateError } from "../platform/errors";
import { isOtherAccount } from "./account";
import { overdueNotice } from "./planRotation";
import {
  type FleetDatabaseSecrets,
  type FleetDatabaseState,
  type PasswordRotationShardOutputs,
  secretPasswordRotationOutputs,
} from "../resource";
import { fleetName, type Session } from "../engine/session";
import { type PasswordRotationShardInputs, type PlannedDatabase } from "./passwordRotationShard";
import { isObject } from "../records/values";
import { engineCommands } from "../runtime";

const secretNames: readonly string[] = secretPasswordRotationOutputs;

/**
 * The saved outputs of a shard, by the databases' ids.
 * @throws StateError if they are damaged, instead of resetting anything
 */
export function openShard({ rotations, secrets }: PasswordRotationShardOutputs): Map<string, FleetDatabaseState> {
  const secretsOf = byId<FleetDatabaseSecrets>(parsed(secrets), "secrets");
  const states = byId<FleetDatabaseState>(rotations, "rotations");
  return new Map([...states].map(([id, state]) => [id, { ...state, ...secretsOf.get(id) }]));
}

/** The outputs to save for the databases of a shard. */
export function closeShard(shard: string, states: readonly FleetDatabaseState[]): PasswordRotationShardOutputs {
  const parts = states.map((state) => {
    const entries = Object.entries(state).filter(([, value]) => value !== undefined);
    const secrets = entries.filter(([name]) => secretNames.includes(name));
    return {
      rotation: Object.fromEntries(
        entries.filter(([name]) => !secretNames.includes(name)),
      ) as unknown as FleetDatabaseState,
      secrets: secrets.length === 0 ? [] : [{ ...Object.fromEntries(secrets), databaseId: state.databaseId }],
    };
  });
  return {
    shard,
    rotations: parts.map(({ rotation }) => rotation),
    secrets: JSON.stringify(parts.flatMap((part) => part.secrets)),
  };
}

/** Parses a saved text. A damaged state can contain anything. */
export function parsed(text: unknown): unknown {
  try {
    return JSON.parse(String(text));
  } catch {
    return undefined;
  }
}

/** A saved list by the databases' ids. @throws StateError if it is damaged */
export function byId<T extends { readonly databaseId: string }>(list: unknown, output: string): Map<string, T> {
  const sound = Array.isArray(list) && list.every((one) => isObject(one) && typeof one["databaseId"] === "string");
  const all = sound ? (list as T[]) : [];
  const states = new Map(all.map((state) => [state.databaseId, state]));
  if (!sound || states.size !== all.length) {
    throw new StateError(
      output,
      "is not a list of databases, each of them once",
      `Restore it from an earlier \`${engineCommands.exportState}\`.`,
    );
  }
  return states;
}

/** Databases that are named for one reason; the others are counted. */
const named = 5;

/**
 * Which databases a planned change is about, one line for each reason, and the resets of the fleet so far. The program
 * has no shards, so none is named.
 */
export function shardNotice(
  planned: readonly PlannedDatabase[],
  inputs: PasswordRotationShardInputs,
  session: Session,
): string | undefined {
  const { fleet, shard, rotateEvery } = inputs;
  const resets = planned.filter(({ plan }) => plan.do === "reset").length;
  const inFleet = session.countPlanned(fleet, shard, resets);
  const groups = new Map<string, PlannedDatabase[]>();
  for (const one of planned) {
    const what = whatIsPlanned(one.plan, rotateEvery);
    if (what !== undefined) groups.set(what, [...(groups.get(what) ?? []), one]);
  }
  if (groups.size === 0) return undefined;
  const of = fleetLabel(fleet);
  const lines = [...groups].map(([what, group]) => {
    const ids = group.map(({ desired }) => desired.databaseId);
    const plans = group.map(({ plan }) => plan);
    return `${of}: ${ids.length} ${what}: ${listed(ids)}.${overdueNotice(plans, String(rotateEvery), session.options.now())}`;
  });
  const soFar = inFleet > resets ? ` So far, ${inFleet} databases of the fleet are to be reset.` : "";
  return lines.join("\n") + (resets > 0 ? soFar : "");
}

/** The warning for databases whose saved state is of another account. */
export function shardWarning(
  planned: readonly PlannedDatabase[],
  inputs: PasswordRotationShardInputs,
  session: Session,
): string | undefined {
  const stale = planned.filter(
    ({ plan, state }) => plan.do === "keep" && isOtherAccount(state?.account, session.options.account),
  );
  if (stale.length === 0) return undefined;
  const ids = stale.map(({ desired }) => desired.databaseId);
  return `${fleetLabel(inputs.fleet)}: ${ids.length} last reset or adopted with another baseUrl or username, and not reset now: ${listed(ids)}. If they belong to another account, the saved credentials are not those of these databases: set a new version, which resets their passwords.`;
}

function fleetLabel(fleet: string): string {
  return `PasswordRotationFleet ${JSON.stringify(fleetName(fleet))}`;
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
