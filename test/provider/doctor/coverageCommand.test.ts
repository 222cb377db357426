import assert from "node:assert/strict";
import { delimiter, join } from "node:path";
import { type Platform, startPlatform } from "../../../local/index";
import { Folder } from "../../support/folder";
import { projectRoot } from "../../support/host";
import { runAsync } from "../../support/processes";
import { environmentOf, Project } from "../../support/project";
import { databasePath } from "../../support/resources";
import { writePulumi } from "./pulumiStandIn";

const main = join(projectRoot, "dist", "provider", "doctor", "main.js");
const listPath = "/v2/redis/databases";
const old = Date.parse("2025-07-14T00:00:00Z") / 1000;
/** A database of the platform. */
const database = (id: string, creation_time = old) => ({
  database_id: id,
  database_name: `cache ${id}`,
  creation_time,
});

const encrypted = { "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", ciphertext: "v1:x" };

/** A state as `pulumi stack export` prints it. */
const stateOf = (...resources: object[]) => JSON.stringify({ version: 3, deployment: { resources } });
const resource = (type: string, name: string, id: string, outputs: object) => {
  const token = `pulumi-nodejs:dynamic/rekey:${type}`;
  return { urn: `urn:pulumi:dev::program::${token}::${name}`, type: token, id, outputs };
};
const state = (rotatedAt: string) =>
  stateOf(
    resource("PasswordRotation", "reset", "db-reset", { rotatedAt, password: encrypted }),
    resource("PasswordRotation", "adopted", "db-adopted", { memory: encrypted }),
    {
      ...resource("PasswordRotationFleet", "all", "fleet", {
        states: { a: { databaseId: "db-a", rotatedAt }, b: { databaseId: "db-b", rotatedAt } },
        credentials: encrypted,
        encryptedCredentials: { a: "age", b: "age" },
      }),
      inputs: { saveCredentials: false },
    },
    resource("VectorTokenRotation", "vectors", "idx-vectors", { rotatedAt, token: encrypted }),
    resource("SigningKeyRotation", "keys", "signing-keys", { currentKey: encrypted }),
  );

interface Report {
  readonly covered: boolean;
  readonly secrets: readonly { readonly id: string; readonly age?: string }[];
  readonly unlisted: readonly { readonly kinds: string; readonly why: string; readonly fix: string }[];
}

