import assert from "node:assert/strict";
import { ResourceHandler } from "../../../../provider/engine/adapter";
import { resources } from "../../../../provider/engine/resources";
import { unknownValue } from "../../../../provider/pulumi/values";
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

describe("review: a queue token of which two are valid", () => {
  it("a clock that was ahead is named, if it keeps the former one valid", async () => {
    const token = new OverlappingToken();
    const some = { version: 1, overlap: "12h" };
    await token.up(24 * 365, some);
    assert.match(token.preview(24, some), /later than this machine's clock/);
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
