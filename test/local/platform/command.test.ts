import assert from "node:assert/strict";
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { type Platform } from "../../../local/platform/index";
import { Folder } from "../../support/folder";
import { projectRoot } from "../../support/host";
import { environmentOf } from "../../support/project";
import { refused, whoAmI, withRedis } from "../../support/redis";
import { Run, runSource } from "../support/source";
import { basic, bearer, databasePath, resetPath, send } from "./client";

// As small as a command line can be: the one of `rekey-local` has other commands, which need a build.
const main = `
  const { Command } = require("commander");
  const { addPlatformCommand } = require("./local/cli/platform");
  const program = new Command("rekey-local");
  addPlatformCommand(program);
  void program.parseAsync(process.argv.slice(1), { from: "user" });
`;

/** The first line of `--json`. */
interface Started extends Pick<Platform, "url" | "username" | "password" | "queueToken"> {
  readonly flowControlKeys: string[];
  readonly environment: Record<string, string>;
}

describe("rekey-local platform", function () {
  // Several processes each; a busy machine takes its time.

  const runs: Run[] = [];
  const rekey = (args: readonly string[], env?: Record<string, string>): Run => {
    const run = new Run(runSource(main, ["platform", ...args], env));
    runs.push(run);
    return run;
  };
  const start = (...args: string[]): Run => rekey(args);
  afterEach(() => runs.splice(0).forEach(({ child }) => child.kill("SIGKILL")));

  async function fails(run: Run, error: RegExp): Promise<void> {
    assert.equal(await run.ended, 1);
    assert.match(run.errors, error);
    assert.equal(run.output, "");
  }

  async function endsCleanly(run: Run, signal: NodeJS.Signals): Promise<void> {
    run.child.kill(signal);
    assert.equal(await run.ended, 0, run.errors);
  }

  it("prints what a stack and a shell need, then each request, and ends cleanly on SIGINT", async () => {
    const run = start("--password", "it's $5");
    const text = (await run.printed(/Requests:\n/)).input;
    const value = (name: string) => new RegExp(`^  export ${name}=(.+)$`, "m").exec(text)?.[1] ?? "";
    const url = value("REKEY_BASE_URL");
    const credentials = { username: value("REKEY_USERNAME"), password: "it's $5" };
    const quoted = `'it'\\''s $5'`;
    const queueToken = value("REKEY_QUEUE_TOKEN");
    assert.match(url, /^http:\/\/127\.0\.0\.1:\d+$/);
    assert.equal(value("REKEY_QUEUE_URL"), url);
    assert.equal(value("REKEY_PASSWORD"), quoted);
    for (const setting of [
      `rekey:baseUrl ${url}`,
      `rekey:queueUrl ${url}`,
      `rekey:username ${credentials.username}`,
      `--secret rekey:password ${quoted}`,
      `--secret rekey:queueToken ${queueToken}`,
    ]) {
      assert.ok(text.includes(`\n  pulumi config set ${setting}\n`), setting);
    }
    assert.match(text, /For development and tests.*in memory/);
    assert.match(text, /db-quickstart, db-sessions/);
    assert.match(text, /^ {2}vector indexes {5}idx-vectors\n {2}search indexes {5}idx-search$/m);
    assert.match(text, /^ {2}queue users {8}00000000-0000-4000-8000-000000000001$/m);

    assert.equal((await send({ url }, "POST", resetPath, basic(credentials))).status, 200);
    assert.equal((await send({ url }, "GET", "/v2/flowControl", bearer({ queueToken }))).status, 200);
    assert.equal((await send({ url }, "GET", "/v2/flowControl")).status, 401);
    await run.printed(/→ 401\n/);
    await endsCleanly(run, "SIGINT");
    const requests = `POST ${resetPath} → 200\nGET /v2/flowControl → 200\nGET /v2/flowControl → 401\n`;
    assert.equal(run.output.slice(text.length), requests);
  });

  it("accepts every flag, prints JSON lines, and ends cleanly on SIGTERM with a connection open", async () => {
    const flags = ["--host", "127.0.0.1", "--database", "one", "two", "--database", "three", "--flow-control-key", "k"];
    const indexes = ["--vector-index", "v1", "v2", "--search-index", "s1"];
    const secrets = ["--username", "ops", "--password", "it's", "--queue-token", "t0ken"];
    const run = start(...flags, ...indexes, ...secrets, "--credentials", "always", "--json");
    const platform = await run.started<Started>();
    const { url } = platform;
    const given = { url, username: "ops", password: "it's", queueToken: "t0ken" };
    assert.deepEqual(platform, {
      ...given,
      databases: ["one", "two", "three"],
      vectorIndexes: ["v1", "v2"],
      searchIndexes: ["s1"],
      queueUsers: ["00000000-0000-4000-8000-000000000001"],
      flowControlKeys: ["k"],
      environment: environmentOf(given),
    });
    const path = "/v2/keyvalue/reset-password/three";
    // `fetch` keeps its connection open for the next request.
    const response = await fetch(url + path, { method: "POST", headers: { authorization: basic(given) } });
    assert.equal(typeof ((await response.json()) as { password?: unknown }).password, "string");
    await run.printed(/"status":200/);
    await endsCleanly(run, "SIGTERM");
    const [, request = "", ...others] = run.output.trimEnd().split("\n");
    assert.deepEqual(JSON.parse(request), { method: "POST", path, authorized: true, status: 200 });
    assert.deepEqual(others, []);
  });

  it("reads databases with --database-path, and the credentials with --credentials read", async () => {
    const run = start("--database-path", databasePath, "--credentials", "read", "--json");
    const platform = await run.started<Started>();
    const path = databasePath.replace("{id}", "db-quickstart");
    const { password } = (await send(platform, "GET", path, basic(platform))).body as { password?: unknown };
    assert.equal(typeof password, "string");
    await endsCleanly(run, "SIGTERM");
  });

  for (const [args, error] of Object.entries({
    "--port http": /'--port <number>' argument 'http' is invalid/,
    "--port 70000": /'--port <number>'/,
    "--host 192.0.2.1": /^error: --host: cannot listen/,
    "--queue-token a\tb": /^error: --queue-token: /,
    "--database one one": /^error: --database: .*"one"/,
    "--vector-index one one": /^error: --vector-index: .*"one"/,
    "--search-index=": /^error: --search-index: must not be empty/,
    "--flow-control-key=": /^error: --flow-control-key: must not be empty/,
    "--credentials sometimes": /'--credentials <when>'.*always, read, once, never/,
    "--database-path /v2/redis": /^error: --database-path: must /,
    "--seed none.yaml": /^error: --seed: none\.yaml: ENOENT/,
    "--redis http://localhost": /^error: --redis: /,
    "--prot 1": /unknown option '--prot'/,
    extra: /too many arguments/,
  })) {
    it(`refuses ${args} and names it`, async () => {
      const run = start(...args.split(" "));
      await fails(run, error);
      assert.doesNotMatch(run.errors, /\n\s+at /);
    });
  }

  it("is saved with its passwords, and starts again from the file, unless a flag overrides it", async () => {
    const folder = new Folder();
    const file = folder.write("state.yaml", "an older state, which everyone may read", 0o644);
    const first = start("--database", "one", "--json");
    const { environment, ...platform } = await first.started<Started>();
    const path = "/v2/keyvalue/reset-password/one";
    assert.equal((await send(platform, "POST", path, basic(platform))).status, 200);
    const save = rekey(["save", file], environment);
    assert.equal(await save.ended, 0, save.errors);
    if (process.platform !== "win32") assert.equal(statSync(file).mode & 0o777, 0o600);
    const printed = rekey(["save"], environment);
    assert.equal(await printed.ended, 0, printed.errors);
    assert.equal(printed.output, readFileSync(file, "utf8"));
    await endsCleanly(first, "SIGTERM");

    const again = await start("--seed", file, "--flow-control-key", "mine", "--json").started<Started>();
    const { username, password, flowControlKeys } = again;
    const expected = { username: platform.username, password: platform.password, flowControlKeys: ["mine"] };
    assert.deepEqual({ username, password, flowControlKeys }, expected);
    const { body } = await send(again, "GET", "/local/databases", basic(again));
    const [{ id, generation }, ...others] = body as [{ id: string; generation: number }];
    assert.deepEqual({ id, generation, others }, { id: "one", generation: 2, others: [] });
    folder.remove();
  });

  const unset = { REKEY_BASE_URL: "", REKEY_USERNAME: "", REKEY_PASSWORD: "" };
  for (const { environment, error } of [
    { environment: unset, error: /REKEY_BASE_URL is not set/ },
    {
      environment: { REKEY_BASE_URL: "http://127.0.0.1:1", REKEY_USERNAME: "a", REKEY_PASSWORD: "b" },
      error: /could not be reached/,
    },
  ]) {
    it(`reports why it is not saved: ${error.source}`, async () => {
      await fails(rekey(["save", "unwritten.json"], environment), error);
      assert.ok(!existsSync(join(projectRoot, "unwritten.json")));
    });
  }

  it("reports that it is not saved because of wrong credentials", async () => {
    const { environment } = await start("--json").started<Started>();
    const save = rekey(["save"], { ...environment, REKEY_PASSWORD: "wrong" });
    await fails(save, /401: REKEY_USERNAME or REKEY_PASSWORD/);
  });

  withRedis("--redis", () => {
    it("starts a Redis, prints its address and its users, and ends it", async () => {
      const run = start("--redis");
      const { input } = await run.printed(/Requests:\n/);
      const address = /^ {2}Redis {14}(redis:\/\/127\.0\.0\.1:\d+), user rekey-<database>$/m.exec(input)?.[1];
      await assert.rejects(whoAmI(address?.replace("//", "//rekey-db-quickstart:guessed@")), /WRONGPASS/);
      await endsCleanly(run, "SIGTERM");
      await refused(address);
    });
  });
});