describe("pulumi-rekey doctor --coverage", function () {
  if (process.platform === "win32") {
    return void it.skip("skipped: there is no POSIX shell for the stand-in of the pulumi CLI");
  }
  let platform: Platform;
  let project: Project;
  let bin: Folder;
  let started: Date;

  before(async () => {
    const databases = ["db-reset", "db-adopted", "db-a", "db-b", "db-manual"].map((id) => database(id));
    const password = "canary-password";
    const young = { ...database("db-young", Math.floor(Date.now() / 1000)), database_name: password };
    platform = await startPlatform({ databases: [...databases, young], databasePath, password, credentials: "always" });
    project = new Project("");
    writePulumi((bin = new Folder()));
    started = new Date(Math.floor(Date.now() / 1000) * 1000);
    bin.write("state.json", state(started.toISOString()));
  });
  after(async () => {
    await platform.close();
    project.remove();
    bin.remove();
  });

  const environment = (more: Record<string, string> = {}) => ({
    ...environmentOf(platform),
    REKEY_DATABASE_PATH: databasePath,
    REKEY_DATABASE_LIST_PATH: listPath,
    SELECTED_STACK: "dev",
    PATH: `${bin.directory}${delimiter}${process.env["PATH"]}`,
    ...more,
  });

  /** What is printed, which contains no secret, and sends only reads. */
  async function doctor(args: readonly string[], more: Record<string, string> = {}, cwd = project.directory) {
    const before = platform.requests.length;
    const { code, output } = await runAsync(process.execPath, [main, "doctor", "--coverage", ...args], {
      cwd,
      env: environment(more),
    });
    const sent = platform.requests.slice(before).map(({ method, path }) => `${method} ${path}`);
    assert.ok(
      sent.every((request) => request.startsWith("GET ")),
      sent.join(),
    );
    const { current, next } = platform.signingKeys;
    const secrets = [current, next, platform.password, platform.queueToken];
    for (const { password, restToken } of platform.databases.values()) secrets.push(password, restToken);
    for (const { token, readOnlyToken } of platform.vectorIndexes.values()) secrets.push(token, readOnlyToken);
    for (const secret of secrets) assert.ok(!output.includes(secret), output);
    return { code, output, sent };
  }
  async function reportOf(args: readonly string[], more?: Record<string, string>, cwd?: string) {
    const { code, output } = await doctor(["--json", ...args], more, cwd);
    const report = JSON.parse(output) as Report;
    const ages = Object.fromEntries(report.secrets.map(({ id, age }) => [id, age]));
    return { code, report, ages };
  }

  it("lists each secret of the account, and what the state knows of it", async () => {
    const { code, output, sent } = await doctor([]);
    assert.equal(code, 0, output);
    assert.deepEqual(
      sent.sort(),
      ["GET /v2/keys", "GET /v2/qstash/users", `GET ${listPath}`, "GET /v2/search", "GET /v2/vector/index"].sort(),
    );
    const time = String.raw`20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ`;
    for (const row of [
      `database +db-reset +cache db-reset +${time} +PasswordRotation "reset" +saved`,
      'database +db-adopted +cache db-adopted +created 2025-07-14T00:00:00Z +PasswordRotation "adopted" +none',
      `database +db-a +cache db-a +${time} +PasswordRotationFleet "all" +for recipients only`,
      "database +db-manual +cache db-manual +created 2025-07-14T00:00:00Z +- +none",
      `vector index +idx-vectors +idx-vectors +${time} +VectorTokenRotation "vectors" +saved`,
      "search index +idx-search +idx-search +created 2025-07-14T00:00:00Z +- +none",
      "queue user +00000000-0000-4000-8000-000000000001 +eu-central-1 +created 2025-07-14T00:00:00Z +- +none",
      'signing keys +signing-keys +- +unknown +SigningKeyRotation "keys" +saved',
    ]) {
      assert.match(output, new RegExp(`^${row}$`, "m"));
    }
    assert.match(output, /^Compared with the state of the stack dev\.$/m);
    assert.match(output, /^Not seen: other stacks, .*\n\n10 secrets\.\n$/m);
  });

  it("exits with 1 if a secret is older than a date, or of unknown age", async () => {
    const { code, ages, report } = await reportOf(["--since", started.toISOString()]);
    assert.deepEqual({ code, covered: report.covered }, { code: 1, covered: false });
    const { "db-reset": reset, "db-adopted": adopted, "signing-keys": keys } = ages;
    assert.deepEqual([reset, adopted, keys], ["newer", "older", "unknown"]);
    const { output } = await doctor(["--since", started.toISOString()]);
    assert.match(output, /\n10 secrets: 4 older than 20.*Z, 1 of unknown age\.\n$/);
  });

  it("claims nothing of a kind that it cannot list, and prints how to list it", async () => {
    platform.failNext({ path: /search/, status: 404, body: {} });
    const { code, report, ages } = await reportOf(["--since", "2020-01-01"], {
      REKEY_DATABASE_LIST_PATH: "",
      REKEY_QUEUE_TOKEN: "",
    });
    assert.equal(code, 1);
    assert.deepEqual(
      report.unlisted.map(({ kinds, why, fix }) => `${kinds}: ${why}. ${fix}`.replace(/(not set|404)\..*/, "$1")),
      [
        "databases: rekey:databaseListPath is not set",
        "search indexes: the platform responded with 404",
        "signing keys: rekey:queueToken is not set",
      ],
    );
    // The state knows those that it rotates.
    assert.equal(ages["db-reset"], "newer");
    assert.equal(ages["db-manual"], undefined);
    platform.failNext({ path: /search/, status: 403 });
    assert.equal((await doctor([])).code, 1, "a list that failed");
  });

  it("lists the account without a pulumi CLI, without a stack and without a project, and prints why", async () => {
    const noStack = new Folder();
    writePulumi(noStack, "#!/bin/sh\necho \"error: no stack named 'dev' found\" >&2\nexit 255\n");
    for (const { printed, more, cwd } of [
      { printed: /no pulumi CLI on PATH/, more: { PATH: bin.path("empty") } },
      { printed: /^`pulumi stack export` failed: no stack named 'dev' found\.$/m, more: { PATH: noStack.directory } },
      { printed: /There is no Pulumi\.yaml/, cwd: bin.directory },
    ]) {
      const { output } = await doctor([], more, cwd);
      assert.match(output, /^No stack was compared\.$/m);
      assert.match(output, printed);
      assert.match(output, /^database +db-reset +cache db-reset +created 2025-07-14T00:00:00Z$/m);
    }
    noStack.remove();
  });

  for (const { args, printed } of [
    {
      args: ["--since", "yesterday"],
      printed: /^error: --since must be a date \(2026-04-19\), or a date and time with a zone/,
    },
    { args: ["--since", "2026-04-19T10:00"], printed: /^error: --since must be a date/ },
    { args: ["--since", "9999-01-01"], printed: /^error: --since must not be in the future/ },
    { args: ["--database", "db-a"], printed: /^error: --database cannot be used with --coverage/ },
  ]) {
    it(`refuses ${args.join(" ")}, and sends nothing`, async () => {
      const { code, output, sent } = await doctor(args);
      assert.deepEqual({ code, sent }, { code: 1, sent: [] });
      assert.match(output, printed);
    });
  }
});
