import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import {
  type CredentialDelivery,
  type Fault,
  type Platform,
  type PlatformOptions,
  startPlatform,
} from "../../local/platform/index";
import { Settings } from "../../provider/settings/settings";
import { runLive } from "../../scripts/live/live";
import { Recorder } from "../../scripts/live/recorder";
import { projectRoot } from "../support/host";
import { findOnPath } from "../support/processes";
import { environmentOf } from "../support/project";
import { databasePath } from "../support/resources";
import { until } from "../support/results";
import { skip } from "../support/skip";

const ids = {
  database: "96ad0856-03b1-4ee7-9666-e81abd0349e1",
  index: "2b0e6f1e-5a3b-4f63-9b6a-7b7c0f5e8a10",
  key: "idle-orders",
};
const all = [...Object.values(ids), ...Object.values(ids)];
const resetPassword = `/v2/redis/reset-password/${ids.database}`;

describe("npm run test:live", () => {
  /** In place of the live account. */
  let platform: Platform;
  const start = async (credentials: CredentialDelivery = "read", options: PlatformOptions = {}) => {
    platform = await startPlatform({
      ...{ databases: [ids.database], vectorIndexes: [ids.index], flowControlKeys: ["orders"] },
      ...{ databasePath, credentials, username: "me@example.com", ...options },
    });
  };
  afterEach(() => platform?.close());

  const secrets = () => [
    ...[...platform.databases.values()].flatMap((one) => [one.password, one.restToken, one.readOnlyRestToken]),
    ...[...platform.vectorIndexes.values(), ...platform.queueUsers.values()].flatMap((one) => [
      one.token,
      one.readOnlyToken,
    ]),
    ...[platform.signingKeys.current, platform.signingKeys.next, platform.password, platform.username],
  ];
  const posts = () => platform.requests.filter(({ method }) => method !== "GET").map(({ path }) => path);

  /** Answers with these lines, then with none. */
  async function run(lines: readonly string[], environment: NodeJS.ProcessEnv = environmentOf(platform)) {
    const former = secrets();
    const left = [...lines];
    const printed: string[] = [];
    const settings = new Settings(() => undefined, { REKEY_PLATFORM: "upstash", ...environment });
    const code = await runLive(settings, {
      ask: async (question) => (printed.push(question), left.shift()),
      print: (line) => void printed.push(line),
    });
    const text = printed.join("\n");
    for (const secret of [...former, ...secrets(), ...Object.values(ids), ...platform.queueUsers.keys()]) {
      assert.ok(!text.includes(secret), `${secret}\n${text}`);
    }
    const rows = text.split("\n").filter((line) => line.startsWith("| ") && !line.startsWith("| request"));
    return { code, text, rows: rows.filter((line) => !line.startsWith("| ---")) };
  }
  const onlyDatabase = [ids.database, "", "", ids.database];

  it("changes each thing once, sends no other POST, and finds no difference in another local platform", async () => {
    await start();
    const { code, text } = await run(all);
    assert.equal(code, 0, text);
    assert.match(text, /Nothing differs from the local platform\.\n\nA change was sent for: database, index, key\./);
    assert.deepEqual(posts(), [
      resetPassword,
      `/v2/vector/index/${ids.index}/reset-password`,
      `/v2/flowControl/${ids.key}/pause`,
      `/v2/flowControl/${ids.key}/pin?parallelism=1&rate=1&period=60`,
      `/v2/flowControl/${ids.key}/reset`,
      `/v2/flowControl/${ids.key}/resume`,
      `/v2/flowControl/${ids.key}/unpin?parallelism=true&rate=true`,
    ]);
    const { isPaused, isPinnedParallelism, isPinnedRate } = platform.flowControlKeys.get(ids.key) ?? {};
    assert.deepEqual([isPaused, isPinnedParallelism, isPinnedRate], [false, false, false]);
  });

  it("only reads what belongs to the whole account", async () => {
    await start();
    const { text } = await run(["", "", ""]);
    assert.match(text, /Nothing was changed\.$/);
    const paths = platform.requests.map(({ path }) => path);
    for (const path of ["/v2/redis/databases", "/v2/qstash/users", "/v2/keys", "/v2/flowControl"]) {
      assert.ok(paths.includes(path), `${path}: ${paths.join(", ")}`);
    }
    assert.deepEqual(posts(), []);
  });

  const post = "| POST /v2/redis/reset-password/{id} | ";
  const readAfter = "| GET /v2/redis/database/{id}, after a change | ";
  const differences: Readonly<Record<string, { mode?: CredentialDelivery; fault?: Fault; rows: (string | RegExp)[] }>> =
    {
      "shows credentials in the response to a reset": {
        mode: "always",
        rows: [`${post}password | new | – |`],
      },
      "protects credentials": {
        mode: "once",
        rows: [`${post}password | new | – |`, "| GET /v2/redis/database/{id} | password | – | a text |"],
      },
      "never shows credentials": {
        mode: "never",
        rows: ["| the first new credential | body | – | within 10 s |"],
      },
      "still accepts the former password": {
        fault: { keepFormerPassword: true },
        rows: [/^\| result \| body \| adoption .*reset error: .*REKEY_VERIFICATION_FAILED.*formerRefused: true/m],
      },
      "applies a reset late": {
        fault: { applyAfterMs: 12_000 },
        rows: [/^\| the first new credential \| body \| after \d+ s \| within 10 s \|$/m],
      },
    };
  for (const [what, { mode, fault, rows: expected }] of Object.entries(differences)) {
    it(`shows that a platform ${what}`, async () => {
      await start(mode);
      if (fault) platform.failNext({ path: resetPassword, ...fault });
      const { rows } = await run(onlyDatabase);
      for (const row of expected) {
        const isShown = typeof row === "string" ? rows.includes(row) : row.test(rows.join("\n"));
        assert.ok(isShown, `${row}\n${rows.join("\n")}`);
      }
      assert.deepEqual(posts(), [resetPassword]);
    });
  }

  it("shows other types and fields of a record, and no name that may be an id", async () => {
    await start();
    platform.changeRecord(ids.database, { port: "6379", new_field: true, tls: undefined, [ids.index]: 1 });
    const { rows } = await run(onlyDatabase);
    for (const row of [
      "port | a text | a number |",
      "new_field | a boolean | – |",
      "tls | – | a boolean |",
      "(another name) | a number | – |",
    ]) {
      assert.ok(rows.includes(readAfter + row), `${row}\n${rows.join("\n")}`);
    }
  });

  it("sends no second reset after a lost response, and shows no words that repeat a secret or an id", async () => {
    await start();
    platform.failNext({ path: resetPassword, dropConnection: "after-apply" });
    const { rows } = await run(onlyDatabase);
    assert.ok(rows.includes(`${post}status | no response | 200 |`), rows.join("\n"));
    assert.deepEqual(posts(), [resetPassword]);
    const error = `${platform.database(ids.database).password} of ${ids.database} for ${platform.username}`;
    platform.failNext({ path: resetPassword, status: 400, body: { error } });
    assert.match((await run(onlyDatabase)).text, /REKEY_REJECTED/);
  });

  it("goes on without a response to a read", async () => {
    await start();
    platform.failNext({ path: "/v2/redis/databases", times: 3, dropConnection: "before-apply" });
    const { code, rows } = await run(["", "", ""]);
    assert.equal(code, 0);
    assert.ok(rows.includes("| GET /v2/redis/databases | status | no response | 200 |"), rows.join("\n"));
  });

  it("unpins and resumes a key that cannot be reset", async () => {
    await start();
    platform.failNext({ path: /\/reset(Rate)?$/, times: 9, status: 403, body: { error: "no" } });
    const { rows } = await run(["", "", ids.key, ids.key]);
    assert.ok(rows.includes("| POST /v2/flowControl/{id}/reset | status | 403 | 200 |"), rows.join("\n"));
    const { isPaused, isPinnedParallelism } = platform.flowControlKeys.get(ids.key) ?? {};
    assert.deepEqual([isPaused, isPinnedParallelism], [false, false]);
  });

  const nothing: Readonly<Record<string, readonly string[]>> = {
    "no input": [],
    "one line of input": [ids.database],
    "an id that is not typed again": [ids.database, "", "", ""],
    "another id": [ids.database, "", "", ids.index],
    "a URL": ["redis://default:pw@host:6379"],
    "no confirmation": [ids.database, "", ""],
  };
  for (const [what, lines] of Object.entries(nothing)) {
    it(`changes nothing with ${what}`, async () => {
      await start();
      const { text } = await run(lines);
      assert.match(text, /Nothing was changed\.$/);
      assert.deepEqual(posts(), []);
      assert.ok(!text.includes("default:pw"));
    });
  }

  it("names the settings that are missing, and sends nothing", async () => {
    await start();
    const { code, text } = await run([ids.database, "", ""], {});
    assert.equal(code, 1);
    assert.match(text, /rekey:username and rekey:password are not set[^]*Nothing was changed\.$/);
    assert.equal(platform.requests.length, 0);
  });

  it("forwards reads, and a permitted POST once, whatever Rekey sends", async () => {
    await start();
    const services = { management: platform.url, queue: platform.url };
    const recorder = await Recorder.start(services, [resetPassword]);
    const authorization = `Basic ${Buffer.from(`${platform.username}:${platform.password}`).toString("base64")}`;
    const send = async (method: string, path: string) =>
      (await fetch(recorder.services.management + path, { method, headers: { authorization } })).status;
    const others = [`${resetPassword}?x`, `/v2/qstash/rotate-token/x`, "/v2/keys/rotate", resetPassword];
    try {
      assert.equal(await send("GET", "/v2/redis/databases"), 200);
      assert.equal(await send("POST", resetPassword), 200);
      for (const path of others) assert.equal(await send("POST", path), 403, path);
      for (const method of ["PUT", "PATCH", "DELETE"]) assert.equal(await send(method, resetPassword), 403, method);
    } finally {
      recorder.close();
    }
    assert.deepEqual(posts(), [resetPassword]);
  });

  it("asks in a terminal", async function () {
    if (process.platform !== "linux" || findOnPath("script") === undefined) skip(this, "there is no `script` of Linux");
    await start();
    const command = `"${process.execPath}" -r ts-node/register/transpile-only scripts/live/main.ts`;
    const env = { ...process.env, ...environmentOf(platform), REKEY_DATABASE_PATH: "none" };
    const child = spawn("script", ["-qec", command, "/dev/null"], { cwd: projectRoot, env });
    let printed = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => (printed += text));
    const ended = once(child, "close");
    for (const answer of [ids.database, "", "", ids.database]) {
      await until(() => /(skip\)|again): $/.test(printed));
      printed += answer;
      child.stdin.write(`${answer}\n`);
    }
    assert.deepEqual(await ended, [0, null], printed);
    assert.match(printed, /Nothing differs[^]*A change was sent for: database\./);
    assert.deepEqual(posts(), [resetPassword]);
  });

  it("refuses without a terminal", async () => {
    await start();
    const script = join(projectRoot, "scripts", "live", "main.ts");
    const { status, stderr } = spawnSync(process.execPath, ["-r", "ts-node/register/transpile-only", script], {
      cwd: projectRoot,
      env: { ...process.env, ...environmentOf(platform) },
      input: `${all.join("\n")}\n`,
      encoding: "utf8",
    });
    assert.equal(status, 1);
    assert.match(stderr, /run it in a terminal\. Nothing was changed\./);
    assert.equal(platform.requests.length, 0);
  });
});
