import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { type Platform, startPlatform } from "../../local/index";
import { Team } from "../support/age";
import { FakeRedis } from "../support/fakeRedis";
import { leaksOf } from "../support/canaries";
import { textsBelow } from "../support/files";
import { localEngine } from "../support/engine";
import { runEngine } from "../support/engineProcess";
import { environmentOf, Project } from "../support/project";
import { databasePath } from "../support/resources";
import { credentialsOf } from "../support/watch";

const given = {
  management: 'canary-management-7c1f"/+ä',
  queue: "canary-queue.91ab~/+",
  passphrase: "canary-passphrase-3d3d",
  version: "canary-version-55d0",
};

const program = `
  const pulumi = require("@pulumi/pulumi");
  const rekey = require("pulumi-rekey");
  const { FlowControlReset, getFlowControlKeysOutput, PasswordRotation, PasswordVerification } = rekey;
  const version = pulumi.secret(process.env.VERSION);
  const cache = new PasswordRotation("cache", { databaseId: "db-quickstart", version, triggers: { a: version } });
  const database = { host: "127.0.0.1", port: Number(process.env.DATABASE_PORT), tls: false, username: "ops" };
  exports.verification = new PasswordVerification("cache", { rotation: cache, ...database, withinSeconds: 0.2 });
  const orders = new FlowControlReset("orders", { flowControlKey: "orders", version });
  const vectors = new rekey.VectorTokenRotation("vectors", { indexId: "idx-vectors", version });
  const search = new rekey.SearchTokenRotation("search", { indexId: "idx-search", version });
  const keys = new rekey.SigningKeyRotation("keys", { version, minInterval: "0s" });
  const queue = new rekey.QueueTokenRotation(
    "queue", { queueUserId: process.env.QUEUE_USER, version }, { dependsOn: keys });
  const saving = { saveCredentials: false, encryptFor: [process.env.RECIPIENT] };
  const hidden = new PasswordRotation("hidden", { databaseId: "db-hidden", version, ...saving });
  exports.password = cache.password;
  exports.url = cache.connectionUrl;
  exports.all = [cache, vectors, search, queue, keys, hidden];
  exports.keys = getFlowControlKeysOutput({}, { dependsOn: orders });`;

/** The queue accepts the tokens of the first one. */
const queueUsers = ["qu-own", "qu-other"] as const;

/** Where the settings are, and the commands that run in addition to those of each test. */
const commands = {
  configuration: [
    "preview --json",
    "refresh --yes --json",
    "output",
    "output --json",
    "output url",
    "export",
    "export --file exported.json",
    "import --file exported.json",
    "config",
    "config --json",
    "config ls",
  ],
  environment: ["preview", "output --json", "export"],
};

