import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { LocalStack, type OperationError, type Platform, startPlatform } from "../../local/index";

const example = resolve(__dirname, "../../examples/fleet-over-stacks");
const databases = readFileSync(join(example, "databases.txt"), "utf8").split("\n").filter(Boolean);

describe("example: a fleet over stacks", function () {
  this.timeout(300_000);
  const stateDir = mkdtempSync(join(tmpdir(), "rekey-stacks-"));
  let platform: Platform;
  before(async () => void (platform = await startPlatform({ databases })));
  after(async () => {
    await platform.close();
    rmSync(stateDir, { recursive: true });
  });

  const up = async (stack: string) => {
    const { url, username, password } = platform;
    const env = { REKEY_BASE_URL: url, REKEY_USERNAME: username, REKEY_PASSWORD: password };
    return (await LocalStack.open({ projectDir: example, stack, stateDir, passphrase: "test", env })).up();
  };

  it("resets each database once, in one of the stacks", async () => {
    const counts: number[] = [];
    for (const stack of ["part-0-of-2", "part-1-of-2"]) {
      const { outputs } = await up(stack);
      assert.deepEqual(outputs["failed"]?.value, []);
      counts.push(Number(outputs["count"]?.value));
    }
    const [first = NaN, second = NaN] = counts;
    assert.ok(first > 0 && second > 0 && first + second === databases.length, counts.join());
    assert.ok([...platform.databases.values()].every(({ resets }) => resets === 1));
  });

  it("says how a stack must be named", async () => {
    await assert.rejects(up("part-2-of-2"), ({ stdout }: OperationError) => /named like part-0-of-4/.test(stdout));
  });
});
