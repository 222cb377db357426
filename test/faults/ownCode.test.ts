import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { realpathSync } from "node:fs";
import { type Socket } from "node:net";
import { join } from "node:path";
import { Folder } from "../support/folder";
import { projectRoot, providerTexts } from "../support/host";
import { databaseText } from "../support/platformBodies";
import { databasePath, rotation } from "../support/resources";
import { expectKind } from "../support/results";
import { revealed, withoutSecrets } from "../support/wire";
import { testRow, titled } from "./describeFaults";

/** Loads the modules of the host's own process. */
const requiring = `
import { createRequire } from "node:module";
const require = createRequire(${JSON.stringify(join(realpathSync(projectRoot), "package.json"))});
const load = (name) => require("./dist/provider/" + name + ".js");`;

/** Breaks one of the host's own functions, after the platform has responded. */
const broken = (code: string): string => `${requiring}
const { SecretOperations } = load("platform/secretOperations");
const ordinary = SecretOperations.prototype.reset;
SecretOperations.prototype.reset = async function (id) {
  const response = await ordinary.call(this, id);
  ${code}
};`;

/** The steps behind the response to a reset, and what breaks each of them. */
const steps = {
  "the comparison": 'load("rotation/plan/compare").compare = broken;',
  "the hand-over": 'load("rotation/lifecycle/handOver").handOver = broken;',
  "what a hand-over leaves to be said": 'load("rotation/memory/schedule").isOlder = broken;',
  saving: 'load("rotation/lifecycle/save").save = broken;',
  "the output access": 'load("rotation/outputs/clientOutputs").accessOf = broken;',
  "the URLs": 'load("rotation/program/urls").urlsOf = broken;',
  "the notices": `const findings = load("rotation/messages/findings");
const { messageOf } = findings;
findings.messageOf = (finding, kind) => (finding.kind === "problems" ? broken() : messageOf(finding, kind));`,
};

/** Breaks a step. What is thrown contains a credential. */
const breaking = (step: string): string =>
  `${requiring}
const broken = () => { throw new TypeError("x of ${delivered}"); };
${step}`;

const delivered = "delivered-credential";

/** A platform on which a reset delivers what reads show from then on. */
const bodyOf = (method: string, path: string): string => {
  const id = path.split("/").at(-1);
  if (method === "POST") wasReset.add(path);
  const current = wasReset.has(path.replace("redis/database", "keyvalue/reset-password")) ? delivered : "before";
  if (path.includes("qstash")) return JSON.stringify({ id, token: method === "POST" ? delivered : "before" });
  const wrong = method === "POST" && { port: "many" };
  return databaseText({ database_id: id, password: current, rest_token: "stable", ...wrong });
};
const wasReset = new Set<string>();

const userId = "00000000-0000-4000-8000-000000000001";
const userInputs = { queueUserId: userId, overlap: "none", __provider: providerTexts.QueueTokenRotation };

const rejected = "HTTP/1.1 400 No\r\ncontent-length: 2\r\n\r\n{}";

