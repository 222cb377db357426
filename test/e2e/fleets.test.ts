import assert from "node:assert/strict";
import { PasswordRotationFleet, type PasswordRotationFleetArgs } from "pulumi-rekey";
import { fails, succeeds, valuesOf } from "../support/engineStack";
import { closePlatforms, Consumer, TestStack } from "../support/memory";

const databases = (count: number): string[] => Array.from({ length: count }, (_, nth) => `db-${nth}`);
const named = (count: number, more: object = {}) => ({
  ...Object.fromEntries(databases(count).map((id) => [`the ${id}`, id])),
  ...more,
});

interface Declared {
  readonly args: PasswordRotationFleetArgs;
  readonly name?: string;
}

/** A stack with one fleet, of a platform with 40 databases `db-…`. */
async function startFleet(declared: () => Declared) {
  return TestStack.start(
    () => {
      const { args, name = "caches" } = declared();
      const { credentials, failed } = new PasswordRotationFleet(name, args);
      new Consumer("consumer", { failed });
      const passwords = credentials.apply((all) => Object.values(all).map(({ password }) => password));
      return { passwords, failed };
    },
    { databases: databases(40), credentials: "always" },
  );
}

describe("A program with a PasswordRotationFleet", () => {
  afterEach(closePlatforms);

  it("resets what is requested, once; what is sent for other changes, the tests of the provider show", async () => {
    const ids = databases(40);
    let declared: Declared = { args: { databases: ids, version: 1 } };
    const stack = await startFleet(() => declared);
    await succeeds(stack.preview());
    assert.equal(stack.posts.length, 0, "preview");
    const { passwords } = (await succeeds(stack.up())).outputs;
    assert.equal(stack.posts.length, 40);
    const expected = ids.map((id) => stack.platform.database(id).password);
    assert.deepEqual([...(passwords?.value as string[])].sort(), expected.sort());
    assert.equal(passwords?.secret, true);
    const own = { "the db-7": { databaseId: "db-7", version: 2 } };
    for (const [next, sent] of [
      [{ args: { databases: named(40), version: "1" } }, 0],
      [{ args: { databases: named(39, own), version: "1" } }, 1],
      [{ args: { databases: named(39) }, name: "others" }, 39],
    ] as const) {
      const earlier: number = stack.posts.length;
      declared = next;
      await succeeds(stack.up());
      assert.equal(stack.posts.length - earlier, sent, JSON.stringify(next));
    }
    const before = stack.posts.length;
    await succeeds(stack.refresh());
    await succeeds(stack.destroy());
    assert.equal(stack.posts.length, before, "refresh and destroy");
  });

  it("saves the others if some fail, fails the run by name, and resets only those in the next run", async () => {
    const stack = await startFleet(() => ({ args: { databases: named(30), version: 1 } }));
    const { platform } = stack;
    const pathOf = (id: string): string => `/v2/keyvalue/reset-password/${id}`;
    platform.failNext({ path: pathOf("db-3"), status: 422, body: `{"error":"id: is locked"}` });
    platform.failNext({ path: pathOf("db-17"), dropConnection: "after-apply" });
    await fails(
      stack.up(),
      /"caches": 2 of 30 databases failed:/,
      /the db-3: .*422: id: is locked.*not changed/,
      /the db-17: .*may have been changed/,
    );
    assert.equal(stack.posts.length, 30);
    const consumed = stack.saved("consumer")?.["failed"];
    assert.deepEqual(consumed, ["the db-17", "the db-3"], "what uses the fleet's outputs is not held back");
    const { failed, passwords } = valuesOf(await succeeds(stack.up()));
    assert.equal(stack.posts.length, 32);
    assert.deepEqual(failed, []);
    assert.ok((passwords as string[]).includes(platform.database("db-17").password));
    assert.equal((await stack.up()).changes["update"], undefined);
  });
});
