import assert from "node:assert/strict";
import { renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Fixture, type Strike } from "../model/real/fixture";
import { programOf } from "../model/real/steps";
import { localEngine } from "../support/engine";
import { fixture, onEngine, rotating } from "../support/onEngines";
import { until } from "../support/results";
import { titled } from "./describeFaults";
import { Proxy } from "./network";

const ids = ["a", "b", "c"] as const;
const program = programOf({ a: { databaseId: "a" }, b: { databaseId: "b" }, c: { databaseId: "c" } });
/** With one request at a time, two resets wait behind the first one. */
const concurrency = 1;

const again = "1 more sent; state equals the platform";
const applied = { at: 1, point: "applied" } as const;
const kills = [
  { row: 37, fault: "killed before sending", result: "1 sent", strike: { victim: "engine", at: 1 }, sent: 0 },
  {
    row: 38,
    fault: "killed after it was applied, before it was saved",
    result: again,
    strike: { victim: "engine", ...applied },
    sent: 1,
  },
  {
    row: 38,
    fault: "the provider host is killed at that point",
    result: again,
    strike: { victim: "host", ...applied },
    sent: 1,
  },
] as const;

describe("faults: kills", function () {
  let fixture: Fixture;
  afterEach(() => fixture.end());

  const resets = (): number[] => ids.map((id) => fixture.platform.database(id).resets);

  /** Runs `up`, and resolves to the number of resets. */
  async function strike(strike: Strike): Promise<number> {
    fixture = await Fixture.start(ids, { program });
    await fixture.run("up", { strike, concurrency });
    assert.ok(Math.max(...resets()) <= 1, "no database is reset twice");
    return fixture.platform.resetCount;
  }

  /** Runs `up` undisturbed and compares the state with the platform. @returns how often it reset each database */
  async function nextUp(): Promise<number[]> {
    const before = resets();
    const { code, printed } = await fixture.run("up", { concurrency });
    assert.equal(code, 0, printed);
    const { resources } = await fixture.see();
    for (const id of ids) {
      const { password } = fixture.platform.database(id);
      assert.equal(resources[id]?.outputs["password"], password, "state equals the platform");
    }
    return resets().map((count, index) => count - (before[index] ?? 0));
  }

  for (const { row, fault, result, strike: kill, sent } of kills) {
    it(titled(row, fault, "next up", result), async () => {
      assert.equal(await strike(kill), sent);
      assert.deepEqual(await nextUp(), [1, 1, 1]);
    });
  }

  it(titled(39, "SIGINT in the middle", "up", "saved, or as 38"), async () => {
    const sent = await strike({ victim: "interrupt", ...applied });
    const more = (await nextUp()).reduce((sum, count) => sum + count);
    assert.equal(more, ids.length - sent, "every reset that got a response was saved");
  });

  it(titled(53, "the engine is killed while resets are queued", "up", "only those in flight are sent"), async () => {
    assert.equal(await strike({ victim: "engine", ...applied }), 1, "the two that were queued were not sent");
  });

  it(titled(55, "the engine is killed while a proxy connects", "up, next up", "0 sent; then 1 sent"), async () => {
    let atFirst = async (): Promise<void> => undefined;
    const proxy = await Proxy.start({ beforeOpening: () => atFirst() });
    const environment = { REKEY_PROXY: `http://127.0.0.1:${proxy.port}` };
    fixture = await Fixture.start(ids, { program, environment });
    atFirst = () => fixture.killEngine();
    await fixture.run("up");
    await until(() => proxy.heads.length > 0 && proxy.open === 0);
    assert.deepEqual(resets(), [0, 0, 0]);
    atFirst = async () => undefined;
    assert.deepEqual(await nextUp(), [1, 1, 1]);
    await proxy.close();
  });

  it("a fleet sends nothing more, and the next up at most one more reset of each", async () => {
    const all = Array.from({ length: 80 }, (_, nth) => `db-${nth}`);
    /** Resets that get a response before the kill. */
    const responded = 40;
    const program = `
      const { PasswordRotationFleet } = require("pulumi-rekey");
      const fleet = new PasswordRotationFleet("caches", { databases: ${JSON.stringify(all)}, version: 1 });
      exports.passwords = fleet.credentials.apply((all) => Object.entries(all).map(([id, one]) => [id, one.password]));`;
    fixture = await Fixture.start(all, { program });
    // While as many requests are held as the host may have under way, it can send no other: however long the kill
    // takes, there is work left.
    const sent = responded + 4;
    const strike = { victim: "engine", at: sent } as const;
    await fixture.run("up", { strike, holdFrom: responded + 1, concurrency: 4 });
    assert.equal(fixture.gate.arrivals.length, sent, "only those that were under way were sent");

    const { code, printed } = await fixture.run("up");
    assert.equal(code, 0, printed);
    const { outputs } = (await fixture.see()).resources["program-dev"] ?? {};
    const passwords = new Map(outputs?.["passwords"] as [string, string][]);
    for (const id of all) {
      const { password, resets } = fixture.platform.database(id);
      assert.equal(passwords.get(id), password, "state equals the platform");
      assert.ok(resets === 1 || resets === 2, `${id}: ${resets}`);
    }
  });
});

onEngine(localEngine, "faults: a state that cannot be written", (engine) => {
  it(titled(40, "state cannot be written", "next up", "1 more sent; state equals the platform"), async () => {
    let atRequest = (): void => undefined;
    const { platform, project, stack } = await fixture(engine, rotating(), {
      credentials: "always",
      onRequest: () => atRequest(),
    });
    const folder = project.path(".rekey");
    atRequest = () => {
      renameSync(folder, `${folder}-away`);
      writeFileSync(folder, "");
    };
    await assert.rejects(stack.up(), /state|ENOTDIR|EEXIST/);
    assert.equal(platform.resetCount, 1);
    atRequest = () => undefined;
    renameSync(folder, `${folder}-file`);
    renameSync(`${folder}-away`, folder);
    // The lock went away with the folder, and so could not be released.
    rmSync(join(folder, "stacks", "program", "dev.lock"));
    const { outputs, printed } = await stack.up();
    assert.equal(platform.resetCount, 2, printed);
    assert.equal(outputs["password"]?.value, platform.database("db-quickstart").password);
  });
});
