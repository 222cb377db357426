import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { join } from "node:path";
import { type Platform } from "../../../local/platform/index";
import { Folder } from "../../support/folder";
import { projectRoot } from "../../support/host";
import { descendantsOf, type Process } from "../../support/processes";
import { refused } from "../../support/redis";
import { Run } from "../support/source";
import { assertFields } from "../../support/results";

const seed = "username: ops\npassword: local-only\nqueueToken: local-only-too\ndatabases: [cache]\n";

/** The first line of `--json`. */
type Started = Pick<Platform, "url" | "username" | "password">;

describe("rekey-local platform, started as a user starts it", function () {
  if (process.platform === "win32") return void it.skip("skipped: processes have other parents there");

  const folder = new Folder();
  const started: Process[] = [];
  before(() => {
    const main = JSON.stringify(join(projectRoot, "local/bin/rekey-local.js"));
    folder.write("node_modules/.bin/rekey-local", `#!/usr/bin/env node\nrequire(${main});\n`, 0o755);
    folder.write("package.json", "{}");
    folder.write("seed.yaml", seed);
  });
  afterEach(() => {
    for (const { pid } of started.splice(0)) {
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // It has ended, as it should.
      }
    }
  });
  after(() => folder.remove());

  /** Starts a platform, and kills the process that started it. @returns the first line of the platform */
  async function startAndKill(signal: NodeJS.Signals, command: string, ...args: string[]): Promise<Started> {
    const { directory: cwd } = folder;
    const run = new Run(spawn(command, args, { cwd, stdio: ["ignore", "pipe", "pipe"] }));
    const platform = await run.started<Started>();
    started.push(...descendantsOf(run.child.pid));
    run.child.kill(signal);
    await refused(platform.url.replace("http:", "redis:"));
    return platform;
  }

  it("has the same address and credentials at each start, and ends when npm exec is killed", async () => {
    const command = ["exec", "--offline", "--", "rekey-local", "platform", "--seed", "seed.yaml", "--json"];
    const first = await startAndKill("SIGTERM", "npm", ...command);
    const second = await startAndKill("SIGTERM", "npm", ...command, "--port", new URL(first.url).port);
    assert.deepEqual(second, first);
    assertFields(second, { username: "ops", password: "local-only" });
  });

  it("ends when the shell that started it is killed with kill -9", async () => {
    await startAndKill("SIGKILL", "sh", "-c", "node_modules/.bin/rekey-local platform --json & wait");
  });
});
