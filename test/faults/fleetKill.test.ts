import assert from "node:assert/strict";
import { setTimeout as wait } from "node:timers/promises";
import { LocalStack, startPlatform } from "../../local";
import { EngineProcess } from "../model/real/engineProcess";
import { Program } from "../support/program";

const ids = Array.from({ length: 80 }, (_, nth) => `db-${nth}`);
const passphrase = "kill";
const concurrency = 4;

describe("faults: a fleet whose engine is killed", () => {
  it("sends nothing more, and the next up at most one more reset of each", async () => {
    let atRequest = (): void => undefined;
    const options = { databases: ids, credentialsInAnswer: "always", onRequest: () => atRequest() } as const;
    const platform = await startPlatform(options);
    const program = new Program(`
      const { PasswordRotationFleet } = require("pulumi-rekey");
      const fleet = new PasswordRotationFleet("caches", { databases: ${JSON.stringify(ids)}, version: 1 });
      exports.passwords = fleet.credentials.apply((all) => JSON.stringify(Object.entries(all).map(([id, { password }]) => [id, password])));`);
    try {
      const stack = await LocalStack.open({ projectDir: program.directory, passphrase });
      const environment = {
        PULUMI_CONFIG_PASSPHRASE: passphrase,
        REKEY_BASE_URL: platform.url,
        REKEY_USERNAME: platform.username,
        REKEY_PASSWORD: platform.password,
        REKEY_MAX_CONCURRENCY: String(concurrency),
      };
      const killed = new EngineProcess("up", program.directory, environment);
      atRequest = () => void (platform.resetCount === 40 && killed.strike("engine"));
      await killed.ended;
      await wait(500);
      // Those under way, and those that had just seen the engine alive.
      const sent = platform.requests.length;
      assert.ok(sent >= 40 && sent <= 40 + 2 * concurrency, `${sent} were sent`);

      const { code, printed } = await new EngineProcess("up", program.directory, environment).ended;
      assert.equal(code, 0, printed);
      const passwords = new Map(JSON.parse(String((await stack.outputs())["passwords"]?.value)) as [string, string][]);
      for (const id of ids) {
        const { password, resets } = platform.database(id);
        assert.equal(passwords.get(id), password, "state equals the platform");
        assert.ok(resets === 1 || resets === 2, `${id}: ${resets}`);
      }
    } finally {
      await platform.close();
      program.remove();
    }
  }).timeout(300_000);
});
