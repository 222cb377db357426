import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:https";
import { type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { type Check } from "../../../provider/doctor/check";
import { type Platform, startPlatform } from "../../../local/index";
import { Crypter } from "../../../local/engine/secrets";
import { environmentName, type SettingName } from "../../../provider/settings";
import { readPage } from "../../docs/page";
import { shows } from "../../docs/session";
import { caFile, certificate } from "../../faults/certificates";
import { preloadOf } from "../../faults/nameService";
import { projectRoot } from "../../support/host";
import { pulumiCli } from "../../support/engine";
import { Project } from "../../support/project";
import { writePulumiStandIn } from "../../support/pulumiStandIn";
import { runAsync } from "../../support/runAsync";

const main = join(projectRoot, "dist", "provider", "doctor", "main.js");
const passphrase = "test";
const password = "canary-management-password";
const noNames = `--import=data:text/javascript,${encodeURIComponent(preloadOf("ENOTFOUND"))}`;

/** What is planted into a healthy project, and what is to be found. */
interface Mistake {
  readonly title: string;
  /** Settings in the stack's file: a text, `{ secret }`, or undefined to leave it out. */
  readonly config?: () => Record<string, string | { secret: string } | undefined>;
  readonly environment?: Record<string, string>;
  readonly plant?: (project: Project) => void;
  readonly found: { readonly [subject: string]: readonly [message: RegExp, fix: RegExp] };
}

describe("pulumi-rekey doctor", function () {
  this.timeout(120_000);
  if (process.platform === "win32") {
    return void it.skip("skipped: there is no POSIX shell for the stand-in of the pulumi CLI");
  }
  let platform: Platform;
  let secure: Server;
  let project: Project;
  let crypter: Crypter;
  /** A folder with a `pulumi`, which comes first on PATH. */
  let bin: string;

  before(async () => {
    platform = await startPlatform({ username: "owner@example.com", password });
    secure = createServer(certificate("good"), (_, response) => response.end());
    await new Promise<void>((resolve) => secure.listen(0, "127.0.0.1", resolve));
    crypter = await Crypter.create(passphrase);
  });
  after(async () => {
    secure.close();
    await platform.close();
  });
  beforeEach(() => {
    project = new Project("");
    bin = mkdtempSync(join(tmpdir(), "rekey-bin-"));
    writePulumiStandIn(bin);
  });
  afterEach(() => {
    project.remove();
    rmSync(bin, { recursive: true });
  });

  const healthy = () => ({
    "rekey:baseUrl": platform.url,
    "rekey:queueUrl": platform.url,
    "rekey:username": platform.username,
    "rekey:password": { secret: platform.password },
    "rekey:queueToken": { secret: platform.queueToken },
  });

  function configure(settings: Record<string, string | { secret: string } | undefined>, stack = "dev"): void {
    const config = Object.entries(settings).map(([key, value]) => [
      key,
      typeof value === "object" ? { secure: crypter.encrypt(value.secret) } : value,
    ]);
    const text = JSON.stringify({ encryptionsalt: crypter.salt, config: Object.fromEntries(config) as unknown });
    writeFileSync(join(project.directory, `Pulumi.${stack}.yaml`), text);
  }

  async function doctor(environment: Record<string, string> = {}, args = ["--json"]) {
    const PATH = `${bin}${delimiter}${process.env["PATH"]}`;
    const env = { PATH, PULUMI_CONFIG_PASSPHRASE: passphrase, ...environment };
    const { code, output } = await runAsync(process.execPath, [main, "doctor", ...args], {
      cwd: project.directory,
      env,
    });
    for (const secret of [password, platform.queueToken]) assert.ok(!output.includes(secret), output);
    return { code, output };
  }

  async function wrongChecks(environment?: Record<string, string>): Promise<Check[]> {
    const { code, output } = await doctor(environment);
    const { healthy, checks } = JSON.parse(output) as { healthy: boolean; checks: Check[] };
    const wrong = checks.filter(({ state }) => state === "wrong");
    assert.deepEqual([code, healthy], wrong.length > 0 ? [1, false] : [0, true], output);
    return wrong;
  }

  function assertFound(wrong: readonly Check[], found: Mistake["found"]): void {
    const shown = JSON.stringify(wrong, undefined, 1);
    assert.deepEqual(wrong.map(({ subject }) => subject).sort(), Object.keys(found).sort(), shown);
    for (const { subject, message, fix } of wrong) {
      const [says, advises] = found[subject] ?? [];
      assert.match(message, says ?? /never/);
      assert.match(fix ?? "", advises ?? /never/);
    }
  }

  it("finds nothing in a healthy project, and says where each setting comes from", async () => {
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
      "ok     rekey:proxy is not set.",
      "-      rekey:username and rekey:password cannot be checked: only a reset needs them",
      "ok     The queue accepted rekey:queueToken.",
      "No problem was found.\n",
    ]) {
      assert.ok(output.includes(line), `${line}\n\n${output}`);
    }
    assert.match(output, /ok {5}pulumi-rekey is \d+\.\d+\.\d+, in /);
    assert.match(output, /ok {5}@pulumi\/pulumi is 3\.\d+\.\d+\./);
    const sent = platform.requests.map(({ method, path }) => `${method} ${path}`);
    assert.deepEqual(sent, ["GET /v2/globalParallelism"], "the only request is one read of the queue");
  });

  it("looks at the stack of --stack, else of PULUMI_STACK, from a folder below too, and changes no file", async () => {
    configure({ "rekey:queueurl": "a mistake in another stack" });
    const below = join(project.directory, "src");
    mkdirSync(below);
    const files = () => readdirSync(project.directory);
    const before = files();
    const environment = Object.fromEntries(
      Object.entries(healthy()).map(([key, value]) => [
        environmentName(key.replace("rekey:", "") as SettingName),
        typeof value === "object" ? value.secret : value,
      ]),
    );
    const fromEnvironment = await doctor({ ...environment, PULUMI_STACK: "other" }, ["--cwd", below]);
    assert.match(fromEnvironment.output, /ok {5}The project is program, and the stack is other\.\n/);
    assert.equal(fromEnvironment.code, 0, fromEnvironment.output);
    const named = await doctor({ ...environment, PULUMI_STACK: "other" }, ["--stack", "dev"]);
    assert.match(named.output, /WRONG {2}rekey:queueurl in the stack's configuration/);
    assert.equal(named.code, 1);
    assert.deepEqual(files(), before);
  });

  it("prints what its page shows", async () => {
    write(join(project.directory, "Pulumi.yaml"), "name: caches\nruntime: nodejs\nmain: index.js\n");
    configure({ ...healthy(), "rekey:password": password }, "production");
    const { output } = await doctor({}, ["--stack", "production"]);
    const asOnThePage = output
      .replaceAll(platform.url, "https://api.example.com")
      .replaceAll(projectRoot, "/home/you/caches/node_modules/pulumi-rekey");
    const version = /\d+\.\d+\.\d+/g;
    const { blocks } = readPage("docs/doctor.md");
    const shown = blocks.find(({ language }) => language === "text")?.code ?? "";
    assert.match(asOnThePage.trim().replace(version, "…"), shows(shown.replace(version, "…")));
  });

  it("reads the other settings if secrets cannot be decrypted, and shows no more than the first line of the error", async () => {
    const printed = { ...healthy(), "rekey:password": undefined, "rekey:queueToken": undefined };
    const settings = Object.entries(printed).map(([key, value]) => [key, { value, secret: value === undefined }]);
    write(join(bin, "settings.json"), JSON.stringify(Object.fromEntries(settings)));
    const refusal = `printf 'error: the key is gone:\\n  ${password}\\n' >&2; exit 255`;
    const script = `#!/bin/sh\ncase "$*" in *--show-secrets*) ${refusal} ;; esac\ncat "${bin}/settings.json"\n`;
    writePulumiStandIn(bin, script);
    const { code, output } = await doctor({}, []);
    assert.equal(code, 1, output);
    assert.match(output, /^WRONG {2}The stack's secrets cannot be decrypted: the key is gone\.$/m);
    assert.match(output, /^- {6}rekey:password is encrypted in the stack's configuration and cannot be decrypted\.$/m);
    assert.match(output, /^ok {5}rekey:username is owner@example\.com/m);
  });

  it("reads only the environment without a pulumi CLI, says so, and takes nothing for missing", async () => {
    configure(healthy());
    const { code, output } = await doctor({ PATH: join(bin, "empty"), REKEY_BASE_URL: platform.url }, []);
    assert.equal(code, 0, output);
    assert.match(output, /^- {6}The stack's configuration was not read, because there is no pulumi CLI on PATH/m);
    assert.match(output, /^ok {5}rekey:baseUrl is http.* \(from REKEY_BASE_URL\)\.$/m);
    assert.match(output, /^- {6}rekey:username is not set \(only the environment was checked\)\.$/m);
  });

  it("finds the same with the real pulumi CLI", async function () {
    if (pulumiCli.unavailable !== undefined) {
      console.log(`      skipped: ${pulumiCli.unavailable}`);
      this.skip();
    }
    const environment = {
      PATH: process.env["PATH"] ?? "",
      PULUMI_BACKEND_URL: `file://${bin}`,
      PULUMI_SKIP_UPDATE_CHECK: "true",
    };
    configure({ ...healthy(), "rekey:queueToken": platform.queueToken, "rekey:queueurl": "a mistake" });
    const env = { ...environment, PULUMI_CONFIG_PASSPHRASE: passphrase };
    const created = await runAsync("pulumi", ["stack", "init", "dev"], { cwd: project.directory, env });
    assert.equal(created.code, 0, created.output);
    assertFound(await wrongChecks(environment), {
      "rekey:queueToken": [/plain text in the stack's configuration/, /config set --secret rekey:queueToken/],
      "rekey:queueurl": [/not a setting of pulumi-rekey/, /pulumi config rm rekey:queueurl/],
    });
    assertFound(await wrongChecks({ ...environment, PULUMI_CONFIG_PASSPHRASE: "another" }), {
      "the stack's secrets": [/cannot be decrypted: incorrect passphrase/, /Set PULUMI_CONFIG_PASSPHRASE/],
      "rekey:queueToken": [/plain text in the stack's configuration/, /config set --secret rekey:queueToken/],
      "rekey:queueurl": [/not a setting of pulumi-rekey/, /pulumi config rm rekey:queueurl/],
    });
    rmSync(bin, { recursive: true });
    mkdirSync(bin);
    assert.match(
      (await doctor(environment, [])).output,
      /WRONG {2}`pulumi config` failed in .*: no stack named 'dev' found/,
    );
  });

  it("refuses a command and an option that there are not, and shows how it is used", async () => {
    for (const args of [["--colour"], ["again"]]) {
      const { code, output } = await doctor({}, args);
      assert.equal(code, 1);
      assert.match(output, /^error: .*(--colour|the only command is)[^]*Usage: pulumi-rekey doctor/);
    }
  });

  it("connects with TLS and the certificates of rekey:caFile", async () => {
    const url = `https://localhost:${(secure.address() as AddressInfo).port}`;
    configure({ ...healthy(), "rekey:baseUrl": url });
    assertFound(await wrongChecks(), {
      "the connection to rekey:baseUrl": [/the TLS connection failed \(UNABLE_TO/, /set rekey:caFile/],
    });
    configure({ ...healthy(), "rekey:baseUrl": url, "rekey:caFile": caFile });
    assertFound(await wrongChecks(), {});
  });

  it("needs nothing of the queue where only passwords are rotated", async () => {
    configure({ ...healthy(), "rekey:queueUrl": undefined, "rekey:queueToken": undefined });
    assertFound(await wrongChecks(), {});
  });

  it("says what is missing where nothing is set", async () => {
    const set: [RegExp, RegExp] = [/is not set/, /pulumi config set/];
    const names = ["baseUrl", "queueUrl", "username", "password", "queueToken"];
    assertFound(await wrongChecks(), Object.fromEntries(names.map((name) => [`rekey:${name}`, set])));
  });

  const mistakes: readonly Mistake[] = [
    {
      title: "a wrong host",
      config: () => ({ "rekey:baseUrl": "https://nowhere.test" }),
      environment: { NODE_OPTIONS: noNames },
      found: {
        "the connection to rekey:baseUrl": [/nowhere\.test.*the host was not found/, /Check the host in rekey:baseUrl/],
      },
    },
    {
      title: "http to a remote host",
      config: () => ({ "rekey:baseUrl": "http://api.example.com" }),
      found: { "rekey:baseUrl": [/must begin with https.*plain text/, /pulumi config set rekey:baseUrl/] },
    },
    {
      title: "a missing token",
      config: () => ({ "rekey:queueToken": undefined }),
      found: { "rekey:queueToken": [/is not set/, /pulumi config set --secret rekey:queueToken .*REKEY_QUEUE_TOKEN/] },
    },
    {
      title: "a token that the platform refuses",
      config: () => ({ "rekey:queueToken": { secret: "another" } }),
      found: { "the queue's token": [/the platform responded with 401/, /Check rekey:queueToken/] },
    },
    {
      title: "a package that is not installed where the host looks",
      plant: (project) => project.uninstall("pulumi-rekey"),
      found: { "pulumi-rekey": [/cannot find pulumi-rekey from/, /npm install --prefix .* pulumi-rekey/] },
    },
    {
      title: "a version of @pulumi/pulumi that ignores the stack's configuration",
      plant: (project) => {
        project.uninstall("@pulumi/pulumi");
        write(join(project.directory, "node_modules/@pulumi/pulumi/package.json"), `{"version":"3.138.0"}`);
      },
      found: { "@pulumi/pulumi": [/is 3\.138\.0, but .* >=3\.139\.0 <4/, /npm install --prefix .* @pulumi\/pulumi@3/] },
    },
    {
      title: "a version of @pulumi/pulumi that is too new",
      plant: (project) => {
        project.uninstall("@pulumi/pulumi");
        write(join(project.directory, "node_modules/@pulumi/pulumi/package.json"), `{"version":"4.0.0"}`);
      },
      found: { "@pulumi/pulumi": [/is 4\.0\.0, but .* >=3\.139\.0 <4/, /npm install --prefix .* @pulumi\/pulumi@3/] },
    },
    {
      title: "two versions of it",
      plant: ({ directory }) => {
        write(join(directory, "node_modules/@acme/caches/package.json"), "{}");
        write(
          join(directory, "node_modules/@acme/caches/node_modules/pulumi-rekey/package.json"),
          `{"version":"0.0.7"}`,
        );
      },
      found: { "pulumi-rekey": [/Two copies .*0\.0\.7 in .*caches/, /Keep one/] },
    },
    {
      title: "a CA file that cannot be read",
      config: () => ({ "rekey:caFile": "/nowhere/ca.pem" }),
      found: { "rekey:caFile": [/cannot be read \(ENOENT\)/, /pulumi config set rekey:caFile/] },
    },
    {
      title: "an unknown key",
      config: () => ({ "rekey:queueurl": "https://queue.example.com" }),
      found: { "rekey:queueurl": [/not a setting of pulumi-rekey/, /pulumi config rm rekey:queueurl.*rekey:queueUrl/] },
    },
    {
      title: "a secret stored in plain",
      config: () => ({ "rekey:password": password }),
      found: { "rekey:password": [/plain text in the stack's configuration/, /config set --secret rekey:password/] },
    },
    {
      title: "a proxy's password stored in plain",
      config: () => ({ "rekey:proxy": "http://user:word@127.0.0.1:1" }),
      found: {
        "rekey:proxy": [/plain text in the stack's configuration/, /config set --secret rekey:proxy/],
        "the connection to rekey:baseUrl": [/the proxy could not be reached/, /Check rekey:proxy/],
        "the connection to rekey:queueUrl": [/the proxy could not be reached/, /Check rekey:proxy/],
      },
    },
    {
      title: "credentials where none belong",
      config: () => ({ "rekey:username": `ops:${password}`, "rekey:proxy": `u:${password}` }),
      found: {
        "rekey:username": [/must not contain a colon/, /REKEY_USERNAME/],
        "rekey:proxy": [/URL/, /REKEY_PROXY/],
      },
    },
    {
      title: "a proxy's token stored in plain",
      config: () => ({ "rekey:proxy": `http://${password}@127.0.0.1:1` }),
      found: {
        "rekey:proxy": [/plain text in the stack's configuration/, /config set --secret rekey:proxy/],
        "the connection to rekey:baseUrl": [/the proxy could not be reached/, /Check rekey:proxy/],
        "the connection to rekey:queueUrl": [/the proxy could not be reached/, /Check rekey:proxy/],
      },
    },
    {
      title: "no passphrase for its secrets",
      environment: { PULUMI_CONFIG_PASSPHRASE: "another" },
      found: {
        "the stack's configuration": [
          /`pulumi config` failed in .*incorrect passphrase/,
          /until `pulumi config --stack/,
        ],
      },
    },
    {
      title: "a settings file that is no YAML",
      plant: ({ directory }) => write(join(directory, "Pulumi.dev.yaml"), "config: ["),
      environment: { REKEY_BASE_URL: "http://127.0.0.1:1", REKEY_USERNAME: "u", REKEY_PASSWORD: "p" },
      found: {
        "the stack's configuration": [/`pulumi config` failed in .*Pulumi\.dev\.yaml/, /correct its file/],
        "the connection to rekey:baseUrl": [/ECONNREFUSED/, /Check that the platform is running/],
      },
    },
    {
      title: "a password that YAML takes for something else",
      plant: ({ directory }) => write(join(directory, "Pulumi.dev.yaml"), `config:\n  rekey:password: |${password}\n`),
      environment: { REKEY_BASE_URL: "http://127.0.0.1:1", REKEY_USERNAME: "u", REKEY_PASSWORD: "p" },
      found: {
        "the stack's configuration": [/not valid YAML at line 2, column 20\./, /correct its file/],
        "the connection to rekey:baseUrl": [/ECONNREFUSED/, /Check that the platform is running/],
      },
    },
    {
      title: "no project",
      plant: ({ directory }) => rmSync(join(directory, "Pulumi.yaml")),
      found: { "the project": [/no Pulumi\.yaml/, /--cwd/] },
    },
  ];
  for (const { title, config, environment, plant, found } of mistakes) {
    it(`finds ${title}, and says how to fix it`, async () => {
      configure({ ...healthy(), ...config?.() });
      plant?.(project);
      assertFound(await wrongChecks(environment), found);
      assert.equal(platform.resetCount, 0);
    });
  }
});

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
