import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createProgram } from "../../../local/cli/program";
import { Folder } from "../../support/folder";
import { projectRoot } from "../../support/host";
import { until } from "../../support/results";
import { databasePath } from "../../support/resources";
import { skip } from "../../support/skip";
import { basic, resetPath, send } from "./client";

/** A process whose output is collected while it runs. */
class Run {
  output = "";
  errors = "";
  readonly child;
  readonly ended: Promise<number | null>;

  constructor(command: string, ...args: readonly string[]) {
    this.child = spawn(command, args, { cwd: projectRoot, stdio: ["ignore", "pipe", "pipe"] });
    this.child.stdout.setEncoding("utf8").on("data", (text: string) => (this.output += text));
    this.child.stderr.setEncoding("utf8").on("data", (text: string) => (this.errors += text));
    this.ended = once(this.child, "close").then(([code]) => code as number | null);
  }

  /** Waits until the output matches. @returns the output */
  async printed(pattern: RegExp): Promise<string> {
    await until(() => pattern.test(this.output) || this.child.exitCode !== null || this.child.signalCode !== null);
    assert.match(this.output, pattern, this.errors);
    return this.output;
  }
}

/** The output before the requests, and the values for a shell. */
async function startOf(run: Run): Promise<{ text: string; value: (name: string) => string }> {
  const text = await run.printed(/Requests:\n/);
  return { text, value: (name) => new RegExp(`^  export ${name}=(.+)$`, "m").exec(text)?.[1] ?? "" };
}

describe("rekey-local platform", () => {
  const runs: Run[] = [];
  const start = (...args: string[]): Run => {
    const source = ["-r", "ts-node/register/transpile-only", "local/cli/main.ts"];
    const run = new Run(process.execPath, ...source, "platform", ...args);
    runs.push(run);
    return run;
  };
  afterEach(() => runs.splice(0).forEach(({ child }) => child.kill("SIGKILL")));

  async function endsCleanly(run: Run, signal: NodeJS.Signals): Promise<void> {
    run.child.kill(signal);
    assert.equal(await run.ended, 0, run.errors);
  }

  it("prints what a stack and a shell need, then each request, and ends cleanly on SIGINT", async () => {
    const run = start("--password", "it's $5");
    const { text, value } = await startOf(run);
    const url = value("REKEY_BASE_URL");
    const credentials = { username: value("REKEY_USERNAME"), password: "it's $5" };
    const queueToken = value("REKEY_QUEUE_TOKEN");
    const quoted = `'it'\\''s $5'`;
    assert.match(url, /^http:\/\/127\.0\.0\.1:\d+$/);
    assert.deepEqual([value("REKEY_QUEUE_URL"), value("REKEY_PASSWORD")], [url, quoted]);
    for (const setting of [
      `rekey:baseUrl ${url}`,
      `rekey:queueUrl ${url}`,
      `rekey:username ${credentials.username}`,
      `--secret rekey:password ${quoted}`,
      `--secret rekey:queueToken ${queueToken}`,
    ]) {
      assert.ok(text.includes(`\n  pulumi config set ${setting}\n`), setting);
    }
    assert.doesNotMatch(text, /databasePath|DATABASE_PATH/);
    assert.match(text, /db-quickstart, db-sessions\n {2}vector indexes {5}idx-vectors\n/);
    assert.equal((await send({ url }, "POST", resetPath, basic(credentials))).status, 200);
    assert.equal((await send({ url }, "GET", "/v2/flowControl")).status, 401);
    await run.printed(/→ 401\n/);
    await endsCleanly(run, "SIGINT");
    assert.equal(run.output.slice(text.length), `POST ${resetPath} → 200\nGET /v2/flowControl → 401\n`);
  });

  it("takes every flag over the seed, and ends cleanly on SIGTERM with a connection open", async () => {
    const folder = new Folder();
    const seed = folder.write(
      "seed.yaml",
      "username: seeded\npassword: seeded\ndatabases: [cache]\nsearchIndexes: [docs]\n",
    );
    const account = ["--username", "ops", "--queue-token", "t0ken", "--database", "one", "two", "--database", "three"];
    const reads = ["--database-path", databasePath, "--credentials", "read"];
    const run = start("--port", "0", "--seed", seed, ...account, ...reads);
    const { text, value } = await startOf(run);
    folder.remove();
    const quotedPath = `'${databasePath}'`;
    assert.equal(value("REKEY_DATABASE_PATH"), quotedPath);
    assert.ok(text.includes(`\n  pulumi config set rekey:databasePath ${quotedPath}\n`));
    assert.match(text, /databases {10}one, two, three\n.*\n {2}search indexes {5}docs\n/);
    assert.equal(value("REKEY_QUEUE_TOKEN"), "t0ken");
    const url = value("REKEY_BASE_URL") + databasePath.replace("{id}", "three");
    // `fetch` keeps its connection open for the next request.
    const headers = { authorization: basic({ username: "ops", password: "seeded" }) };
    const { password } = (await (await fetch(url, { headers })).json()) as { password?: unknown };
    assert.equal(typeof password, "string");
    await endsCleanly(run, "SIGTERM");
  });

  for (const [args, error] of Object.entries({
    "--port 70000": /'--port <number>'/,
    "--database one one": /^error: --database: .*"one"/,
    "--seed none.yaml": /^error: --seed: none\.yaml: ENOENT/,
  })) {
    it(`refuses ${args} and names it`, async () => {
      let printed = "";
      const writeErr = (text: string): void => void (printed += text);
      const program = createProgram();
      for (const command of [program, ...program.commands]) command.exitOverride().configureOutput({ writeErr });
      await assert.rejects(program.parseAsync(["platform", ...args.split(" ")], { from: "user" }), { exitCode: 1 });
      assert.match(printed, error);
    });
  }

  it("ends its platform when the shell that started it is killed with kill -9", async function () {
    if (process.platform === "win32") skip(this, "processes have other parents there");
    const shell = new Run("sh", "-c", `"${process.execPath}" local/bin/rekey-local.js platform & wait`);
    const { value } = await startOf(shell);
    shell.child.kill("SIGKILL");
    await assert.rejects(async () => {
      for (;;) await fetch(value("REKEY_BASE_URL"));
    }, TypeError);
  });
});
