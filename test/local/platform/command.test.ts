import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { refused, whoAmI, withRedis } from "../../support/redis";
import { basic, bearer, send } from "./client";

// As small as a command line can be: the one of `rekey-local` has other commands, which need a build.
const main = `
  const { Command } = require("commander");
  const { addPlatformCommand } = require("./local/cli/platform");
  const program = new Command("rekey-local");
  addPlatformCommand(program);
  void program.parseAsync(process.argv.slice(1), { from: "user" });
`;

/** The first line of `--json`. */
interface Started {
  readonly url: string;
  readonly username: string;
  readonly password: string;
  readonly redisUrl?: string;
  readonly flowControlKeys: string[];
  readonly environment: Record<string, string>;
}

const resetPath = "/v2/keyvalue/reset-password/one";

interface Run {
  readonly child: ChildProcess;
  readonly ended: Promise<number | null>;
  readonly output: () => string;
  readonly errors: () => string;
  /** Waits until what it printed matches. */
  readonly printed: (pattern: RegExp) => Promise<RegExpExecArray>;
}

function rekey(args: readonly string[], env: Record<string, string> = {}): Run {
  const child = spawn(process.execPath, ["-r", "ts-node/register/transpile-only", "-e", main, "--", ...args], {
    cwd: join(__dirname, "../../.."),
    env: { ...process.env, ...env },
  });
  let output = "";
  let errors = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (errors += text));
  const ended = once(child, "close").then(([code]) => code as number | null);
  return {
    child,
    ended,
    output: () => output,
    errors: () => errors,
    async printed(pattern) {
      for (;;) {
        const match = pattern.exec(output);
        if (match !== null) {
          return match;
        }
        const more = await Promise.race([once(child.stdout, "data").then(() => true), ended.then(() => false)]);
        assert.ok(more || pattern.test(output), `it ended before it printed ${pattern}: ${output}${errors}`);
      }
    },
  };
}

