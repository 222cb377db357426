import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { type Platform, startPlatform } from "../../local/index";
import { leaksOf } from "../support/canaries";
import { textsBelow } from "../support/files";
import { localEngine } from "../support/engine";
import { runEngine } from "../support/engineProcess";
import { environmentOf, Project } from "../support/project";

const given = {
  management: 'canary-management-7c1f"/+ä',
  queue: "canary-queue.91ab~/+",
  passphrase: "canary-passphrase-3d3d",
  version: "canary-version-55d0",
};
const program = `
  const pulumi = require("@pulumi/pulumi");
  const { FlowControlReset, getFlowControlKeysOutput, PasswordRotation } = require("pulumi-rekey");
  const version = pulumi.secret(process.env.VERSION);
  const cache = new PasswordRotation("cache", { databaseId: "db-quickstart", version, triggers: { a: version } });
  const orders = new FlowControlReset("orders", { flowControlKey: "orders", version });
  exports.password = cache.password;
  exports.url = pulumi.interpolate\`redis://:\${cache.password}@\${cache.endpoint}\`;
  exports.all = cache;
  exports.keys = getFlowControlKeysOutput({}, { dependsOn: orders });`;

/** How the program's settings are given, and what is run then, besides what each test needs. */
const commands: Readonly<Record<"configuration" | "environment", readonly string[][]>> = {
  configuration: [
    ["preview", "--json"],
    ["refresh", "--yes", "--json"],
    ["output"],
    ["output", "--json"],
    ["output", "url"],
    ["export"],
    ["export", "--file", "exported.json"],
    ["import", "--file", "exported.json"],
    ["config"],
    ["config", "--json"],
    ["config", "ls"],
  ],
  environment: [["preview"], ["output", "--json"], ["export"]],
};

for (const way of Object.keys(commands) as (keyof typeof commands)[]) {
  describe(`secrets: every command of \`rekey-local\`, with credentials from the ${way}`, function () {
    this.timeout(300_000);
    const canaries: Record<string, string> = { ...given };
    const printed: string[] = [];
    let platform: Platform;
    let project: Project;
    let version = given.version;

    before(async () => {
      platform = await startPlatform({
        username: "admin",
        password: given.management,
        queueToken: given.queue,
        credentialsInResponse: "always",
      });
      project = new Project(program);
      mkdirSync(project.path("tmp"));
      noteCredentials();
      if (way === "environment") return;
      await succeeds("config", "set", "rekey:baseUrl", platform.url);
      await succeeds("config", "set", "rekey:queueUrl", platform.url);
      await succeeds("config", "set", "rekey:username", "admin");
      await succeeds("config", "set", "--secret", "rekey:password", given.management);
      await succeeds("config", "set", "--secret", "rekey:queueToken", given.queue);
    });
    after(async () => {
      await platform.close();
      project.remove();
    });

    /** What the platform made is a secret from now on. */
    function noteCredentials(): void {
      const { password, restToken, readOnlyRestToken } = platform.database("db-quickstart");
      const count = Object.keys(canaries).length;
      Object.assign(canaries, { [`p${count}`]: password, [`r${count}`]: restToken, [`o${count}`]: readOnlyRestToken });
    }

    async function rekey(...args: string[]): Promise<number | null> {
      const { code, printed: text } = await runEngine(localEngine, args, project.directory, {
        PULUMI_CONFIG_PASSPHRASE: given.passphrase,
        VERSION: version,
        TMPDIR: project.path("tmp"),
        ...(way === "environment" && environmentOf(platform)),
      });
      printed.push(`$ ${args[0]}\n${text}`);
      return code;
    }

    async function succeeds(...args: string[]): Promise<void> {
      assert.equal(await rekey(...args), 0, printed.at(-1));
    }

    function assertNoLeak(): void {
      noteCredentials();
      const shown = [...printed, ...textsBelow(project.directory)].join("\n");
      assert.ok(shown.includes("db-quickstart"));
      assert.deepEqual(leaksOf(shown, canaries), []);
    }

    it("that works, also with --json", async () => {
      await succeeds("up", "--yes");
      noteCredentials();
      for (const args of commands[way]) await succeeds(...args);
      assertNoLeak();
    });

    it("that fails, because the platform echoes what it was sent", async () => {
      const basic = Buffer.from(`admin:${given.management}`).toString("base64");
      const words = `Authorization: Basic ${basic} ${given.management} ${given.queue}`;
      const { password } = platform.database("db-quickstart");
      for (const [status, flags] of [
        [400, ["--json"]],
        [500, []],
      ] as const) {
        version = `${given.version}-${status}`;
        const fault = { status, times: 9 };
        platform.failNext({ ...fault, path: /reset-password/, body: { error: `${words} ${password}` } });
        platform.failNext({ ...fault, path: /flowControl/, body: { error: words } });
        assert.equal(await rekey("up", "--yes", "--skip-preview", ...flags), 1, printed.at(-1));
        assert.match(printed.at(-1) ?? "", /\[message not shown: it may contain a secret\]/);
        await platform.reset();
      }
      assertNoLeak();
    });

    it("that ends it", async () => {
      await succeeds("up", "--yes", "--skip-preview", "--json");
      noteCredentials();
      await succeeds("destroy", "--yes");
      assertNoLeak();
    });

    it("shows them only to who asks for them by name", async () => {
      await rekey("up", "--yes", "--skip-preview");
      noteCredentials();
      const before = printed.length;
      await succeeds("output", "password", "--show-secrets");
      await succeeds("export", "--show-secrets");
      if (way === "configuration") await succeeds("config", "get", "rekey:password");
      for (const text of printed.splice(before)) assert.notDeepEqual(leaksOf(text, canaries), []);
    });
  });
}
