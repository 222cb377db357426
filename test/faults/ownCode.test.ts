import assert from "node:assert/strict";
import { realpathSync } from "node:fs";
import { join } from "node:path";
import { projectRoot } from "../support/host";
import { rotation } from "../support/resources";
import { expectKind } from "../support/results";
import { revealed } from "../support/wire";
import { titled } from "./describeFaults";
import { World } from "./world";

/** Lets one of the host's own functions go wrong, after the platform has answered. */
const broken = (code: string): string => `
import { createRequire } from "node:module";
const require = createRequire(${JSON.stringify(join(realpathSync(projectRoot), "package.json"))});
const { Databases } = require("./dist/provider/api/databases.js");
const ordinary = Databases.prototype.resetPassword;
Databases.prototype.resetPassword = async function (id) {
  const answer = await ordinary.call(this, id);
  ${code}
};`;

describe("faults: our own code", () => {
  let world: World;
  afterEach(() => world.close());
  const create = async (code: string) => {
    world = await World.start({ preload: broken(code) });
    return world.host.create(rotation("db", { version: "1" }));
  };

  it(titled(36, "undefined and a bigint in the outputs", "create", "answered, credentials kept; 1 sent"), async () => {
    const strange = "record: { ...answer.record, tls: undefined, port: 10n, later: [undefined, { x: 1n }] }";
    const { outs } = expectKind("done", await create(`return { ...answer, ${strange}, exactIntegers: undefined };`));
    const plain = revealed(outs);
    assert.match(String(plain.password), /^pw-/);
    assert.equal((plain.record as { port: unknown }).port, "10");
  });

  for (const thrown of [
    "undefined",
    "null",
    "'text'",
    "new TypeError('x of undefined')",
    "{ id: 'db', properties: { x: undefined } }",
  ]) {
    it(titled(36, `throw ${thrown}`, "create", "answered: may have been applied; 1 sent"), async () => {
      const result = expectKind("init error", await create(`throw ${thrown};`));
      assert.equal(result.outs.outcome, "unknown");
      assert.match(result.message, /may have been changed/);
      const again = await world.host.create(rotation("db", { version: "1" }));
      assert.deepEqual(again, result, "a repeated call sends nothing");
      assert.equal(world.server.count("POST", "db"), 1);
    });
  }
});
