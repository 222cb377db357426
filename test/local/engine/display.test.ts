import assert from "node:assert/strict";
import { TestProject } from "./project";

describe("the changed inputs that the local engine shows", function () {
  this.timeout(300_000);

  let project: TestProject;
  before(() => (project = new TestProject()));
  after(() => project.remove());

  /** The lines about inputs, below the line of the resource they belong to. */
  function differences(stdout: string): string[] {
    const lines = stdout.split("\n").filter((line) => /^ {6}[+~-] |^ \S/.test(line));
    return lines.map((line) => line.replace(/ \(\d.*\)/, "").replace(/^ .*:Thing (\S+)/, "$1"));
  }

  it("are those added, removed and changed, secrets masked", async () => {
    project.want([{ name: "a", props: { v: 1, gone: [1, { x: true }] }, secrets: { token: "canary-1" } }]);
    const stack = await project.open();
    const created = await stack.up({ diff: true });
    const inputs = ["      + gone: [", '      + name: "a"', "      + token: [secret]", "      + v: 1"];
    assert.deepEqual(differences(created.stdout).slice(1), ["a created", ...inputs]);

    project.want([{ name: "a", props: { v: 2, added: "text" }, secrets: { token: "canary-2" } }]);
    const expected = ['      + added: "text"', "      - gone: [", "      ~ token: [secret]", "      ~ v: 1 => 2"];
    const { stdout } = await stack.preview({ diff: true });
    assert.deepEqual(differences(stdout), ["a update", ...expected]);
    assert.doesNotMatch(created.stdout + stdout, /canary|__provider/);
    assert.doesNotMatch((await stack.preview()).stdout, /=>.*2$|added/m);
    assert.deepEqual(differences((await stack.up({ diff: true })).stdout), ["a updated", ...expected]);
  });

  it("name what a preview cannot know", async () => {
    project.want([
      { name: "a", props: { v: 3 }, secrets: { token: "canary-2" } },
      { name: "b", refs: { from: "a.out" } },
    ]);
    const stack = await project.open();
    const { stdout } = await stack.preview({ diff: true });
    assert.deepEqual(differences(stdout).slice(-3), ["b create", "      + from: [unknown]", '      + name: "b"']);
  });

  it("are in the events, for machines", async () => {
    const told: unknown[] = [];
    const stack = await project.open();
    await stack.preview({ onEvent: (event) => "changes" in event && told.push(...(event.changes ?? [])) });
    assert.deepEqual(told.slice(-2), [
      { name: "from", before: undefined, after: "[unknown]" },
      { name: "name", before: undefined, after: "b" },
    ]);
  });
});
