import assert from "node:assert/strict";
import { type FakeEngine, onDisk } from "./fakeEngine";
import { type FakePlatform, passwordOf } from "./fakePlatform";
import { type Memory } from "./memory";
import { type Model } from "./model";
import { isSecret, revealed } from "../support/wire";
import { type Name, names } from "./desiredInputs";

/** Invariants that hold whatever a run meets. */
export function assertInvariants(platform: FakePlatform, engine: FakeEngine): void {
  assert.equal(new Set(platform.delivered).size, platform.delivered.length, "two resets of one database in one run");
  const readable = [onDisk(engine.state), ...engine.said];
  for (const text of readable) assert.doesNotMatch(text, /password-of-|management-password|not-yours/, "a secret");
  for (const saved of Object.values(engine.state)) {
    assert.equal(typeof saved.outputs["__provider"], "string", "needed to read or delete the resource");
    const onTheWire = JSON.parse(JSON.stringify(saved.outputs)) as unknown;
    assert.deepEqual(saved.outputs, onTheWire, "the host cannot send what is undefined or no plain value");
    const { appliedTrigger, attemptedTrigger } = saved.outputs;
    for (const mark of [appliedTrigger, attemptedTrigger]) assert.ok(mark === undefined || isSecret(mark));
  }
}

/** The state and the platform are as the model expects. */
export function assertAsExpected(model: Model, platform: FakePlatform, engine: FakeEngine): void {
  for (const [databaseId, generation] of model.generations) {
    assert.equal(platform.generation(databaseId), generation, `resets of database ${databaseId}`);
  }
  for (const name of names) assert.deepEqual(seen(engine, name), expected(model.memories[name]), `resource ${name}`);
}

/** The state holds the current password of the platform. */
export function assertInStep(platform: FakePlatform, engine: FakeEngine, name: Name): void {
  const { outputs } = engine.state[name] ?? assert.fail(`${name} is not in the state`);
  const databaseId = String(outputs["databaseId"]);
  const { password, record, outcome } = revealed(outputs);
  const generation = platform.generation(databaseId);
  const port = (record as { port?: number } | undefined)?.port;
  const expected = { outcome: "reset", password: passwordOf(databaseId, generation), port: generation };
  assert.deepEqual({ outcome, password, port }, expected);
}

function seen(engine: FakeEngine, name: Name): Record<string, unknown> | undefined {
  const saved = engine.state[name];
  if (!saved) return undefined;
  const { databaseId, outcome, password, record, rotatedAt, adoptedAt, ...counts } = revealed(saved.outputs);
  return {
    databaseId,
    outcome,
    confirmed: counts["rotationCount"],
    unconfirmed: counts["unconfirmedResets"] ?? 0,
    generation: (record as { port?: number } | undefined)?.port,
    password,
    since: rotatedAt ?? adoptedAt,
    initError: saved.initErrors.length > 0,
  };
}

function expected(memory: Memory | undefined): Record<string, unknown> | undefined {
  if (!memory) return undefined;
  const { databaseId, outcome, confirmed, unconfirmed, generation, password, initError } = memory;
  const since = memory.since === undefined ? undefined : new Date(memory.since).toISOString();
  return { databaseId, outcome, confirmed, unconfirmed, generation, password, since, initError };
}
