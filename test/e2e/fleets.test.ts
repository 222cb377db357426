import assert from "node:assert/strict";
import { PasswordRotationFleet, type PasswordRotationFleetArgs } from "pulumi-rekey";
import { fails, succeeds, valuesOf } from "../support/engineStack";
import { closePlatforms, Consumer, TestStack } from "../support/memory";

const databases = (count: number): string[] => Array.from({ length: count }, (_, nth) => `db-${nth}`);
const named = (count: number, more: object = {}) => ({
  ...Object.fromEntries(databases(count).map((id) => [`the ${id}`, id])),
  ...more,
});
const own = { "the db-7": { databaseId: "db-7", version: 2 } };

interface Declared {
  readonly args: PasswordRotationFleetArgs;
  readonly name?: string;
}

/** Starts a stack with one fleet. @param count how many databases `db-…` the platform has */
async function startFleet(count: number, first: Declared) {
  let declared = first;
  const stack = await TestStack.start(
    () => {
      const { args, name = "caches" } = declared;
      const { credentials, failed } = new PasswordRotationFleet(name, args);
      new Consumer("consumer", { failed });
      const passwords = credentials.apply((all) => Object.values(all).map(({ password }) => password));
      return { passwords, failed };
    },
    { databases: databases(count), credentials: "always" },
  );
  let before = 0;
  const assertSent = (expected: number, what?: string): void => {
    const { length } = stack.posts;
    assert.equal(length - before, expected, what);
    before = length;
  };
  return { stack, platform: stack.platform, assertSent, declare: (next: Declared) => void (declared = next) };
}

describe("A program with a PasswordRotationFleet", () => {
  afterEach(closePlatforms);

  it("resets what is requested, once, whatever the databases are called and in whatever order", async () => {
    const ids = databases(40);
    const { stack, platform, assertSent, declare } = await startFleet(50, { args: { databases: ids, version: 1 } });
    await succeeds(stack.preview());
    assertSent(0, "preview");
    const { passwords } = (await succeeds(stack.up())).outputs;
    assertSent(40);
    const expected = ids.map((id) => platform.database(id).password);
    assert.deepEqual([...(passwords?.value as string[])].sort(), expected.sort());
    assert.equal(passwords?.secret, true);

    for (const { sent, ...declared } of [
      { args: { databases: ids, version: "1", triggers: {} }, sent: 0 },
      { args: { databases: [...ids].reverse(), version: 1 }, sent: 0 },
      { args: { databases: named(40), version: 1 }, sent: 0 },
      { args: { databases: named(40, own), version: 1 }, sent: 1 },
      { args: { databases: named(40, own), version: 2 }, sent: 40 },
      { args: { databases: named(43, own), version: 2 }, sent: 3 },
      { args: { databases: named(39, own), version: 2 }, sent: 0 },
      // db-39 was removed from the fleet: it is new again.
      { args: { databases: named(40, own), version: 2 }, sent: 1 },
      { args: { databases: ids.filter((id) => id !== "db-7") }, sent: 0 },
      { args: { databases: ids.filter((id) => id !== "db-7") }, name: "others", sent: 39 },
    ]) {
      declare(declared);
      await succeeds(stack.up());
      assertSent(sent, JSON.stringify(declared));
    }
    await succeeds(stack.refresh());
    await succeeds(stack.destroy());
    assertSent(0, "refresh and destroy");
  });

  it("saves the others if some fail, fails the run by name, and resets only those in the next run", async () => {
    const { stack, platform, assertSent } = await startFleet(30, { args: { databases: named(30), version: 1 } });
    const pathOf = (id: string): string => `/v2/keyvalue/reset-password/${id}`;
    platform.failNext({ path: pathOf("db-3"), status: 422, body: `{"error":"id: is locked"}` });
    platform.failNext({ path: pathOf("db-17"), dropConnection: "after-apply" });
    await fails(
      stack.up(),
      /"caches": 2 of 30 databases failed:/,
      /the db-3: .*422: id: is locked.*not changed/,
      /the db-17: .*may have been changed/,
    );
    assertSent(30);
    const consumed = stack.saved("consumer")?.["failed"];
    assert.deepEqual(consumed, ["the db-17", "the db-3"], "what uses the fleet's outputs is not held back");
    const { failed, passwords } = valuesOf(await succeeds(stack.up()));
    assertSent(2);
    assert.deepEqual(failed, []);
    assert.ok((passwords as string[]).includes(platform.database("db-17").password));
    assert.equal((await stack.up()).changes["update"], undefined);
  });
});