describe("rekey-local platform", () => {
  let run: Run | undefined;
  const start = (...args: string[]) => (run = rekey(["platform", ...args]));
  afterEach(() => run?.child.kill("SIGKILL"));

  it("prints what a stack and a shell need, then each request, and ends cleanly on SIGINT", async () => {
    const { child, ended, printed, output } = start();
    const text = (await printed(/Requests:\n/)).input;
    const value = (name: string) => new RegExp(`^  export ${name}=(.+)$`, "m").exec(text)?.[1] ?? "";
    const url = value("REKEY_BASE_URL");
    const credentials = { username: value("REKEY_USERNAME"), password: value("REKEY_PASSWORD") };
    const queueToken = value("REKEY_QUEUE_TOKEN");
    assert.match(url, /^http:\/\/127\.0\.0\.1:\d+$/);
    assert.equal(value("REKEY_QUEUE_URL"), url);
    for (const setting of [
      `rekey:baseUrl ${url}`,
      `rekey:queueUrl ${url}`,
      `rekey:username ${credentials.username}`,
      `--secret rekey:password ${credentials.password}`,
      `--secret rekey:queueToken ${queueToken}`,
    ]) {
      assert.ok(text.includes(`\n  pulumi config set ${setting}\n`), setting);
    }
    assert.match(text, /For development and tests. It keeps all data in memory/);
    assert.match(text, /db-quickstart, db-sessions/);

    const path = "/v2/keyvalue/reset-password/db-quickstart";
    assert.equal((await send({ url }, "POST", path, basic(credentials))).status, 200);
    assert.equal((await send({ url }, "GET", "/v2/flowControl", bearer({ queueToken }))).status, 200);
    assert.equal((await send({ url }, "GET", "/v2/flowControl")).status, 401);
    await printed(/→ 401\n/);
    child.kill("SIGINT");
    assert.equal(await ended, 0);
    assert.equal(
      output().slice(text.length),
      `POST ${path} → 200\nGET /v2/flowControl → 200\nGET /v2/flowControl → 401\n`,
    );
  });

  it("takes every flag, prints JSON lines, and ends cleanly on SIGTERM with a connection open", async () => {
    const flags = ["--host", "127.0.0.1", "--database", "one", "two", "--database", "three", "--flow-control-key", "k"];
    const secrets = ["--username", "ops", "--password", "it's", "--queue-token", "t0ken"];
    const { child, ended, printed, output } = start(...flags, ...secrets, "--credentials", "always", "--json");
    const platform = JSON.parse((await printed(/.+\n/))[0]) as { url: string };
    const { url } = platform;
    assert.deepEqual(platform, {
      url,
      consoleUrl: `${url}/#username=ops&password=it%27s&queueToken=t0ken`,
      username: "ops",
      password: "it's",
      queueToken: "t0ken",
      databases: ["one", "two", "three"],
      flowControlKeys: ["k"],
      environment: {
        REKEY_BASE_URL: url,
        REKEY_QUEUE_URL: url,
        REKEY_USERNAME: "ops",
        REKEY_PASSWORD: "it's",
        REKEY_QUEUE_TOKEN: "t0ken",
      },
    });
    const path = "/v2/keyvalue/reset-password/three";
    const authorization = basic({ username: "ops", password: "it's" });
    // `fetch` keeps its connection open for the next request.
    const answer = await fetch(url + path, { method: "POST", headers: { authorization } });
    assert.equal(typeof ((await answer.json()) as { password?: unknown }).password, "string");
    await printed(/"status":200/);
    child.kill("SIGTERM");
    assert.equal(await ended, 0);
    const [, request, ...more] = output().trimEnd().split("\n");
    assert.deepEqual(JSON.parse(request ?? ""), { method: "POST", path, authorized: true, status: 200 });
    assert.deepEqual(more, []);
  });

  it("quotes for a shell what needs it", async () => {
    const { printed } = start("--password", "it's $5");
    const text = (await printed(/Requests:\n/)).input;
    assert.ok(text.includes(`  export REKEY_PASSWORD='it'\\''s $5'\n`));
    assert.ok(text.includes(`  pulumi config set --secret rekey:password 'it'\\''s $5'\n`));
  });

  const refused: [args: string[], names: RegExp][] = [
    [["--port", "http"], /'--port <number>' argument 'http' is invalid/],
    [["--port", "70000"], /'--port <number>'/],
    [["--host", "192.0.2.1"], /^error: --host: cannot listen/],
    [["--username", "a:b"], /^error: --username: .*colon/],
    [["--queue-token", "a b"], /^error: --queue-token: /],
    [["--database", "one", "one"], /^error: --database: "one" is given twice/],
    [["--flow-control-key", ""], /^error: --flow-control-key: must not be empty/],
    [["--credentials", "sometimes"], /'--credentials <when>'/],
    [["--seed", "none.yaml"], /^error: --seed: none\.yaml: ENOENT/],
    [["--redis", "http://localhost"], /^error: --redis: must be true or a URL/],
    [
      ["--redis", "redis://:canary@127.0.0.1:1"],
      /^error: --redis: connect ECONNREFUSED 127\.0\.0\.1:1. Check that a Redis is running.*$/m,
    ],
    [["--prot", "1"], /unknown option '--prot'/],
    [["extra"], /too many arguments/],
  ];
  for (const [args, names] of refused) {
    it(`refuses ${args.join(" ")} and names it`, async () => {
      const { ended, errors, output } = start(...args);
      assert.equal(await ended, 1);
      assert.match(errors(), names);
      assert.doesNotMatch(errors(), /\n\s+at |canary/);
      assert.equal(output(), "");
    });
  }

  it("is saved with its passwords, and begins again from the file, where a flag wins over it", async () => {
    const directory = mkdtempSync(join(tmpdir(), "rekey-save-"));
    const file = join(directory, "state.yaml");
    writeFileSync(file, "an older state, which everybody may read", { mode: 0o644 });
    const first = start("--database", "one", "--json");
    const { url, environment, username, password } = JSON.parse((await first.printed(/.+\n/))[0]) as Started;
    assert.equal((await send({ url }, "POST", resetPath, basic({ username, password }))).status, 200);
    const save = rekey(["platform", "save", file], environment);
    assert.equal(await save.ended, 0, save.errors());
    if (process.platform !== "win32") assert.equal(statSync(file).mode & 0o777, 0o600);
    const printed = rekey(["platform", "save"], environment);
    assert.equal(await printed.ended, 0, printed.errors());
    assert.equal(printed.output(), readFileSync(file, "utf8"));
    first.child.kill("SIGTERM");
    await first.ended;

    const second = start("--seed", file, "--flow-control-key", "mine", "--json");
    const again = JSON.parse((await second.printed(/.+\n/))[0]) as Started;
    assert.deepEqual([again.username, again.password, again.flowControlKeys], [username, password, ["mine"]]);
    const { body } = await send(again, "GET", "/local/databases", basic(again));
    assert.deepEqual(
      (body as { id: string; generation: number }[]).map(({ id, generation }) => [id, generation]),
      [["one", 2]],
    );
    rmSync(directory, { recursive: true });
  });

  const unsaved: [environment: Record<string, string>, problem: RegExp][] = [
    [{}, /REKEY_BASE_URL is not set. Nothing was saved. .*`rekey-local platform` printed/],
    [
      { REKEY_BASE_URL: "http://127.0.0.1:1", REKEY_USERNAME: "a", REKEY_PASSWORD: "b" },
      /could not be reached: .*Nothing/,
    ],
  ];
  for (const [environment, problem] of unsaved) {
    it(`says why it is not saved: ${problem.source}`, async () => {
      const none = { REKEY_BASE_URL: "", REKEY_USERNAME: "", REKEY_PASSWORD: "" };
      const { ended, errors } = (run = rekey(["platform", "save", "unwritten.json"], { ...none, ...environment }));
      assert.equal(await ended, 1);
      assert.match(errors(), problem);
      assert.ok(!existsSync(join(__dirname, "../../..", "unwritten.json")));
    });
  }

  it("says whose credentials are wrong when it is not saved", async () => {
    const { environment } = JSON.parse((await start("--json").printed(/.+\n/))[0]) as Started;
    const save = rekey(["platform", "save"], { ...environment, REKEY_PASSWORD: "wrong" });
    assert.equal(await save.ended, 1);
    assert.match(save.errors(), /responded with 401: REKEY_USERNAME or REKEY_PASSWORD is wrong/);
  });

  it("says which port is in use", async () => {
    const first = start("--json");
    const { url } = JSON.parse((await first.printed(/.+\n/))[0]) as { url: string };
    const second = rekey(["platform", "--port", new URL(url).port]);
    assert.equal(await second.ended, 1);
    assert.match(
      second.errors(),
      new RegExp(`^error: --port: cannot listen on 127.0.0.1, port ${new URL(url).port}: `),
    );
    first.child.kill("SIGTERM");
    assert.equal(await first.ended, 0);
  });
});

withRedis("rekey-local platform --redis", () => {
  it("starts a Redis, says where it is and who its users are, and ends it", async () => {
    const run = rekey(["platform", "--redis"]);
    try {
      const { input } = await run.printed(/Requests:\n/);
      const address = /^ {2}Redis {14}(redis:\/\/127\.0\.0\.1:\d+), user rekey-<database>$/m.exec(input)?.[1];
      await assert.rejects(whoAmI(address?.replace("//", "//rekey-db-quickstart:guessed@")), /WRONGPASS/);
      run.child.kill("SIGTERM");
      assert.equal(await run.ended, 0, run.errors());
      await refused(address);
    } finally {
      run.child.kill("SIGKILL");
    }
  });
});
