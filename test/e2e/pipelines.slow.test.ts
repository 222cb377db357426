import assert from "node:assert/strict";
import { appendFileSync, copyFileSync, cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parse } from "yaml";
import { type Platform, startPlatform } from "../../local/index";
import { passphrase } from "./engine";
import { Folder } from "../support/folder";
import { runToEnd } from "../support/processes";
import { whyNoPrograms } from "./pluginArchive";
import { environmentOf, examples, installPackages } from "../support/project";
import { databasePath } from "../support/resources";

/** A repository of a user who has pipelines: the two projects that they name, with their packages installed. */
class Repository extends Folder {
  readonly #bin = this.path("bin");
  /** Variables of the backend. */
  readonly backend = { PULUMI_BACKEND_URL: `file://${this.path("backend")}`, PULUMI_CONFIG_PASSPHRASE: passphrase };

  constructor() {
    super();
    for (const [project, example] of [
      ["rotation", "nightly-rotation"],
      ["flow-control", "flow-control-incident"],
    ] as const) {
      cpSync(join(examples, example), this.path(project), { recursive: true });
      installPackages(this.path(project));
    }
    for (const stack of ["production", "review"]) {
      const settings = ["nightly-rotation:databaseId: db-sessions", `rekey:databasePath: "${databasePath}"`];
      this.write(`rotation/Pulumi.${stack}.yaml`, `config:\n${settings.map((one) => `  ${one}\n`).join("")}`);
    }
    appendFileSync(this.path("rotation/index.ts"), "export const password = rotation.password;\n");
    mkdirSync(this.path("backend"));
    // The packages are installed already.
    this.write("bin/npm", "#!/bin/sh\n", 0o755);
  }

  /**
   * Runs a script as a pipeline does, in a folder of the repository. Resolves to all that it printed.
   * @throws Error if it fails
   */
  run(script: string, environment: Record<string, string>, folder = "."): Promise<string> {
    const env = {
      PULUMI_SKIP_UPDATE_CHECK: "true",
      // `tsc` has checked the types already.
      PULUMI_NODEJS_TRANSPILE_ONLY: "true",
      ...environment,
      PATH: `${this.#bin}${delimiter}${process.env["PATH"]}`,
    };
    return runToEnd("sh", ["-e", "-c", script], { cwd: this.path(folder), env });
  }
}

type JobName = "preview" | "up" | "reset-flow-control";
type Values = Readonly<Record<string, string>>;

/**
 * Runs a job with what the secret store and the person who started it give. Resolves to what it printed, and its
 * summary.
 */
type Pipeline = (repository: Repository, job: JobName, store: Values, inputs: Values) => Promise<string>;

interface Workflow {
  readonly jobs: Record<
    JobName,
    {
      readonly env?: Values;
      readonly defaults: { run: { "working-directory": string } };
      readonly steps: readonly { run?: string }[];
    }
  >;
}
interface GitLabJob {
  readonly rules?: readonly { readonly variables?: Values }[];
  readonly script: string[];
  readonly after_script?: string[];
  readonly variables?: Values;
}
type GitLab = Record<JobName, GitLabJob>;

const folder = join(examples, "pipelines");
const yaml = (file: string): unknown => parse(readFileSync(join(folder, file), "utf8"));

