import assert from "node:assert/strict";
import { fails, succeeds, valuesOf } from "../support/engine";
import { FakeRedis } from "../support/fakeRedis";
import { onEngines, scene } from "../support/onEngines";

const ids = Array.from({ length: 200 }, (_, index) => `db-${index}`);
const source = (version: number, port: number) => `
const { PasswordRotationFleet, PasswordVerification } = require("pulumi-rekey");
const database = { host: "127.0.0.1", port: ${port}, tls: false, username: "{id}" };
const fleet = new PasswordRotationFleet("caches", { databases: ${JSON.stringify(ids)}, version: ${version}, ...database });
const verification = new PasswordVerification("caches", { fleet, withinSeconds: 0.01 });
exports.verified = verification.verified;
exports.formerRefused = verification.formerRefused;`;

const seed = Number(process.env["REKEY_SEED"] ?? 20261122);

onEngines("PasswordVerification of a fleet", (engine) => {
  it("of 200 databases is verified within ten runs, each of which fails with a probability of 30 %", async () => {
    console.log(`      REKEY_SEED=${seed}`);
    let state = seed;
    const random = () => (state = (state * 16807) % 2147483647) / 2147483647;
    let isAway = false;
    const database = await FakeRedis.start(([name, id = "", password]) => {
      if (isAway) return "-ERR the database is away";
      if (name === "PING") return "+PONG";
      return platform.database(id).password === password ? "+OK" : "-WRONGPASS no";
    });
    const { platform, project, stack } = await scene(engine, source(1, database.port), {
      databases: ids,
      credentialsInResponse: "always",
    });
    for (const version of [1, 2]) {
      project.rewrite(source(version, database.port));
      let runs = 0;
      for (isAway = random() < 0.3; isAway && runs < 10; isAway = random() < 0.3, runs++) {
        await fails(stack.up(), /200 of 200 databases are not verified/, /the database is away/);
      }
      isAway = false;
      const { verified, formerRefused } = valuesOf(await succeeds(stack.up()));
      assert.deepEqual([verified, formerRefused], [true, version === 1 ? undefined : true]);
      for (const id of ids) assert.equal(platform.database(id).resets, version, id);
      const { length } = database.commands;
      await succeeds(stack.up());
      assert.equal(database.commands.length, length, "nothing is verified again");
    }
    await database.close();
  });
});
