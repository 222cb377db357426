import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as wait } from "node:timers/promises";
import { projectRoot } from "../../support/host";
import { childrenOf, type Process } from "../../support/processes";

const seed = "username: ops\npassword: local-only\nqueueToken: local-only-too\ndatabases: [cache]\n";

/** The first line of `--json`. */
interface Started {
  readonly url: string;
  readonly username: string;
  readonly password: string;
  readonly queueToken: string;
}

describe("rekey-local platform, started as a user starts it", function () {
  if (process.platform === "win32") return void it.skip("skipped: processes have other parents there");

  let folder: string;
  const started: Process[] = [];
  before(() => {
    folder = mkdtempSync(join(tmpdir(), "rekey-parent-"));
    const bin = join(folder, "node_modules", ".bin", "rekey-local");
    mkdirSync(join(bin, ".."), { recursive: true });
    writeFileSync(
      bin,
      `#!/usr/bin/env node\nrequire(${JSON.stringify(join(projectRoot, "local/bin/rekey-local.js"))});\n`,
    );
    chmodSync(bin, 0o755);
    writeFileSync(join(folder, "package.json"), "{}");
    writeFileSync(join(folder, "seed.yaml"), seed);
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
  after(() => rmSync(folder, { recursive: true }));

  async function start(command: string, ...args: string[]): Promise<{ parent: ChildProcess; platform: Started }> {
    const parent = spawn(command, args, { cwd: folder, stdio: ["ignore", "pipe", "inherit"] });
    for await (const line of createInterface({ input: parent.stdout })) {
      started.push(...descendantsOf(parent.pid));
      return { parent, platform: JSON.parse(line) as Started };
    }
    throw new Error("it ended before it printed anything");
  }

  async function refuses({ url }: Started): Promise<void> {
    const code = (): Promise<unknown> =>
      fetch(url).then(
        () => "answered",
        (error: Error) => (error.cause as NodeJS.ErrnoException).code,
      );
    for (const began = Date.now(); (await code()) !== "ECONNREFUSED"; await wait(50)) {
      assert.ok(Date.now() - began < 30_000, "it still listens");
    }
  }

  it("has the same address and credentials at each start, and ends when npm exec is killed", async () => {
    const first = await start(
      "npm",
      "exec",
      "--offline",
      "--",
      "rekey-local",
      "platform",
      "--seed",
      "seed.yaml",
      "--json",
    );
    first.parent.kill("SIGTERM");
    await refuses(first.platform);

    const { port } = new URL(first.platform.url);
    const fixed = ["rekey-local", "platform", "--port", port, "--seed", "seed.yaml", "--json"];
    const second = await start("npm", "exec", "--offline", "--", ...fixed);
    assert.deepEqual(second.platform, first.platform);
    assert.deepEqual([second.platform.username, second.platform.password], ["ops", "local-only"]);
    second.parent.kill("SIGTERM");
    await refuses(second.platform);
  });

  it("ends when the shell that started it is killed with kill -9", async () => {
    const { parent, platform } = await start("sh", "-c", "node_modules/.bin/rekey-local platform --json & wait");
    parent.kill("SIGKILL");
    await refuses(platform);
  });
});

function descendantsOf(pid: number | undefined): Process[] {
  return childrenOf(pid).flatMap((child) => [child, ...descendantsOf(child.pid)]);
}
