import assert from "node:assert/strict";
import { PasswordRotationFleet } from "pulumi-rekey";
import { fails, succeeds, valuesOf } from "../support/engineStack";
import { closePlatforms, Consumer, TestStack } from "../support/memory";

const ids = Array.from({ length: 30 }, (_, nth) => `db-${nth}`);
const named = Object.fromEntries(ids.map((id) => [`the ${id}`, id]));

describe("A program with a PasswordRotationFleet", () => {
  afterEach(closePlatforms);

  it("saves the others if some fail, fails the run by name, and resets only those in the next run", async () => {
    const stack = await TestStack.start(
      () => {
        const { credentials, failed } = new PasswordRotationFleet("caches", { databases: named, version: 1 });
        new Consumer("consumer", { failed });
        const passwords = credentials.apply((all) => Object.values(all).map(({ password }) => password));
        return { passwords, failed };
      },
      { databases: ids, credentials: "always" },
    );
    const { platform } = stack;
    const pathOf = (id: string): string => `/v2/keyvalue/reset-password/${id}`;
    platform.failNext({ path: pathOf("db-3"), status: 422, body: `{"error":"id: is locked"}` });
    platform.failNext({ path: pathOf("db-17"), dropConnection: "after-apply" });
    await succeeds(stack.preview());
    assert.equal(stack.posts.length, 0);
    await fails(
      stack.up(),
      /"caches": 2 of 30 databases failed:/,
      /the db-3: .*422: id: is locked.*not changed/,
      /the db-17: .*may have been changed/,
    );
    assert.equal(stack.posts.length, 30);
    const consumed = stack.saved("consumer")?.["failed"];
    assert.deepEqual(consumed, ["the db-17", "the db-3"], "what uses the fleet's outputs is not held back");
    const { outputs } = await succeeds(stack.up());
    assert.equal(stack.posts.length, 32);
    const { failed, passwords } = valuesOf({ outputs });
    assert.deepEqual(failed, []);
    assert.deepEqual([...(passwords as string[])].sort(), ids.map((id) => platform.database(id).password).sort());
    assert.equal(outputs["passwords"]?.secret, true);
    await succeeds(stack.refresh());
    assert.deepEqual((await stack.up()).changes, { same: 3 });
    await succeeds(stack.destroy());
    assert.equal(stack.posts.length, 32);
  });
});
