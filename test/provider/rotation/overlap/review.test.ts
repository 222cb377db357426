import assert from "node:assert/strict";
import { ResourceHandler } from "../../../../provider/engine/adapter";
import { resources } from "../../../../provider/engine/resources";
import { unknownValue } from "../../../../provider/pulumi/values";
import { hashOf } from "../../../../provider/clients/aclReplies";
import { type AclUsers } from "../../../../provider/clients/aclUsers";
import { RequestError } from "../../../../provider/domain/errors";
import { FakeAclUsers } from "../../../support/fakeAclUsers";
import { OverlappingToken } from "../../../support/overlappingToken";
import { RealResource } from "../../../support/redisUser";

const facts = {
  purpose: "do it",
  method: "ACL SAVE",
  url: "redis://x:1",
  consequences: { unchanged: "The users were changed, but a restart of the server undoes that." },
};
const rejected = (): never => {
  throw new RequestError("rejected", facts, { happened: "it broke", advice: "Fix it." });
};

describe("review: a queue token of which two are valid", () => {
  it("a prepared pair is still of unknown age after a proof that failed", async () => {
    const token = new OverlappingToken();
    token.next = "leaked";
    token.otherFields = '{"has_next_token":true}';
    token.isAway = true;
    const { code } = await token.up(0, { version: 1 });
    assert.equal(code, "REKEY_VERIFICATION_FAILED");
    token.isAway = false;
    const { said } = await token.up(1, { version: 1 });
    assert.deepEqual(token.secret.saved, { token: "leaked" });
    assert.equal(token.secret.memory.generatedAt, undefined);
    assert.match(said, /when it was generated is not known/);
  });

  it("a date asks for a rotation that a schedule has begun, with the schedule off", async () => {
    const token = new OverlappingToken();
    const daily = { version: 1, rotateEvery: "24h" };
    await token.up(0, daily);
    token.roll();
    token.isAway = true;
    const { code } = await token.up(24, daily);
    assert.equal(code, "REKEY_VERIFICATION_FAILED");
    token.isAway = false;
    token.secret.fake.settings = { ...token.secret.fake.settings, scheduledResets: "off" };
    await token.up(25, { ...daily, rotatedSince: "2026-01-02T00:30:00Z" });
    assert.deepEqual(token.sent, ["next"]);
  });

  it("a rotation that a schedule has begun and a date needs is that of the date", async () => {
    const token = new OverlappingToken();
    const daily = { version: 1, rotateEvery: "24h" };
    await token.up(0, daily);
    token.roll();
    token.isAway = true;
    await token.up(24, daily);
    token.isAway = false;
    await token.up(25, { ...daily, rotatedSince: "2026-01-02T00:30:00Z" });
    assert.equal(token.secret.memory.overlap?.reason, "rotatedSince");
  });

  it("a date that came with a new version still counts once it is removed", async () => {
    const token = new OverlappingToken();
    await token.up(0, { version: 1 });
    token.roll();
    await token.up(2, { version: 2, rotatedSince: "2026-01-01T01:00:00Z" });
    await token.up(3, { version: 2 });
    assert.deepEqual(token.sent, ["roll"]);
  });

  it("a clock that was ahead is named, if it keeps the former one valid", async () => {
    const token = new OverlappingToken();
    const some = { version: 1, overlap: "12h" };
    await token.up(24 * 365, some);
    assert.match(token.preview(24, some), /later than this machine's clock/);
  });

  it("a preview says that the former one cannot be retired, because it is rekey:queueToken", async () => {
    const token = new OverlappingToken();
    token.secret.fake.settings = { ...token.secret.fake.settings, queueToken: "t0", queueUserId: undefined };
    await token.up(0, { version: 1 });
    const announced = token.preview(1, { version: 2 });
    const { code } = await token.up(1, { version: 2 });
    assert.equal(code, "REKEY_QUEUE_TOKEN_IN_USE");
    assert.match(announced, /rekey:queueToken/);
  });

  it("the limit of resets is asked before the former one is retired", async () => {
    const token = new OverlappingToken();
    await token.up(0, { version: 1 });
    token.secret.fake.settings = { ...token.secret.fake.settings, maxResetsPerRun: "0" };
    const { code } = await token.up(1, { version: 2 });
    assert.deepEqual([code, token.sent], ["REKEY_RESET_LIMIT", []]);
  });

  it("a read that is older than both forgets neither", async () => {
    const token = new OverlappingToken();
    await token.up(0, { version: 1 });
    token.roll();
    await token.up(1, { version: 2 });
    assert.ok(token.secret.memory.overlap);
    await token.secret.refresh({ shows: { token: "t0" } });
    assert.ok(token.secret.memory.overlap, "t1 is valid, and not retired");
  });

  it("a former one is retired although the read after the retirement before it was late", async () => {
    // A read in the `up` that rolls shows the token from before the roll, as `OverlappingToken` does.
    const token = new OverlappingToken();
    const some = { overlap: "12h" };
    await token.up(0, { version: 1, ...some });
    await token.up(1, { version: 2, ...some });
    assert.deepEqual(token.sent, ["roll", "next"]);
    await token.up(20, { version: 2, ...some });
    assert.deepEqual(token.sent, ["roll"]);
  });
});

describe("review: a user", () => {
  let users: FakeAclUsers;
  let user: RealResource;
  beforeEach(() => {
    users = new FakeAclUsers(["first"]);
    user = new RealResource("AclUserRotation", { deadlineSeconds: "0.1" });
  });
  const admin = { host: "redis.example.com", port: 6379, password: "admin" };
  const up = (more: object = {}) =>
    user.up(
      { userName: "app", admin, version: 1, ...more },
      user.start({ aclUsers: () => users as unknown as AclUsers }),
    );

  it("is saved by the next up, if ACL SAVE has failed after the retirement", async () => {
    users.instead = { save: rejected };
    assert.match((await up({ overlap: "none" })).failure ?? "", /it broke/);
    users.instead = {};
    users.commands.length = 0;
    assert.equal((await up({ overlap: "none" })).failure, undefined);
    assert.ok(users.commands.includes("save"), users.commands.join());
  });

  it("is saved by the next up, if ACL SAVE has failed after the addition", async () => {
    users.instead = { save: rejected };
    assert.match((await up()).failure ?? "", /it broke/);
    users.instead = {};
    users.commands.length = 0;
    await up();
    assert.ok(users.commands.includes("save"), users.commands.join());
  });

  it("shows when it has retired the former password until the next rotation", async () => {
    await up({ overlap: "none" });
    const { formerRetiredAt } = user.outputs;
    assert.ok(formerRetiredAt);
    await up({ overlap: "none", rotateEvery: "30d" });
    assert.equal(user.outputs["formerRetiredAt"], formerRetiredAt);
  });

  it("is previewed with another address if its admin has one", async () => {
    const access = (host: string) =>
      JSON.stringify({
        id: "db-a",
        of: "database",
        count: 1,
        salt: "s",
        connection: { host, port: 6379, tls: true },
        current: { name: "password", mark: "m", value: "admin", username: "default" },
      });
    await up({ admin: access("one.example.com") });
    const url = user.outputs["connectionUrl"];
    const { changing } = user.preview({ userName: "app", version: 1, admin: access("two.example.com") });
    await up({ admin: access("two.example.com") });
    assert.notEqual(user.outputs["connectionUrl"], url);
    assert.ok(changing.includes("connectionUrl"), changing.join());
  });

  it("keeps what someone else has added while its own addition was lost", async () => {
    users.makesTokens = true;
    const lost = () => {
      users.hashes.push(hashOf("someone else's"));
      throw new RequestError("maybe applied", facts, { happened: "it was lost", advice: "Fix it." });
    };
    users.instead = { add: lost };
    assert.match((await up()).failure ?? "", /it was lost/);
    users.instead = {};
    await up();
    assert.ok(users.hashes.includes(hashOf("someone else's")));
  });

  it("is announced for each server, if its admins are not known yet", () => {
    const run = user.start();
    const handler = new ResourceHandler(resources["AclUserRotation"], run);
    const said = [1, 2].map(
      (version) => handler.plan(undefined, { userName: "app", admin: unknownValue, version }).notices.length,
    );
    assert.deepEqual(said, [1, 1]);
  });

  it("is not rotated by itself, because the retirement locks its admin out", () => {
    const own = { host: "redis.example.com", port: 6379, username: "app", password: "admin" };
    assert.match(user.check({ userName: "app", admin: own }), /admin/);
  });
});