const pipelines: Readonly<Record<string, Pipeline>> = {
  async "GitHub Actions"(repository, name, store, inputs) {
    const { jobs } = yaml("github-actions/rekey.yml") as Workflow;
    const job = jobs[name];
    const contexts: Record<string, Values> = { secrets: store, vars: store, inputs };
    const given = Object.entries(job.env ?? {}).map(([variable, text]) => [
      variable,
      text.replace(/\$\{\{ (\w+)\.(\w+) \}\}/g, (_, context: string, key: string) => contexts[context]?.[key] ?? ""),
    ]);
    const summary = repository.path(`${name}.md`);
    const environment = {
      ...(Object.fromEntries(given) as Record<string, string>),
      GITHUB_STEP_SUMMARY: summary,
      GITHUB_EVENT_NAME: store["GITHUB_EVENT_NAME"] ?? "schedule",
    };
    let printed = "";
    for (const { run } of job.steps) {
      if (run === undefined) continue;
      assert.ok(!run.includes("${{"), "user input is not part of a script");
      printed += await repository.run(run, environment, job.defaults.run["working-directory"]);
    }
    return name === "preview" ? printed : printed + readFileSync(summary, "utf8");
  },

  async "GitLab CI"(repository, name, store, { flowControlKey = "", incident = "" }) {
    const { script, after_script = [], variables } = (yaml("gitlab-ci/.gitlab-ci.yml") as GitLab)[name];
    const environment = { ...variables, ...store, FLOW_CONTROL_KEY: flowControlKey, INCIDENT: incident };
    const printed = await repository.run(script.join("\n"), environment);
    return printed + (await repository.run(after_script.join("\n"), environment));
  },

  async "a shell script"(repository, name, store, inputs) {
    copyFileSync(join(folder, "shell/rekey.sh"), repository.path("rekey.sh"));
    return repository.run(["./rekey.sh", name, ...Object.values(inputs)].join(" "), { ...store });
  },
};

/** What makes a run the one of a merge, beyond the credentials. */
const ofMerge: Readonly<Record<string, Values>> = {
  "GitHub Actions": { GITHUB_EVENT_NAME: "push" },
  "GitLab CI": ((yaml("gitlab-ci/.gitlab-ci.yml") as GitLab).up.rules ?? []).at(-1)?.variables ?? {},
  "a shell script": { REKEY_SCHEDULED_RESETS: "off" },
};

const key = { flowControlKey: "orders", waitListSize: 7, parallelismMax: 3, parallelismCount: 3 };
const sent = ({ requests }: Platform): string[] =>
  requests.filter(({ method }) => method === "POST").map(({ method, path }) => `${method} ${path}`);

describe("The pipeline of", function () {
  const why = process.platform === "win32" ? "there is no POSIX shell" : whyNoPrograms("pulumi-language-nodejs");

  for (const [name, run] of Object.entries(pipelines)) {
    if (why !== undefined) it.skip(`${name} (skipped: ${why})`);
    else {
      it(`${name} previews without credentials, rotates, and resets a flow-control key by hand`, async () => {
        const platform = await startPlatform({ flowControlKeys: [key], credentials: "always", databasePath });
        const repository = new Repository();
        const stored = repository.backend;
        const settings = { ...stored, ...environmentOf(platform) };
        try {
          await repository.run("pulumi stack init production", stored, "rotation");
          const preview = await run(repository, "preview", {}, {});
          assert.match(preview, /to create/);
          assert.equal(preview.split("`up` will fail: ").length - 1, 1, "one warning");
          assert.equal(platform.requests.length, 0);

          await run(repository, "up", settings, {});
          assert.deepEqual(sent(platform), [], "the current password is kept");
          const program = repository.path("rotation/index.ts");
          writeFileSync(program, readFileSync(program, "utf8").replace('"30d"', '"PT1S"'));
          await sleep(1000);
          await run(repository, "up", { ...settings, ...ofMerge[name] }, {});
          assert.deepEqual(sent(platform), [], "what is due waits for the night");
          const printed = await run(repository, "up", settings, {});
          assert.deepEqual(sent(platform), ["POST /v2/keyvalue/reset-password/db-sessions"]);
          assert.match(printed, /"password": "\[secret\]"/);
          assert.ok(!printed.includes(platform.database("db-sessions").password), "the password was printed");

          const inputs = { flowControlKey: "orders", incident: "INC-4711" };
          const reset = await run(repository, "reset-flow-control", settings, inputs);
          assert.match(reset, /"waitingBefore": 7/);
          assert.equal(platform.flowControlKeys.get("orders")?.parallelismCount ?? 0, 0);

          const before = sent(platform).length;
          await run(repository, "reset-flow-control", settings, inputs);
          assert.deepEqual(sent(platform).slice(before), [], "the same incident sends nothing");
        } finally {
          await platform.close();
          repository.remove();
        }
      });
    }
  }
});
