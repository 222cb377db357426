import assert from "node:assert/strict";
import { type Result } from "../support/host";
import { counterReset, rotation } from "../support/resources";
import { expectKind } from "../support/results";
import { type Properties, revealed } from "../support/wire";
import { testRow, type Titled } from "./describeFaults";
import { formerOutputs } from "./phases";
import { type Fixture } from "./fixture";

const id = "db";
const version1 = rotation(id, { version: "1" });

const outsOf = (result: Result): Properties => {
  assert.notEqual(result.kind, "failed", JSON.stringify(result));
  return result.kind === "failed" ? {} : revealed(result.outs);
};
const assertSent = (server: Fixture["server"], count: number) => assert.equal(server.requests.length, count);

/** Tests a row without particular settings. */
const testRun = (title: Titled, test: (fixture: Fixture) => Promise<void>): void =>
  testRow(title, async (fixture) => test(await fixture.start()));

describe("faults: what runs share and repeat", () => {
  for (const { row, fault, more } of [
    { row: 45, fault: "the provider's code changed", more: { __provider: "exports.handler=()=>({})" } },
    { row: 46, fault: "init error, trigger already applied", more: {} },
  ]) {
    testRun([row, fault, "diff, update", "kept; 0 sent"], async ({ host, server }) => {
      const former = await formerOutputs(id, host.adapter);
      const olds = { ...former, ...more };
      assert.equal((await host.diff(id, olds, version1)).changes, false);
      assert.deepEqual(outsOf(await host.update(id, olds, version1)), former);
      assertSent(server, 0);
    });
  }

  testRun(
    [49, "configure and the first calls at once", "create", "waits; 1 sent by each"],
    async ({ host, server }) => {
      const all = [...["a", "b", "c"].map((one) => rotation(one)), counterReset("orders")];
      for (const result of await Promise.all(all.map((inputs) => host.create(inputs)))) expectKind("done", result);
      assert.equal(server.requests.filter(({ method }) => method === "POST").length, 4);
    },
  );

  for (const [what, settings] of Object.entries({
    missing: {},
    broken: { baseUrl: "nowhere", username: "u", password: "p", queueUrl: "http://example.com" },
  })) {
    const result = "the call that needs them fails, naming them; 0 sent";
    testRow([54, `${what} settings`, "create, delete", result], async (fixture) => {
      const [unset, former] = [await fixture.startHost({ settings }), await formerOutputs(id, fixture.adapter)];
      const failed = expectKind("failed", await unset.create(rotation(id)));
      assert.match(failed.message, /`pulumi config set rekey:baseUrl.*REKEY_BASE_URL/s);
      const counters = expectKind("failed", await unset.create(counterReset("orders")));
      assert.match(counters.message, /rekey:queueUrl.*REKEY_QUEUE_URL/s);
      assert.equal((await unset.diff(id, former, version1)).changes, false);
      await unset.delete(id, { ...rotation(id), ...former });
    });
  }
});
