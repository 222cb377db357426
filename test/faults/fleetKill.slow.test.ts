import assert from "node:assert/strict";
import { Gate } from "../model/real/gate";
import { localEngine, succeeds } from "../support/engine";
import { EngineProcess } from "../support/engineProcess";
import { onEngine, scene } from "../support/onEngines";

const ids = Array.from({ length: 80 }, (_, nth) => `db-${nth}`);
const concurrency = 4;
/** Resets that are answered before the kill. */
const answered = 40;
const program = `
  const { PasswordRotationFleet } = require("pulumi-rekey");
  const fleet = new PasswordRotationFleet("caches", { databases: ${JSON.stringify(ids)}, version: 1 });
  exports.passwords = fleet.credentials.apply((all) => Object.entries(all).map(([id, { password }]) => [id, password]));`;

onEngine(localEngine, "faults: a fleet whose engine is killed", (engine) => {
  it("sends nothing more, and the next up at most one more reset of each", async () => {
    const { platform, project, stack } = await scene(engine, program, {
      databases: ids,
      credentialsInResponse: "always",
    });
    const gate = await Gate.start(platform.url);
    try {
      await stack.setConfig("rekey:baseUrl", gate.url);
      await stack.setConfig("rekey:maxConcurrency", String(concurrency));
      // While as many requests are held as the host may have under way, it can send no other: the kill meets it with
      // work left, however long it takes.
      let release = (): void => undefined;
      const killed = new Promise<void>((resolve) => (release = resolve));
      const act = async (): Promise<boolean> => {
        await up.killEngine();
        release();
        return true;
      };
      const sentByThen = answered + concurrency;
      gate.begin({
        faults: {},
        hold: { from: answered + 1, until: killed },
        strike: { at: sentByThen, point: "arrived", act },
      });
      const up = new EngineProcess(engine, ["up", "--yes", "--skip-preview"], project.directory);
      await up.ended;
      await gate.settled();
      assert.equal(gate.arrivals.length, sentByThen, "only those that were under way were sent");

      gate.begin({ faults: {} });
      const { outputs } = await succeeds(stack.up());
      const passwords = new Map(outputs["passwords"]?.value as [string, string][]);
      for (const id of ids) {
        const { password, resets } = platform.database(id);
        assert.equal(passwords.get(id), password, "state equals the platform");
        assert.ok(resets === 1 || resets === 2, `${id}: ${resets}`);
      }
    } finally {
      gate.close();
    }
  });
});
