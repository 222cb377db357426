import assert from "node:assert/strict";
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { InterruptedStack, type Strike } from "../kills/interruptedStack";
import { EngineStack, fails, onEngine, type Rekey, succeeds } from "../e2e/engineStack";
import { projectRoot } from "../support/host";
import { titled } from "./describeFaults";

const ids = ["a", "b", "c"] as const;
const program = ({ PasswordRotation }: Rekey): void =>
  ids.forEach((databaseId) => void new PasswordRotation(databaseId, { databaseId }));
/** With one request at a time, two resets wait behind the first one. */
const config = { "rekey:maxConcurrency": "1" };

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

  it(titled(39, "SIGINT in the middle", "up", "saved, or as 38"), async () => {
    const sent = await strike({ victim: "interrupt", at: 1, point: "applied" });
    const more = (await nextUp()).reduce((sum, count) => sum + count);
    assert.equal(more, ids.length - sent, "every reset that got a response was saved");
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
    await stack.unlock();
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
