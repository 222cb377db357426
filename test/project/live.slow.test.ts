import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { join } from "node:path";
import { type CredentialDelivery } from "../../local/platform/options";
import { type Platform, type PlatformOptions, startPlatform } from "../../local/platform/index";
import { Settings } from "../../provider/settings/settings";
import { runLive } from "../../scripts/live/live";
import { projectRoot } from "../support/host";
import { until } from "../support/results";

const database = "96ad0856-03b1-4ee7-9666-e81abd0349e1";
const index = "2b0e6f1e-5a3b-4f63-9b6a-7b7c0f5e8a10";
const keyed = { database, index, key: "idle" } as const;
const everything = [database, index, "idle", database, index, "idle"];

describe("npm run test:live", () => {
  let platform: Platform;
  const start = async (credentials: CredentialDelivery, options: PlatformOptions = {}) => {
    const databasePath = "/v2/redis/database/{id}";
    const ids = { databases: [database], vectorIndexes: [index], flowControlKeys: ["busy"] };
    platform = await startPlatform({ ...ids, databasePath, credentials, username: "me@example.com", ...options });
  };
  afterEach(() => platform?.close());

  const environment = () => ({
    REKEY_PLATFORM: "upstash",
    REKEY_BASE_URL: platform.url,
    REKEY_QUEUE_URL: platform.url,
    REKEY_USERNAME: platform.username,
    REKEY_PASSWORD: platform.password,
    REKEY_QUEUE_TOKEN: platform.queueToken,
  });
  const secretsNow = () => [
    ...[...platform.databases.values()].flatMap((one) => [one.password, one.restToken, one.readOnlyRestToken]),
    ...[...platform.vectorIndexes.values()].flatMap(({ token, readOnlyToken }) => [token, readOnlyToken]),
  ];

  /** Runs it with these lines of input, then none. `act` is called before each is read. */
  async function run(answers: readonly string[], act: (nth: number) => void = () => undefined, waitSeconds = 1) {
    const settings = new Settings(() => undefined, environment());
    const stopping = new AbortController();
    const former = [...secretsNow(), platform.password, platform.queueToken];
    const lines: string[] = [];
    const left = [...answers];
    const terminal = {
      ask: async (question: string) => {
        lines.push(question);
        act(answers.length - left.length);
        return stopping.signal.aborted ? undefined : left.shift();
      },
      print: (line: string) => void lines.push(line),
    };
    const code = await runLive({ settings, terminal, waitSeconds, signal: stopping.signal });
    const text = lines.join("\n");
    for (const secret of [...former, ...secretsNow()]) assert.ok(!text.includes(secret), "a secret is printed");
    const pageOf = text.slice(text.indexOf("## Seen on"));
    const rows = Object.fromEntries(
      [...pageOf.matchAll(/^\| (.+?) \| (.+) \|$/gm)].map(([, question = "", answer = ""]) => [question, answer]),
    );
    return { code, text, rows, page: pageOf.slice(0, pageOf.indexOf("A reset was sent")), stopping };
  }

  const posts = () => platform.requests.filter(({ method }) => method === "POST").map(({ path }) => path);
  const resets = () => posts().filter((path) => /reset/.test(path)).length;
  const seconds = /^after \d+\.\d s$/;

  it("resets each once after its id was typed again, and shows what a platform like Upstash does", async () => {
    await start("read");
    const { code, rows, page } = await run(everything);
    assert.equal(code, 0);
    assert.deepEqual(posts(), [
      `/v2/redis/reset-password/${database}`,
      `/v2/vector/index/${index}/reset-password`,
      "/v2/flowControl/idle/pin?parallelism=1",
      "/v2/flowControl/idle/reset",
      "/v2/flowControl/idle/unpin?parallelism=true",
    ]);
    const of = (question: string) => rows[question] ?? assert.fail(`${question}\n${page}`);
    assert.equal(of("database: which credentials does a read show?"), "`password`, `restToken`, `readOnlyRestToken`");
    assert.equal(of("database: and with `credentials=hide`?"), "none");
    assert.equal(of("database: which credentials does the response to a reset have?"), "none");
    for (const question of [
      "database: when does a read show the new credentials?",
      "database: when is the former password refused?",
      "database: when is the new password accepted?",
      "database: when does an open connection of the former password end?",
      "vector index: when does a read show the new credentials?",
      "vector index: when is the former token refused?",
      "vector index: when is the new token accepted?",
    ]) {
      assert.match(of(question), seconds, question);
    }
    assert.match(
      of("database: the response to a read of an unknown id"),
      /^404, JSON, with the words ".*does not exist/,
    );
    assert.match(of("key: the response to a read of a key without state"), /^404, JSON, with the words/);
    assert.equal(of("key: does a pin create a key?"), "yes");
    const zeros = "`waitListSize`, `parallelismCount`, `rateCount`, `isPaused`, `isPinnedRate`";
    assert.equal(of("key: and those that are 0 or `false`"), zeros);
    assert.equal(of("key: the response to `reset`"), "200");
    assert.equal(of("queue: fields of the global parallelism"), "`parallelismMax`, `parallelismCount`");
    assert.equal(of("queue: a search for a part of the key"), "finds the key");
    for (const id of [...Object.values(keyed), platform.username]) assert.ok(!page.includes(id), `${id}\n${page}`);
  });

  const none = "none";
  const all = "`password`, `restToken`, `readOnlyRestToken`";
  const modes: readonly { mode: CredentialDelivery; read: string; reset: string; shown: RegExp; accepted: RegExp }[] = [
    { mode: "always", read: all, reset: all, shown: seconds, accepted: seconds },
    { mode: "once", read: none, reset: all, shown: /^it shows none$/, accepted: seconds },
    { mode: "never", read: none, reset: none, shown: /^it shows none$/, accepted: /^not known: nothing showed it$/ },
  ];
  for (const { mode, read, reset, shown, accepted } of modes) {
    it(`shows what a platform does that shows credentials ${mode}`, async () => {
      await start(mode);
      const { code, rows } = await run([database, "", "", database]);
      assert.deepEqual({ code, resets: resets() }, { code: 0, resets: 1 });
      assert.equal(rows["database: which credentials does a read show?"], read);
      assert.equal(rows["database: which credentials does the response to a reset have?"], reset);
      assert.match(rows["database: when does a read show the new credentials?"] ?? "", shown);
      assert.match(rows["database: when is the new password accepted?"] ?? "", accepted);
    });
  }

  it("shows a reset that is applied late, and one that never is", async () => {
    await start("read");
    const path = /reset-password/;
    const late = await run([database, "", "", database], () => platform.failNext({ path, applyAfterMs: 700 }), 30);
    const secondsOf = (text = "") => Number(/^after (\d+\.\d) s$/.exec(text)?.[1]);
    for (const question of ["does a read show the new credentials", "is the former password refused"]) {
      assert.ok(secondsOf(late.rows[`database: when ${question}?`]) >= 0.6, question);
    }
    await platform.reset();
    const never = await run([database, "", "", database], () => platform.failNext({ path, applyAfterMs: "never" }));
    assert.equal(never.rows["database: when is the former password refused?"], "not within 1 s");
    assert.equal(never.rows["database: when is the new password accepted?"], "not known: nothing showed it");
  });

  it("watches after a lost response, and sends no second reset", async () => {
    await start("read");
    const lost = { path: /reset-password/, dropConnection: "after-apply" } as const;
    const { rows } = await run([database, "", "", database], (nth) => nth === 3 && platform.failNext(lost));
    assert.equal(rows["database: the reset"], "REKEY_UNCONFIRMED");
    assert.match(rows["database: when is the new password accepted?"] ?? "", seconds);
    assert.equal(resets(), 1);
  });

  it("sends resetRate if there is no reset, and pins nothing if the key has state", async () => {
    await start("read");
    platform.failNext({ path: /\/reset$/, status: 404, headers: { "content-type": "text/plain" }, body: "no" });
    const { rows } = await run(["", "", "busy", "busy"]);
    assert.deepEqual(posts(), ["/v2/flowControl/busy/reset", "/v2/flowControl/busy/resetRate"]);
    assert.match(rows["key: the response to `reset`"] ?? "", /^404, not JSON/);
    assert.equal(rows["key: the response to `resetRate`"], "200");
    assert.match(rows["key: does a pin create a key?"] ?? "", /^not known/);
  });

  const nothing: Readonly<Record<string, readonly string[]>> = {
    "no input": [],
    "one line of input": [database],
    "no id": ["", "", ""],
    "an id that is not typed again": [database, "", "", ""],
    "another id": [database, "", "", index],
    "a URL": [`redis://default:pw@host:6379`],
    "no confirmation": [database, "", ""],
    "an id that does not exist": ["unknown", "", "", "unknown"],
  };
  for (const [what, answers] of Object.entries(nothing)) {
    it(`resets nothing with ${what}`, async () => {
      await start("always");
      const { code, text } = await run(answers);
      assert.equal(code, 1, text);
      assert.match(text, /Nothing was reset\.$/);
      assert.deepEqual(posts(), []);
      assert.ok(!text.includes("default:pw"));
    });
  }

  it("names the settings that are missing before it sends anything", async () => {
    await start("always");
    const settings = new Settings(() => undefined, { REKEY_PLATFORM: "upstash" });
    const lines: string[] = [];
    const answers = [database, "", ""];
    const terminal = { ask: async () => answers.shift(), print: (line: string) => void lines.push(line) };
    const { signal } = new AbortController();
    assert.equal(await runLive({ settings, terminal, waitSeconds: 1, signal }), 1);
    assert.match(
      lines.join("\n"),
      /rekey:username and rekey:password are not set[^]*UPSTASH_EMAIL[^]*Nothing was reset\.$/,
    );
  });

  describe("as a process", () => {
    const script = join(projectRoot, "scripts", "live", "main.ts");
    function begin(...args: string[]) {
      const env = { ...process.env, ...environment() };
      const loader = ["-r", "ts-node/register/transpile-only"];
      const child = spawn(process.execPath, [...loader, script, ...args], { cwd: projectRoot, env });
      let printed = "";
      for (const stream of [child.stdout, child.stderr]) {
        stream.on("data", (chunk: Buffer) => (printed += chunk.toString()));
      }
      const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
      return { child, ended, printed: () => printed };
    }

    it("refuses without a terminal", async () => {
      await start("always");
      const { child, ended, printed } = begin();
      child.stdin.end(`${everything.join("\n")}\n`);
      assert.equal(await ended, 1);
      assert.match(printed(), /run it in a terminal\. Nothing was reset\./);
      assert.equal(platform.requests.length, 0);
    });

    it("reads piped input, and ends", async () => {
      await start("read");
      const { child, ended, printed } = begin("--piped", "--wait", "1");
      child.stdin.end(`${everything.join("\n")}\n`);
      assert.equal(await ended, 0, printed());
      assert.match(printed(), /A reset was sent for: database, index, key\./);
      assert.equal(resets(), 3);
    });

    it("resets nothing if it is interrupted at a question", async () => {
      await start("read");
      const { child, ended, printed } = begin("--piped");
      child.stdin.write(`${database}\n\n\n`);
      await until(() => /again to reset it: $/.test(printed()));
      child.kill("SIGINT");
      assert.equal(await ended, 130, printed());
      assert.match(printed(), /interrupted\. Nothing was reset\.\n$/);
      assert.equal(resets(), 0);
    });

    it("prints what was seen if it is interrupted after a reset", async () => {
      await start("read");
      platform.failNext({ path: /reset-password/, applyAfterMs: "never" });
      const { child, ended, printed } = begin("--piped");
      child.stdin.write(`${database}\n${index}\n\n${database}\n`);
      await until(() => resets() === 1 && platform.requests.at(-1)?.method === "GET");
      child.kill("SIGINT");
      assert.equal(await ended, 130, printed());
      assert.match(printed(), /the test was stopped[^]*A reset was sent for: database\./);
      assert.equal(resets(), 1);
    });
  });
});
