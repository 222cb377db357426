import assert from "node:assert/strict";
import { LocalStack, startPlatform } from "../../local/index";
import { EngineProcess } from "../model/real/engineProcess";
import { Gate } from "../model/real/gate";
import { Program } from "../support/program";

const ids = Array.from({ length: 80 }, (_, nth) => `db-${nth}`);
const passphrase = "kill";
const concurrency = 4;
/** Resets that are answered before the kill. */
const answered = 40;

describe("faults: a fleet whose engine is killed", () => {
  it("sends nothing more, and the next up at most one more reset of each", async () => {
    const platform = await startPlatform({ databases: ids, credentialsInAnswer: "always" });
    const gate = await Gate.start(platform.url);
    const program = new Program(`
      const { PasswordRotationFleet } = require("pulumi-rekey");
      const fleet = new PasswordRotationFleet("caches", { databases: ${JSON.stringify(ids)}, version: 1 });
      exports.passwords = fleet.credentials.apply((all) => JSON.stringify(Object.entries(all).map(([id, { password }]) => [id, password])));`);
    try {
      const stack = await LocalStack.open({ projectDir: program.directory, passphrase });
      const environment = {
        PULUMI_CONFIG_PASSPHRASE: passphrase,
        REKEY_BASE_URL: gate.url,
        REKEY_USERNAME: platform.username,
        REKEY_PASSWORD: platform.password,
        REKEY_MAX_CONCURRENCY: String(concurrency),
      };
      // While as many requests are held as the host may have under way, it can send no other: the kill meets it with
      // work left, however long it takes.
      let release = (): void => undefined;
      const killed = new Promise<void>((resolve) => (release = resolve));
      const act = async (): Promise<boolean> => {
        await engine.strike("engine");
        release();
        return true;
      };
      const sentByThen = answered + concurrency;
      gate.begin({
        faults: {},
        hold: { from: answered + 1, until: killed },
        strike: { at: sentByThen, point: "arrived", act },
      });
      const engine = new EngineProcess("up", program.directory, environment);
      await engine.ended;
      await gate.settled();
      assert.equal(gate.arrivals.length, sentByThen, "only those that were under way were sent");

      gate.begin({ faults: {} });
      const { code, printed } = await new EngineProcess("up", program.directory, environment).ended;
      assert.equal(code, 0, printed);
      const passwords = new Map(JSON.parse(String((await stack.outputs())["passwords"]?.value)) as [string, string][]);
      for (const id of ids) {
        const { password, resets } = platform.database(id);
        assert.equal(passwords.get(id), password, "state equals the platform");
        assert.ok(resets === 1 || resets === 2, `${id}: ${resets}`);
      }
    } finally {
      gate.close();
      await platform.close();
      program.remove();
    }
  }).timeout(300_000);
});
