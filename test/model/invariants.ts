import assert from "node:assert/strict";
import { type InProcessEngine, onDisk } from "./inProcessEngine";
import { type FakePlatform, passwordOf } from "./fakePlatform";
import { type Memory } from "./memory";
import { type Model } from "./model";
import { isSecret, revealed } from "../support/wire";
import { missingIn, readMemory } from "../../provider/rotation/memory";
import { type Name, names } from "./desiredInputs";

/** Invariants that hold for every run. */
export function assertInvariants(platform: FakePlatform, engine: InProcessEngine): void {
  assert.equal(new Set(platform.delivered).size, platform.delivered.length, "two resets of one database in one run");
  const readable = [onDisk(engine.state), ...engine.messages];
  for (const text of readable) assert.doesNotMatch(text, /password-of-|management-password|not-yours/, "a secret");
  for (const saved of Object.values(engine.state)) {
    assert.equal(typeof saved.outputs["__provider"], "string", "needed to read or delete the resource");
    const onTheWire = JSON.parse(JSON.stringify(saved.outputs)) as unknown;
    assert.deepEqual(saved.outputs, onTheWire, "the host cannot send what is undefined or no plain value");
    assert.ok(isSecret(saved.outputs["memory"]), "a mark of a version that is a short secret could be guessed");
  }
}

/** The state and the platform are as the model expects. */
export function assertAsExpected(model: Model, platform: FakePlatform, engine: InProcessEngine): void {
  for (const [databaseId, generation] of model.generations) {
    assert.equal(platform.generation(databaseId), generation, `resets of database ${databaseId}`);
  }
  for (const name of names) assert.deepEqual(seen(engine, name), expected(model.memories[name]), `resource ${name}`);
}

/**
 * What a run has saved is the platform's password, or known to be unknown.
 *
 * @param isRead whether all reads of the run succeeded and could show the password
 */
export function assertKnown(platform: FakePlatform, engine: InProcessEngine, name: Name, isRead: boolean): void {
  const { databaseId, password, outcome, memory } = revealed(engine.state[name]?.outputs ?? {});
  const isOpen = outcome === "unknown" || missingIn(readMemory(memory)).length > 0;
  if (isOpen || (password === undefined && !isRead)) return;
  assert.ok(platform.passwordsOf(String(databaseId)).includes(String(password)), `the password of ${name} is stale`);
}

/** The state holds the current password of the platform. */
export function assertInStep(platform: FakePlatform, engine: InProcessEngine, name: Name): void {
  const { outputs } = engine.state[name] ?? assert.fail(`${name} is not in the state`);
  const databaseId = String(outputs["databaseId"]);
  const { password, record, outcome } = revealed(outputs);
  const generation = platform.generation(databaseId);
  const port = (record as { port?: number } | undefined)?.port;
  const expected = { password: passwordOf(databaseId, generation), port: generation };
  assert.notEqual(outcome, "unknown");
  assert.deepEqual({ password, port }, expected);
}

function seen(engine: InProcessEngine, name: Name): Record<string, unknown> | undefined {
  const saved = engine.state[name];
  if (!saved) return undefined;
  const { databaseId, outcome, password, record, rotatedAt, adoptedAt, ...rest } = revealed(saved.outputs);
  const memory = readMemory(rest["memory"]);
  const { pending } = memory;
  return {
    databaseId,
    outcome,
    confirmed: rest["rotationCount"],
    unconfirmed: pending?.count ?? 0,
    generation: (record as { port?: number } | undefined)?.port,
    password,
    restToken: rest["restToken"],
    readOnlyRestToken: rest["readOnlyRestToken"],
    missing: missingIn(memory),
    since: rotatedAt ?? adoptedAt,
    firstAttempt: pending?.at,
    initError: saved.initErrors.length > 0,
  };
}

function expected(memory: Memory | undefined): Record<string, unknown> | undefined {
  if (!memory) return undefined;
  const { applied, attempted, restToken, readOnlyRestToken, generation, password, ...all } = memory;
  const { formers, rank, pending, every, ...rest } = all;
  const timeOf = (time: number | undefined) => (time === undefined ? undefined : new Date(time).toISOString());
  const [since, firstAttempt] = [timeOf(memory.since), timeOf(memory.firstAttempt)];
  return { ...rest, generation, password, restToken, readOnlyRestToken, since, firstAttempt };
}
