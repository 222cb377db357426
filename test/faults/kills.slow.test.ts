import assert from "node:assert/strict";
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { InterruptedStack, type Strike } from "../kills/interruptedStack";
import { EngineStack, fails, onEngine, type Rekey, succeeds } from "../support/engineStack";
import { projectRoot } from "../support/host";
import { titled } from "./describeFaults";

const ids = ["a", "b", "c"] as const;
const program = ({ PasswordRotation }: Rekey): void =>
  ids.forEach((databaseId) => void new PasswordRotation(databaseId, { databaseId }));
/** With one request at a time, two resets wait behind the first one. */
const config = { "rekey:maxConcurrency": "1" };

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
    strike: { victim: "provider", ...applied },
    sent: 1,
  },
] as const;

onEngine("faults: kills", () => {
  let interrupted: InterruptedStack;
  afterEach(() => interrupted.end());

  const resets = (): number[] => ids.map((id) => interrupted.stack.platform.database(id).resets);

  /** Runs `up`, and resolves to the number of resets. */
  async function strike(strike: Strike): Promise<number> {
    interrupted = await InterruptedStack.start(ids, program, { config });
    await interrupted.up(strike);
    assert.ok(Math.max(...resets()) <= 1, "no database is reset twice");
    return interrupted.stack.platform.resetCount;
  }

  /** Runs `up` undisturbed and compares the state with the platform. @returns how often it reset each database */
  async function nextUp(): Promise<number[]> {
    const before = resets();
    const { succeeded, printed } = await interrupted.up();
    assert.ok(succeeded, printed);
    const { resources } = await interrupted.see();
    for (const id of ids) {
      const { password } = interrupted.stack.platform.database(id);
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

  it("a fleet sends nothing more, and the next up at most one more reset of each", async () => {
    const all = Array.from({ length: 80 }, (_, nth) => `db-${nth}`);
    /** Resets that get a response before the kill. */
    const responded = 40;
    const declare = ({ PasswordRotationFleet }: Rekey) => {
      const { credentials } = new PasswordRotationFleet("caches", { databases: all, version: 1 });
      const passwords = credentials.apply((all) => Object.entries(all).map(([id, one]) => [id, one.password]));
      return { passwords };
    };
    interrupted = await InterruptedStack.start(all, declare, { config: { "rekey:maxConcurrency": "4" } });
    // While as many requests are held as the host may have under way, it can send no other: however long the kill
    // takes, there is work left.
    const sent = responded + 4;
    await interrupted.up({ victim: "engine", at: sent }, responded + 1);
    assert.equal(interrupted.gate.arrivals, sent, "only those that were under way were sent");

    const { outputs } = await succeeds(interrupted.stack.up());
    const passwords = new Map(outputs["passwords"]?.value as [string, string][]);
    for (const id of all) {
      const { password, resets } = interrupted.stack.platform.database(id);
      assert.equal(passwords.get(id), password, "state equals the platform");
      assert.ok(resets === 1 || resets === 2, `${id}: ${resets}`);
    }
  });
});

onEngine("faults: a file that is missing", () => {
  it(titled(40, "state cannot be written", "next up", "1 more sent; state equals the platform"), async () => {
    let atRequest = (): void => undefined;
    const stack = await EngineStack.start(
      ({ PasswordRotation }) => ({ password: new PasswordRotation("one", { databaseId: "one" }).password }),
      { platform: { databases: ["one"], credentials: "always", onRequest: () => atRequest() } },
    );
    const folder = stack.path("backend/.pulumi/stacks");
    atRequest = () => {
      renameSync(folder, `${folder}-away`);
      writeFileSync(folder, "");
    };
    await fails(stack.up(), /failed to save|not a directory/);
    assert.equal(stack.platform.resetCount, 1);
    atRequest = () => undefined;
    rmSync(folder);
    renameSync(`${folder}-away`, folder);
    await stack.run("cancel", "--yes");
    const { outputs } = await succeeds(stack.up());
    assert.equal(stack.platform.resetCount, 2);
    assert.equal(outputs["password"]?.value, stack.platform.database("one").password);
  });

  it(titled(51, "not installed where the host runs", "destroy", "succeeds"), async () => {
    const stack = await EngineStack.start(
      ({ PasswordRotation }) => void new PasswordRotation("one", { databaseId: "one" }),
      { platform: { databases: ["one"] } },
    );
    await succeeds(stack.up());
    rmSync(stack.path("node_modules"));
    mkdirSync(stack.path("node_modules", "@pulumi"), { recursive: true });
    const installed = join(projectRoot, "node_modules/@pulumi/pulumi");
    symlinkSync(installed, stack.path("node_modules/@pulumi/pulumi"), "junction");
    await succeeds(stack.destroy());
    assert.equal(stack.platform.resetCount, 1);
  });
});
