import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:https";
import { type AddressInfo } from "node:net";
import { delimiter, join } from "node:path";
import { type Check } from "../../../provider/doctor/check";
import { type Platform, startPlatform } from "../../../local/index";
import { caFile, certificate } from "../../faults/certificates";
import { preloadOf } from "../../faults/network";
import { Folder } from "../../support/folder";
import { projectRoot } from "../../support/host";
import { environmentOf, Project } from "../../support/project";
import { databasePath } from "../../support/resources";
import { runAsync } from "../../support/processes";
import { writePulumi } from "./pulumiStandIn";

const main = join(projectRoot, "dist", "provider", "doctor", "main.js");
const password = "canary-management-password";
const noNames = `--import=data:text/javascript,${encodeURIComponent(preloadOf("ENOTFOUND"))}`;

/** Settings of a stack: a text, a secret, or undefined to leave it out. */
type StackConfig = Record<string, string | { secret: string } | undefined>;

/** What is wrong, by subject: each is matched with `message → fix`. */
type Findings = Readonly<Record<string, RegExp>>;

/** A change to a healthy project, and what the doctor must find in it. */
interface Mistake {
  readonly title: string;
  readonly config?: () => StackConfig;
  readonly environment?: Record<string, string>;
  readonly change?: (project: Project) => void;
  readonly findings: Findings;
}

const inPlainText = (key: string) =>
  new RegExp(`plain text in the stack's configuration.* → .*config set --secret ${key}`);
const typo = /rekey:queueurl .* → .*pulumi config rm rekey:queueurl.*rekey:queueUrl/;
const notSet = (variable: string) => new RegExp(`is not set.* → .*Run \`pulumi config set .*${variable}`);

