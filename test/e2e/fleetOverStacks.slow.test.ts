import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { type Platform, startPlatform } from "../../local/index";
import { localEngine } from "../support/engine";
import { environmentOf, Project } from "../support/project";

describe("example: a fleet over stacks", function () {
  this.timeout(300_000);
  const project = new Project({ example: "fleet-over-stacks" });
  const databases = readFileSync(project.path("databases.txt"), "utf8").split("\n").filter(Boolean);
  let platform: Platform;
  before(async () => void (platform = await startPlatform({ databases })));
  after(async () => {
    await platform.close();
    project.remove();
  });

  const up = async (stack: string) => {
    return (await localEngine.open(project.directory, environmentOf(platform), stack)).up();
  };

  it("resets each database once, in one of the stacks", async () => {
    const counts: number[] = [];
    for (const stack of ["part-0-of-2", "part-1-of-2"]) {
      const { outputs, printed } = await up(stack);
      assert.deepEqual(outputs["failed"]?.value, [], printed);
      counts.push(Number(outputs["count"]?.value));
    }
    const [first = NaN, second = NaN] = counts;
    assert.ok(first > 0 && second > 0 && first + second === databases.length, counts.join());
    assert.ok([...platform.databases.values()].every(({ resets }) => resets === 1));
  });

  it("says how a stack must be named", async () => {
    const { succeeded, printed } = await up("part-2-of-2");
    assert.equal(succeeded, false);
    assert.match(printed, /named like part-0-of-4/);
  });
});