describe("faults: our own code", () => {
  const version1 = rotation("db", { version: "1" });

  testRow(
    [36, "undefined and a bigint in the outputs", "create", "succeeds, credentials kept; 1 sent"],
    async (fixture) => {
      const strange = "record: { ...response.record, tls: undefined, port: 10n, later: [undefined, { x: 1n }] }";
      const { host } = await fixture.start({
        preload: broken(`return { ...response, ${strange}, exactIntegers: undefined };`),
      });
      const { outs } = expectKind("done", await host.create(version1));
      const { password, record } = revealed(outs);
      assert.match(String(password), /^pw-/);
      assert.equal((record as { port: unknown }).port, "10");
    },
  );

  for (const [what, step] of Object.entries(steps)) {
    const title = [
      36,
      `it throws: ${what}`,
      "create, next up",
      "saved as delivered, may have been changed; 1 sent",
    ] as const;
    testRow(title, async (fixture) => {
      const id = `db-${fixture.adapter}-${what.replaceAll(" ", "-")}`;
      const { host, server } = await fixture.start({
        preload: breaking(step),
        server: { bodyOf },
        settings: () => ({ databasePath }),
      });
      const inputs = rotation(id, { version: "1" });
      const { outs, message } = expectKind("init error", await host.create(inputs));
      assert.match(message, /failed unexpectedly \(TypeError.*The password may have been changed\..* run again\./s);
      assert.equal(revealed(outs).password, delivered);
      for (const text of [message, JSON.stringify(withoutSecrets(outs)), host.said]) {
        assert.ok(!text.includes(delivered));
      }
      const next = await fixture.nextRun();
      const settled = expectKind("done", await next.update(id, revealed(outs), inputs));
      assert.deepEqual([revealed(settled.outs).password, settled.outs.outcome], [delivered, "reset"]);
      assert.equal(server.count("POST", id), 1);
    });
  }

  testRow(
    [36, "it throws: the use of a new queue token", "create", "saved as delivered, may have been changed; 1 sent"],
    async (fixture) => {
      const { host, server } = await fixture.start({
        preload: breaking('load("run/platformClient").PlatformClient.prototype.useQueueToken = broken;'),
        server: { bodyOf },
        settings: () => ({ queueToken: undefined, queueUserId: userId }),
      });
      const { outs, message } = expectKind("init error", await host.create(userInputs));
      assert.match(message, /failed unexpectedly \(TypeError.*The token may have been changed/s);
      assert.equal(revealed(outs).token, delivered);
      assert.equal(server.count("POST", userId), 1);
    },
  );

  for (const queueUserId of ["", "  ", ".."]) {
    const fault = `rekey:queueUserId is ${JSON.stringify(queueUserId)}`;
    testRow([54, fault, "create", "fails, naming it; 0 resets sent"], async (fixture) => {
      const { host, server } = await fixture.start({ server: { bodyOf }, settings: () => ({ queueUserId }) });
      const { message } = expectKind("failed", await host.create(userInputs));
      assert.match(message, /rekey:queueUserId .*No request was made, and nothing was changed/);
      assert.equal(server.count("POST", userId), 0);
    });
  }

  const object = "{ id: 'db', properties: { x: undefined } }";
  for (const thrown of ["undefined", "null", "'text'", "new TypeError('x of undefined')", object]) {
    testRow(
      [36, `throw ${thrown}`, "create", "may have been applied: saved by an init error; 1 sent"],
      async (fixture) => {
        const { host, server } = await fixture.start({ preload: broken(`throw ${thrown};`) });
        const result = expectKind("init error", await host.create(version1));
        assert.equal(result.outs.outcome, "unknown");
        assert.match(result.message, /may have been changed/);
        assert.deepEqual(await host.create(version1), result, "a repeated call sends nothing");
        assert.equal(server.count("POST", "db"), 1);
      },
    );
  }

  // gRPC would never return a call with a message of that length.
  testRow([36, "an id of 100 kB", "create", "fails, the middle of its message is left out"], async (fixture) => {
    const accept = (socket: Socket) => socket.once("data", () => void socket.resume().write(rejected));
    const { host } = await fixture.start({ server: { accept } });
    const { message } = expectKind("failed", await host.create(rotation("x".repeat(100_000))));
    assert.match(message, /^Could not reset .*\[REKEY_REJECTED\]$/s);
  });
});

describe("faults: installation", () => {
  it(
    titled(51, "not installed where the host runs", "constructor", "fails, names the package to install; 0 sent"),
    () => {
      const folder = new Folder();
      const program = `
      const { PasswordRotation } = require(${JSON.stringify(join(projectRoot, "dist/sdk/index.js"))});
      try { new PasswordRotation("x", { databaseId: "db" }); } catch (error) { console.log(error.message); }`;
      const shown = execFileSync(process.execPath, ["-e", program], { cwd: folder.directory, encoding: "utf8" });
      assert.match(shown, /pulumi-rekey.*No request was made.*version [\d.]+ to the package\.json.*Install/s);
      folder.remove();
    },
  );
});
