import assert from "node:assert/strict";
import { configuration, Host, type Result } from "../support/host";
import { counterReset, rotation } from "../support/resources";
import { expectKind } from "../support/results";
import { type Properties, revealed, unknown } from "../support/wire";
import { resetting, responding } from "./behaviours";
import { titled } from "./describeFaults";
import { formerOutputs } from "./phases";
import { World } from "./world";

const id = "db";
const version1 = rotation(id, { version: "1" });

describe("faults: what runs share and repeat", () => {
  let world: World;
  let host: Host;
  const hosts: Host[] = [];
  beforeEach(async () => {
    world = await World.start();
    host = world.host;
  });
  afterEach(async () => {
    for (const other of hosts.splice(0)) await other.stop();
    await world.close();
  });

  const assertSent = (count: number) => assert.equal(world.server.requests.length, count);
  const outsOf = (result: Result): Properties => {
    assert.notEqual(result.kind, "failed", JSON.stringify(result));
    return result.kind === "failed" ? {} : revealed(result.outs);
  };

  /** The host of a later run, or of another stack. */
  async function anotherHost(
    settings: Record<string, string> = {
      baseUrl: `http://127.0.0.1:${world.server.port}`,
      username: "u",
      password: "p",
    },
  ): Promise<Host> {
    const other = await Host.start({ config: configuration(settings) });
    hosts.push(other);
    return other;
  }

  it(titled(41, "credentials revoked in the middle", "create", "fails, state kept; 1 sent"), async () => {
    expectKind("done", await host.create(rotation("first")));
    world.server.behave("POST", id, responding(401, '{"error":"revoked"}'));
    const { message } = expectKind("failed", await host.create(rotation(id)));
    assert.match(message, /401: revoked.*not changed.*rekey:username and rekey:password/s);
    assertSent(2);
  });

  it(titled(43, "two resources, one database", "check", "refused; 0 sent"), async () => {
    const reasonOf = async (inputs: Properties) => (await host.check(inputs)).failures[0]?.reason;
    assert.equal(await reasonOf(rotation(id, { owner: "urn:a" })), undefined);
    assert.match((await reasonOf(rotation(id, { owner: "urn:b" }))) ?? "", /already rotated by urn:a/);
    assert.equal(await reasonOf(rotation(id, { owner: "urn:a" })), undefined, "a replacement checks a resource twice");
    assert.match((await reasonOf(rotation("other", { owner: "urn:c", otherOwners: ["urn:d"] }))) ?? "", /urn:d/);
    assert.equal(await reasonOf(rotation(unknown, { owner: "urn:e" })), undefined);
    assertSent(0);
  });

  it(titled(44, "two stacks, one database", "create", "passes; 1 sent by each"), async () => {
    for (const each of [host, await anotherHost()]) expectKind("done", await each.create(rotation(id)));
    assertSent(2);
  });

  for (const [row, fault, more] of [
    [45, "the provider's code changed", { __provider: "exports.handler=()=>({})" }],
    [46, "init error, trigger already applied", {}],
  ] as const) {
    it(titled(row, fault, "diff, update", "kept; 0 sent"), async () => {
      const olds = { ...formerOutputs(id), ...more };
      assert.equal((await host.diff(id, olds, version1)).changes, "none");
      assert.deepEqual(outsOf(await host.update(id, olds, version1)), formerOutputs(id));
      assertSent(0);
    });
  }

  const repeated = "the engine repeats a confirmed reset in one run";
  it(titled(47, repeated, "create, update", "the same outputs; 1 sent"), async () => {
    const first = await host.create(version1);
    assert.deepEqual(await host.create(rotation(id, { version: 1 })), first);
    const update = () => host.update(id, outsOf(first), rotation(id, { version: "2" }));
    assert.deepEqual(await update(), await update());
    assertSent(2);
  });

  const repeatedUnconfirmed = "the engine repeats an unconfirmed reset in one run";
  it(titled(47, repeatedUnconfirmed, "create, update", "the same init error; 1 sent"), async () => {
    world.server.behave("POST", id, resetting);
    const first = expectKind("init error", await host.create(version1));
    assert.deepEqual(await host.create(version1), first);
    assert.deepEqual(await host.update(id, revealed(first.outs), version1), first);
    assertSent(1);
  });

  it(titled(47, "update is called again in a later run", "update", "kept; 1 sent in all"), async () => {
    const outs = outsOf(await host.create(version1));
    const kept = expectKind("done", await (await anotherHost()).update(id, outs, version1));
    assert.deepEqual(revealed(kept.outs), outs);
    assertSent(1);
  });

  it(titled(47, "unconfirmed resets in a row", "update", "3 runs send one each, the fourth is refused"), async () => {
    world.server.behave("POST", id, resetting);
    let outs = outsOf(await host.create(version1));
    for (const sent of [2, 3]) {
      outs = outsOf(expectKind("init error", await (await anotherHost()).update(id, outs, version1)));
      assertSent(sent);
    }
    const refused = expectKind("failed", await (await anotherHost()).update(id, outs, version1));
    assert.match(refused.message, /nothing was sent.*new version/s);
    assertSent(3);
    world.server.behave("POST", id, responding(200));
    const version2 = rotation(id, { version: "2" });
    const done = expectKind("done", await (await anotherHost()).update(id, outs, version2));
    assert.equal(done.outs.unconfirmedResets, undefined);
  });

  it(titled(48, "unknown id or version", "preview", "passes; 0 sent"), async () => {
    for (const inputs of [rotation(unknown), rotation(id, { version: unknown })]) {
      assert.deepEqual((await host.check(inputs)).failures, []);
      assert.equal((await host.diff(id, formerOutputs(id), inputs)).changes, "some");
    }
    assertSent(0);
  });

  it(titled(49, "configure and the first calls at once", "create", "waits; 1 sent by each"), async () => {
    const all = [...["a", "b", "c"].map((one) => rotation(one)), counterReset("orders")];
    for (const result of await Promise.all(all.map((inputs) => host.create(inputs)))) expectKind("done", result);
    assert.equal(world.server.requests.filter(({ method }) => method === "POST").length, 4);
  });

  for (const [what, settings] of Object.entries({
    missing: {},
    broken: { baseUrl: "nowhere", username: "u", password: "p", queueUrl: "http://example.com" },
  })) {
    const result = "the call that needs them fails, naming them; 0 sent";
    it(titled(54, `${what} settings`, "create, delete", result), async () => {
      const unset = await anotherHost(settings);
      const failed = expectKind("failed", await unset.create(rotation(id)));
      assert.match(failed.message, /pulumi config set rekey:baseUrl.*REKEY_BASE_URL/s);
      const counters = expectKind("failed", await unset.create(counterReset("orders")));
      assert.match(counters.message, /rekey:queueUrl.*REKEY_QUEUE_URL/s);
      assert.equal((await unset.diff(id, formerOutputs(id), version1)).changes, "none");
      await unset.delete(id, formerOutputs(id));
    });
  }
});
