// Makes the code of fleets fail, with sample data, and gives what it says.
import { createRequire } from "node:module";
import { join } from "node:path";
import { load, lost, messageOf, runWith, unconfirmed } from "./samples.mjs";
import { root } from "../lib.mjs";

const require = createRequire(join(root, "package.json"));
const { output } = require("@pulumi/pulumi");
const { unknown } = require("@pulumi/pulumi/output");
const face = load("provider/dynamic").passwordRotationShard;
const { apply } = load("provider/lifecycle/passwordRotationShard");
const { shardNotice } = load("provider/lifecycle/shardNotice");
const { planRotation } = load("provider/rotation/planRotation");
const { readFleetDatabases } = load("sdk/fleetDatabases");
const { failureOf } = load("sdk/fleetOutputs");

/** What is said of a fleet with these databases. */
export function ofList(databases) {
  return messageOf(() => readFleetDatabases("caches", databases));
}

export function ofUnknownList() {
  return ofList(output(unknown));
}

/** What is said of a shard with these inputs. */
export async function ofInputs(inputs) {
  const { failures } = await face.check({}, inputs);
  return failures[0].reason;
}

/** What is said of databases whose resets fail, and saved of each of them. */
async function fail(ids, maxFailures) {
  const databases = ids.map((databaseId) => ({ databaseId }));
  const inputs = { shard: "1", fleet: "caches", databases, maxFailures, concurrency: 1 };
  const { rotations } = (await apply(undefined, inputs, runWith(lost))).outputs;
  const failure = failureOf(
    "caches",
    rotations.map((state) => [state.databaseId, state]),
  );
  return { failure, rotations };
}

/** What is said where the platform fails, and the fleet stops. */
export async function ofFailures() {
  return (await fail(["sessions", "carts"], 1)).failure;
}

/** The line for the failures that are not named. */
export async function ofMoreFailures() {
  const { failure } = await fail(Array.from({ length: 25 }, (_, index) => `database ${index}`));
  return failure.split("\n").find((line) => line.startsWith("  and "));
}

/** What is saved of a database that was not tried. */
export async function ofNotTried() {
  return (await fail(["sessions", "carts"], 1)).rotations[1].problem;
}

/** The lines of a preview, one for each plan that there can be. */
export function notices() {
  const wish = { databaseId: "sessions" };
  const plans = [
    { do: "adopt" },
    { do: "reset", reason: "created" },
    { do: "reset", reason: "trigger" },
    { do: "reset", reason: "schedule" },
    { do: "reset", reason: "unconfirmed" },
    planRotation(unconfirmed(3), { ...wish, version: 2 }, new Date()),
  ];
  const planned = plans.map((plan) => ({ wish, plan }));
  return shardNotice(planned, { fleet: "urn::caches", shard: "1", rotateEvery: "30d" });
}

export function ofDamagedState() {
  const damaged = { shard: "1", rotations: "none", secrets: [] };
  return messageOf(() => face.update("1", damaged, { shard: "1", fleet: "caches", databases: [] }));
}