for (const [origin, all] of Object.entries(commands)) {
  describe(`secrets: every command of \`rekey-local\`, with credentials from the ${origin}`, function () {
    this.timeout(300_000);
    const canaries: Record<string, string> = { ...given };
    const printed: string[] = [];
    let platform: Platform;
    let project: Project;
    let database: FakeRedis;
    /** Whether the database repeats the password in its response. */
    let echoes = false;
    let version = given.version;
    let recipient: string;
    // Only a token that is read when it is needed can be rotated itself.
    const [queueUser, own] =
      origin === "environment"
        ? [queueUsers[0], { REKEY_QUEUE_TOKEN: undefined, REKEY_QUEUE_USER_ID: queueUsers[0] }]
        : [queueUsers[1], {}];

    before(async () => {
      ({ recipient } = await Team.create());
      const credentials = { username: "admin", password: given.management, queueToken: given.queue };
      platform = await startPlatform({
        ...credentials,
        databases: ["db-quickstart", "db-hidden"],
        queueUsers,
        credentials: "read",
        databasePath,
      });
      database = await FakeRedis.start(([name, , word]) => {
        if (name === "PING") return "+PONG";
        if (echoes) return `-ERR you sent ${word} ${Buffer.from(word ?? "").toString("base64")}`;
        return word === platform.database("db-quickstart").password ? "+OK" : "-WRONGPASS no";
      });
      project = new Project(program);
      mkdirSync(project.path("tmp"));
      if (origin === "environment") return;
      for (const address of ["baseUrl", "queueUrl"]) await succeeds(`config set rekey:${address} ${platform.url}`);
      await succeeds("config set rekey:username admin");
      await succeeds(`config set --secret rekey:password ${given.management}`);
      await succeeds(`config set --secret rekey:queueToken ${given.queue}`);
    });
    after(async () => {
      await platform.close();
      await database.close();
      project.remove();
    });

    /** Adds the platform's current credentials to the canaries. */
    function noteCredentials(): void {
      for (const secret of credentialsOf(platform)) canaries[secret] = secret;
    }

    async function exitCodeOf(command: string): Promise<number | null> {
      noteCredentials();
      const { code, printed: text } = await runEngine(localEngine, command.split(" "), project.directory, {
        PULUMI_CONFIG_PASSPHRASE: given.passphrase,
        VERSION: version,
        RECIPIENT: recipient,
        QUEUE_USER: queueUser,
        DATABASE_PORT: String(database.port),
        TMPDIR: project.path("tmp"),
        REKEY_DATABASE_PATH: databasePath,
        REKEY_DEADLINE_SECONDS: "2",
        ...(origin === "environment" && environmentOf(platform)),
        ...own,
      });
      noteCredentials();
      printed.push(`$ ${command.split(" ")[0]}\n${text}`);
      return code;
    }

    async function succeeds(command: string): Promise<void> {
      assert.equal(await exitCodeOf(command), 0, printed.at(-1));
    }

    function assertNoLeak(): void {
      const shown = [...printed, ...textsBelow(project.directory)].join("\n");
      assert.ok(shown.includes("db-quickstart"));
      assert.deepEqual(leaksOf(shown, canaries), []);
    }

    it("shows none when it succeeds, also with --json", async () => {
      await succeeds("up --yes");
      await platform.changePassword("db-quickstart");
      platform.changeVectorIndexTokens("idx-vectors");
      platform.changeSearchIndexTokens("idx-search");
      platform.changeQueueUserTokens(queueUser);
      platform.changeSigningKeys();
      for (const command of all) await succeeds(command);
      assertNoLeak();
    });

    it("shows none when it fails because the platform echoes what it was sent", async () => {
      const basic = Buffer.from(`admin:${given.management}`).toString("base64");
      const words = `Authorization: Basic ${basic} ${given.management} ${given.queue}`;
      const resets = /reset-password|rotate-token|keys\/rotate/;
      for (const { path, status, flags } of [
        { path: resets, status: 400, flags: " --json" },
        { path: resets, status: 500, flags: "" },
        { path: /(redis\/database|vector\/index|search|qstash\/user)\/[\w-]+$|keys$/, status: 400, flags: "" },
      ]) {
        version = `${given.version}-${status}-${path.source}`;
        const fault = { status, times: 99 };
        platform.failNext({ ...fault, path, body: { error: `${words} ${credentialsOf(platform).join(" ")}` } });
        platform.failNext({ ...fault, path: /flowControl/, body: { error: words } });
        assert.equal(await exitCodeOf(`up --yes --skip-preview${flags}`), 1, printed.at(-1));
        assert.match(printed.at(-1) ?? "", /\[message not shown/);
        await platform.reset();
      }
      assertNoLeak();
    });

    it("shows none when it fails because the database echoes what it was sent", async () => {
      echoes = true;
      version = `${given.version}-echo`;
      assert.equal(await exitCodeOf("up --yes --skip-preview"), 1, printed.at(-1));
      assert.match(printed.at(-1) ?? "", /\[message not shown.*REKEY_VERIFICATION_FAILED/s);
      echoes = false;
      await succeeds("up --yes --skip-preview");
      assertNoLeak();
    });

    it("shows none when it destroys the stack", async () => {
      await succeeds("up --yes --skip-preview --json");
      await succeeds("destroy --yes");
      assertNoLeak();
    });

    it("shows them only if they are requested by name", async () => {
      await exitCodeOf("up --yes --skip-preview");
      const before = printed.length;
      await succeeds("output password --show-secrets");
      await succeeds("export --show-secrets");
      if (origin === "configuration") await succeeds("config get rekey:password");
      const [password = "", state = "", ...config] = printed.splice(before);
      for (const text of [password, ...config]) assert.notDeepEqual(leaksOf(text, canaries), []);
      const { password: one, restToken, readOnlyRestToken } = platform.database("db-hidden");
      const otherUsers = [...platform.queueUsers].filter(([id]) => id !== queueUser);
      const others = otherUsers.flatMap(([, { token, readOnlyToken }]) => [token, readOnlyToken]);
      assert.deepEqual(
        credentialsOf(platform).filter((secret) => !state.includes(secret)),
        // The state has the settings of the stack.
        [one, restToken, readOnlyRestToken, ...others.filter((secret) => secret !== given.queue)],
      );
    });
  });
}