describe("pulumi-rekey doctor", function () {
  if (process.platform === "win32") {
    return void it.skip("skipped: there is no POSIX shell for the stand-in of the pulumi CLI");
  }
  let platform: Platform;
  let secure: Server;
  let project: Project;
  /** Has the `pulumi` that comes first on PATH. */
  let bin: Folder;

  before(async () => {
    platform = await startPlatform({
      username: "owner@example.com",
      password,
      databases: ["db-sessions"],
      databasePath,
      credentials: "always",
    });
    secure = createServer(certificate("good"), (_, response) => response.end());
    await new Promise<void>((resolve) => secure.listen(0, "127.0.0.1", resolve));
  });
  after(async () => {
    secure.close();
    await platform.close();
  });
  beforeEach(() => {
    project = new Project("");
    writePulumi((bin = new Folder()));
  });
  afterEach(() => {
    project.remove();
    bin.remove();
  });

  const secureUrl = () => `https://localhost:${(secure.address() as AddressInfo).port}`;
  const healthy = () => ({
    "rekey:baseUrl": platform.url,
    "rekey:queueUrl": platform.url,
    "rekey:username": platform.username,
    "rekey:password": { secret: platform.password },
    "rekey:queueToken": { secret: platform.queueToken },
  });

  const readToken = () => ({ "rekey:queueUserId": [...platform.queueUsers.keys()][0] });

  function configure(settings: StackConfig, stack = "dev"): void {
    const given = Object.entries(settings).filter(([, value]) => value !== undefined);
    const config = given.map(([key, value]) => {
      const isSecret = typeof value === "object";
      return [key, { value: isSecret ? value.secret : value, secret: isSecret }];
    });
    bin.write(`config-${stack}.json`, JSON.stringify(Object.fromEntries(config)));
  }

  async function doctor(environment: Record<string, string> = {}, args: readonly string[] = ["--json"]) {
    const PATH = `${bin.directory}${delimiter}${process.env["PATH"]}`;
    const env = { PATH, ...environment };
    const cwd = project.directory;
    const { code, output } = await runAsync(process.execPath, [main, "doctor", ...args], { cwd, env });
    for (const secret of [password, platform.queueToken]) assert.ok(!output.includes(secret), output);
    return { code, output };
  }

  async function assertFound(
    findings: Findings,
    environment?: Record<string, string>,
    args: readonly string[] = [],
  ): Promise<void> {
    const { code, output } = await doctor(environment, ["--json", ...args]);
    const { healthy, checks } = JSON.parse(output) as { healthy: boolean; checks: Check[] };
    const wrong = checks.filter(({ state }) => state === "wrong");
    const isHealthy = wrong.length === 0;
    assert.deepEqual({ code, healthy }, { code: isHealthy ? 0 : 1, healthy: isHealthy }, output);
    assert.deepEqual(wrong.map(({ subject }) => subject).sort(), Object.keys(findings).sort(), output);
    for (const { subject, message, fix } of wrong) assert.match(`${message} → ${fix}`, findings[subject] ?? /never/);
  }

  it("finds nothing in a healthy project, and prints the source of each setting", async () => {
    const { "rekey:username": _, ...config } = healthy();
    configure({ ...config, "rekey:resetPasswordPath": `/reset/{id}?key=${password}` });
    const { code, output } = await doctor({ REKEY_USERNAME: platform.username }, []);
    assert.equal(code, 0, output);
    for (const line of [
      "ok     Node is " + process.versions.node,
      `ok     rekey:baseUrl is ${platform.url} (from the stack's configuration).`,
      "ok     rekey:username is owner@example.com (from REKEY_USERNAME).",
      "ok     rekey:password is set (from the stack's configuration).",
      "ok     rekey:resetPasswordPath is /reset/{id}… (from the stack's configuration).",
      "ok     rekey:deadlineSeconds is 60 (default).",
      "ok     Not set, and not needed: rekey:platform, rekey:queueUserId, rekey:databaseListPath, rekey:requestsPerSecond, rekey:maxResetsPerRun, rekey:proxy, rekey:caFile.",
      "-      rekey:username and rekey:password cannot be checked: only a reset needs them",
      "ok     The queue accepted rekey:queueToken.",
      "No problem was found.\n",
    ]) {
      assert.ok(output.includes(line), `${line}\n\n${output}`);
    }
    assert.match(output, /ok {5}pulumi-rekey is \d+\.\d+\.\d+, in /);
    assert.match(output, /ok {5}@pulumi\/pulumi is 3\.\d+\.\d+\./);
    const sent = platform.requests.map(({ method, path }) => `${method} ${path}`);
    assert.deepEqual(sent, ["GET /v2/globalParallelism"], "no request is sent but one read of the queue");
  });

  it("reads the list of the databases to try the management credentials, and says that HTTPS_PROXY is not used", async () => {
    configure({ ...healthy(), "rekey:databaseListPath": "/v2/redis/databases" });
    const { code, output } = await doctor({ HTTPS_PROXY: "http://127.0.0.1:1" }, []);
    assert.equal(code, 0, output);
    assert.match(output, /^ok {5}The platform accepted rekey:username and rekey:password, and lists 1 database\.$/m);
    assert.match(output, /^- {6}rekey:proxy is not set, and HTTPS_PROXY, which is, is not used\. .*rekey:proxy/m);
  });

  describe("with --database", () => {
    const readFlag = ["--database", "db-sessions"];
    const configureReads = (more?: StackConfig) =>
      configure({ ...healthy(), "rekey:databasePath": databasePath, ...more });

    it("reads the database without its credentials", async () => {
      configureReads();
      const before = platform.requests.length;
      const { code, output } = await doctor({}, readFlag);
      assert.equal(code, 0, output);
      assert.match(output, /^ok {5}The platform accepted rekey:username and .*, and has database "db-sessions"\.$/m);
      const { password, restToken } = platform.database("db-sessions");
      assert.ok(!output.includes(password) && !output.includes(restToken), output);
      const sent = platform.requests.slice(before).map(({ method, path }) => `${method} ${path}`);
      assert.deepEqual(sent, ["GET /v2/redis/database/db-sessions?credentials=hide", "GET /v2/globalParallelism"]);
      assert.equal(platform.resetCount, 0);
    });

    for (const { title, config, args = readFlag, findings } of [
      {
        title: "a wrong key",
        config: { "rekey:password": { secret: "another" } },
        findings: { 'database "db-sessions"': /401.* → Check rekey:username and rekey:password/ },
      },
      {
        title: "a wrong id",
        args: ["--database", "db-session"],
        findings: {
          'database "db-session"':
            /404.* → Check the id .* the UUID that the console shows.*rekey:databasePath.* and rekey:baseUrl/,
        },
      },
      {
        title: "an address instead of an id, which it does not print",
        args: ["--database", "redis://default:canary@host:6379"],
        findings: { "--database": /^--database must be an id, for Upstash a UUID, not an address: [^:]* → Name/ },
      },
    ] satisfies readonly { title: string; config?: StackConfig; args?: string[]; findings: Findings }[]) {
      it(`finds ${title}`, async () => {
        configureReads(config);
        await assertFound(findings, {}, args);
        assert.equal(platform.resetCount, 0);
      });
    }

    it("prints none of a refusal that is a record with its credentials", async () => {
      configureReads();
      const { password, restToken } = platform.database("db-sessions");
      const body = { database_id: "db-sessions", password, rest_token: restToken };
      platform.failNext({ path: /redis\/database/, status: 403, body });
      const { output } = await doctor({}, readFlag);
      assert.match(output, /the platform responded with 403\./);
      assert.ok(!output.includes(password) && !output.includes(restToken), output);
    });
  });

  it("uses the stack of --stack, else of PULUMI_STACK, else the selected one, also in a subfolder", async () => {
    mkdirSync(project.path("src"));
    const stackOf = async (environment: Record<string, string>, ...args: string[]) => {
      const all = ["--cwd", project.path("src"), ...args];
      const { output } = await doctor({ SELECTED_STACK: "selected", ...environment }, all);
      return /and the stack is (.*)\.$/m.exec(output)?.[1];
    };
    assert.equal(await stackOf({}), "selected");
    assert.equal(await stackOf({ PULUMI_STACK: "other" }), "other");
    assert.equal(await stackOf({ PULUMI_STACK: "other" }, "--stack", "named"), "named");
    assert.equal(await stackOf({ SELECTED_STACK: "" }), "dev");
  });

  it("reads the other settings if secrets cannot be decrypted, and prints only the first line of the error", async () => {
    const printed = { ...healthy(), "rekey:password": undefined, "rekey:queueToken": undefined };
    const settings = Object.entries(printed).map(([key, value]) => [key, { value, secret: value === undefined }]);
    const file = bin.write("settings.json", JSON.stringify(Object.fromEntries(settings)));
    const refusal = `printf 'error: the key is gone:\\n  ${password}\\n' >&2; exit 255`;
    const script = `#!/bin/sh\ncase "$*" in *--show-secrets*) ${refusal} ;; esac\ncat "${file}"\n`;
    writePulumi(bin, script);
    const { code, output } = await doctor({}, []);
    assert.equal(code, 1, output);
    assert.match(output, /^WRONG {2}The stack's secrets cannot be decrypted: the key is gone\.$/m);
    assert.match(output, /^- {6}rekey:password is encrypted in the stack's configuration.*decrypted\.$/m);
    assert.match(output, /^ok {5}rekey:username is owner@example\.com/m);
  });

  describe("with the real pulumi CLI", () => {
    if (spawnSync("pulumi", ["version"]).status !== 0) return void it.skip("skipped: no `pulumi` on PATH");
    const environment = (more: Record<string, string> = {}) => ({
      PATH: process.env["PATH"] ?? "",
      PULUMI_HOME: bin.path("home"),
      PULUMI_BACKEND_URL: `file://${bin.directory}`,
      PULUMI_CONFIG_PASSPHRASE: "test",
      PULUMI_SKIP_UPDATE_CHECK: "true",
      ...more,
    });
    const pulumi = async (...args: readonly string[]) => {
      const { code, output } = await runAsync("pulumi", args, { cwd: project.directory, env: environment() });
      assert.equal(code, 0, output);
    };
    beforeEach(async () => {
      mkdirSync(bin.path("home"));
      await pulumi("stack", "init", "dev");
      const secrets = ["--secret", `rekey:password=${password}`];
      const plain = { baseUrl: platform.url, queueUrl: platform.url, username: platform.username };
      const all = Object.entries({ ...plain, queueToken: platform.queueToken, queueurl: "a mistake" });
      await pulumi(
        "config",
        "set-all",
        ...secrets,
        ...all.flatMap(([key, value]) => ["--plaintext", `rekey:${key}=${value}`]),
      );
    });
    const findings = { "rekey:queueToken": inPlainText("rekey:queueToken"), "rekey:queueurl": typo };

    it("finds the same", async () => {
      await assertFound(findings, environment());
      const { output } = await doctor(environment(), ["--stack", "third"]);
      assert.match(output, /WRONG {2}`pulumi config` failed in .*: no stack named 'third' found/);
    });

    it("finds a wrong passphrase, and a settings file with a misplaced password, which it does not show", async () => {
      const sealed = /cannot be decrypted: incorrect passphrase.* → Set PULUMI_CONFIG_PASSPHRASE/;
      const another = environment({ PULUMI_CONFIG_PASSPHRASE: "another" });
      await assertFound({ ...findings, "the stack's secrets": sealed }, another);
      project.write("Pulumi.dev.yaml", `config:\n  rekey:password: |${password}\n`);
      const unreadable = /`pulumi config` failed in .* → .*correct its file/;
      const { REKEY_QUEUE_URL: _, REKEY_QUEUE_TOKEN: __, ...given } = environmentOf(platform);
      await assertFound({ "the stack's configuration": unreadable }, environment(given));
    });
  });

  for (const args of [["--colour"], ["again"], ["--since", "2026-04-19"]]) {
    it(`refuses ${args.join()}, and shows its usage`, async () => {
      const { code, output } = await doctor({}, args);
      assert.equal(code, 1);
      assert.match(
        output,
        /^error: .*(--colour|the only command is|--since needs --coverage)[^]*Usage: pulumi-rekey doctor/,
      );
    });
  }

  const mistakes: readonly Mistake[] = [
    {
      title: "a wrong host",
      config: () => ({ "rekey:baseUrl": "https://nowhere.test" }),
      environment: { NODE_OPTIONS: noNames },
      findings: {
        "the connection to rekey:baseUrl": /nowhere\.test.*host was not found.* → .*rekey:baseUrl is correct/,
      },
    },
    {
      title: "nothing if rekey:caFile has the platform's certificate",
      config: () => ({ "rekey:baseUrl": secureUrl(), "rekey:caFile": caFile }),
      findings: {},
    },
    {
      title: "each setting that is missing if none is set",
      config: () => Object.fromEntries(Object.keys(healthy()).map((key) => [key, undefined])),
      findings: {
        "rekey:baseUrl": notSet("REKEY_BASE_URL"),
        "rekey:queueUrl": notSet("REKEY_QUEUE_URL"),
        "rekey:username": notSet("REKEY_USERNAME"),
        "rekey:password": notSet("REKEY_PASSWORD"),
        "rekey:queueToken": notSet("REKEY_QUEUE_TOKEN"),
      },
    },
    {
      title: "a token that the platform refuses",
      config: () => ({ "rekey:queueToken": { secret: "another" } }),
      findings: { "the queue's token": /401.* → Check rekey:queueToken/ },
    },
    {
      title: "nothing if the token of a queue user is read, and accepted",
      config: () => ({ ...readToken(), "rekey:queueToken": undefined }),
      findings: {},
    },
    {
      title: "a package that is not installed where the host searches for it",
      change: (project) => project.uninstall("pulumi-rekey"),
      findings: { "pulumi-rekey": /cannot find pulumi-rekey from.* → .*npm install --prefix .*pulumi-rekey\b/ },
    },
    // The older one ignores the stack's configuration.
    ...[
      { version: "3.138.0", found: /3\.138\.0, .*>=3.139.0 <4.* → .*npm install --prefix .* @pulumi\/pulumi@3/ },
      { version: "4.0.0", found: /4\.0\.0, .*>=3.139.0 <4/ },
      { version: "3.999.0", found: /needs Node >=99, .*Node is \d+\..* → Install .*@pulumi\/pulumi@3\.248\.0/ },
    ].map(({ version, found }) => ({
      title: `@pulumi/pulumi ${version}`,
      change: (project: Project) => {
        project.uninstall("@pulumi/pulumi");
        const manifest = { version, engines: { node: ">=99" } };
        project.write("node_modules/@pulumi/pulumi/package.json", JSON.stringify(manifest));
      },
      findings: { "@pulumi/pulumi": found },
    })),
    {
      title: "the credentials of a proxy stored in plain text",
      config: () => ({ "rekey:proxy": `http://${password}@127.0.0.1:1` }),
      findings: {
        "rekey:proxy": inPlainText("rekey:proxy"),
        "the connection to rekey:baseUrl": /proxy could not be reached.* → Check rekey:proxy/,
        "the connection to rekey:queueUrl": /proxy could not be reached.* → Check rekey:proxy/,
      },
    },
    {
      title: "a folder without a project",
      change: (project) => rmSync(project.path("Pulumi.yaml")),
      findings: { "the project": /no Pulumi\.yaml.* → .*--cwd/ },
    },
  ];
  for (const { title, config, environment, change, findings } of mistakes) {
    it(`finds ${title}`, async () => {
      configure({ ...healthy(), ...config?.() });
      change?.(project);
      await assertFound(findings, environment);
      assert.equal(platform.resetCount, 0);
    });
  }
});
