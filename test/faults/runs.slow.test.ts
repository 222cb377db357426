import assert from "node:assert/strict";
import { type Properties, revealed, unknown } from "../support/wire";
import { configuration, Host, type Result } from "../support/host";
import { counterReset, rotation } from "../support/resources";
import { expectKind } from "../support/results";
import { titled } from "./describeFaults";
import { formerOutputs } from "./phases";
import { World } from "./world";

const id = "db";

describe("faults: what runs share and repeat", () => {
  let world: World;
  const posts = () => world.server.requests.filter(({ method }) => method === "POST").length;
  const cutOff = () => world.server.behave("POST", id, ({ socket }) => void socket.destroy());
  const wellAgain = () => world.server.behave("POST", id, ({ answer }) => answer(200));
  const outsOf = (result: Result): Properties => {
    assert.notEqual(result.kind, "failed", JSON.stringify(result));
    return result.kind === "failed" ? {} : revealed(result.outs);
  };
  beforeEach(async () => (world = await World.start()));
  afterEach(() => world.close());

  it(titled(41, "credentials revoked in the middle", "create", "fails, state kept; 1 sent"), async () => {
    expectKind("done", await world.host.create(rotation("first")));
    world.server.behave("POST", id, ({ answer }) => answer(401, {}, '{"error":"revoked"}'));
    const { message } = expectKind("failed", await world.host.create(rotation(id)));
    assert.match(message, /401: revoked.*was not changed.*rekey:username and rekey:password/s);
    assert.equal(world.server.count("POST", id), 1);
  });

  it(titled(43, "two resources, one database", "check", "refused; 0 sent"), async () => {
    const { host } = world;
    const [a, b] = ["urn:a", "urn:b"].map((owner) => rotation(id, { owner }));
    assert.ok(a && b);
    assert.deepEqual((await host.check(a)).failures, []);
    const { failures } = await host.check(b);
    assert.match(failures[0]?.reason ?? "", /already rotated by urn:a/);
    assert.deepEqual((await host.check(a)).failures, [], "the same resource is checked twice in a replacement");
    const named = await host.check(rotation("other", { owner: "urn:c", otherOwners: ["urn:d"] }));
    assert.match(named.failures[0]?.reason ?? "", /urn:d/);
    assert.deepEqual((await host.check(rotation(unknown, { owner: "urn:e" }))).failures, []);
    assert.equal(posts(), 0);
  });

  it(titled(44, "two stacks, one database", "create", "passes; 1 sent by each"), async () => {
    const url = `http://127.0.0.1:${world.server.port}`;
    const other = await Host.start({ config: configuration({ baseUrl: url, username: "u", password: "p" }) });
    expectKind("done", await world.host.create(rotation(id)));
    expectKind("done", await other.create(rotation(id)));
    await other.stop();
    assert.equal(posts(), 2);
  });

  it(titled(45, "the provider's code changed", "diff, update", "kept; 0 sent"), async () => {
    const olds = { ...formerOutputs(id), __provider: "exports.handler=()=>({})" };
    const news = rotation(id, { version: "1" });
    assert.equal((await world.host.diff(id, olds, news)).changes, "none");
    const { outs } = expectKind("done", await world.host.update(id, olds, news));
    assert.deepEqual(revealed(outs), formerOutputs(id));
    assert.equal(posts(), 0);
  });

  it(titled(46, "init error, trigger already applied", "update", "kept; 0 sent"), async () => {
    const { outs } = expectKind("done", await world.host.update(id, formerOutputs(id), rotation(id, { version: "1" })));
    assert.deepEqual(revealed(outs), formerOutputs(id));
    assert.equal(posts(), 0);
  });

  it(
    titled(47, "the engine repeats a confirmed reset in one run", "create, update", "the same outputs; 1 sent"),
    async () => {
      const first = await world.host.create(rotation(id, { version: "1" }));
      assert.deepEqual(await world.host.create(rotation(id, { version: 1 })), first);
      const update = () => world.host.update(id, outsOf(first), rotation(id, { version: "2" }));
      const second = await update();
      assert.deepEqual(await update(), second);
      assert.equal(posts(), 2);
    },
  );

  it(
    titled(47, "the engine repeats an unconfirmed reset in one run", "create, update", "the same init error; 1 sent"),
    async () => {
      cutOff();
      const first = expectKind("init error", await world.host.create(rotation(id, { version: "1" })));
      assert.deepEqual(await world.host.create(rotation(id, { version: "1" })), first);
      const again = await world.host.update(id, revealed(first.outs), rotation(id, { version: "1" }));
      assert.deepEqual(again, first);
      assert.equal(posts(), 1);
    },
  );

  it(titled(47, "update is called again in a later run", "update", "kept; 1 sent in all"), async () => {
    const outs = outsOf(await world.host.create(rotation(id, { version: "1" })));
    const later = await startAgain();
    const kept = expectKind("done", await later.update(id, outs, rotation(id, { version: "1" })));
    assert.deepEqual(revealed(kept.outs), outs);
    await later.stop();
    assert.equal(posts(), 1);
  });

  it(titled(47, "unconfirmed resets in a row", "update", "3 runs send one each, the fourth is refused"), async () => {
    cutOff();
    let outs = outsOf(await world.host.create(rotation(id, { version: "1" })));
    for (const [nth, kind] of (["init error", "init error", "failed"] as const).entries()) {
      const later = await startAgain();
      const result = await later.update(id, outs, rotation(id, { version: "1" }));
      assert.equal(result.kind, kind, JSON.stringify(result));
      if (result.kind === "failed") assert.match(result.message, /nothing was sent.*3 resets in a row.*new version/s);
      else outs = revealed(result.outs);
      assert.equal(posts(), Math.min(nth + 2, 3));
      await later.stop();
    }
    wellAgain();
    const later = await startAgain();
    const done = expectKind("done", await later.update(id, outs, rotation(id, { version: "2" })));
    assert.equal(done.outs.unconfirmedResets, undefined);
    await later.stop();
  });

  it(titled(48, "unknown id or version", "preview", "passes; 0 sent"), async () => {
    for (const inputs of [rotation(unknown), rotation(id, { version: unknown })]) {
      assert.deepEqual((await world.host.check(inputs)).failures, []);
      assert.equal((await world.host.diff(id, formerOutputs(id), inputs)).changes, "some");
    }
    assert.equal(posts(), 0);
  });

  it(titled(49, "configure and the first calls at once", "create", "waits; 1 sent by each"), async () => {
    const ids = ["a", "b", "c"];
    const results = await Promise.all([
      ...ids.map((one) => world.host.create(rotation(one))),
      world.host.create(counterReset("orders")),
    ]);
    for (const result of results) expectKind("done", result);
    assert.equal(posts(), 4);
  });

  for (const [what, settings] of [
    ["missing", {}],
    ["broken", { baseUrl: "nowhere", username: "u", password: "p", queueUrl: "http://example.com" }],
  ] as const) {
    it(
      titled(54, `${what} settings`, "create, delete", "the call that needs them fails, naming them; 0 sent"),
      async () => {
        const host = await Host.start({ config: configuration(settings) });
        const failed = expectKind("failed", await host.create(rotation(id)));
        assert.match(failed.message, /rekey:baseUrl.*pulumi config set rekey:baseUrl.*REKEY_BASE_URL/s);
        const counters = expectKind("failed", await host.create(counterReset("orders")));
        assert.match(counters.message, /rekey:queueUrl.*REKEY_QUEUE_URL/s);
        assert.equal((await host.diff(id, formerOutputs(id), rotation(id, { version: "1" }))).changes, "none");
        await host.delete(id, formerOutputs(id));
        await host.stop();
      },
    );
  }

  function startAgain(): Promise<Host> {
    const url = `http://127.0.0.1:${world.server.port}`;
    return Host.start({ config: configuration({ baseUrl: url, username: "u", password: "p" }) });
  }
});
