import { databasePassword } from "../../provider/rotation/kinds/databasePassword";
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as errorClasses from "../../provider/platform/errors";
import { CredentialProbe } from "../../provider/platform/probe";
import { KnownSecrets } from "../../provider/platform/redact";
import { PlatformClient } from "../../provider/platformClient";
import { passwordVerification } from "../../provider/verification/passwordVerification";
import { advise } from "../../provider/settings/advice";
import { readFirst } from "../../provider/rotation/reading";
import { type Run } from "../../provider/run";
import { Settings } from "../../provider/settings/settings";
import { allThatShows, leaksOf } from "../support/canaries";
import { FakeRedis } from "../support/fakeRedis";
import { FakeRun } from "../support/fakeRun";
import { sourcesIn } from "../support/files";
import { projectRoot } from "../support/host";
import { type HttpServer, type Scripted, startServer } from "../support/httpServer";

const canaries = {
  management: 'canary-management-7c1f"/+ä',
  queue: "canary-queue.91ab~/+",
  response: "canary-response-0b77",
};
const environment = {
  REKEY_USERNAME: "admin",
  REKEY_PASSWORD: canaries.management,
  REKEY_QUEUE_TOKEN: canaries.queue,
  REKEY_DEADLINE_SECONDS: "0.3",
  REKEY_DATABASE_PATH: "/v2/redis/database/{id}",
};
const body = canaries.response;
const headers = { "x-secret": body, "set-cookie": body };
const [rejected, unconfirmed] = ["RejectedError", "UnconfirmedError"];

/** Everything that goes wrong with a response, by the error when a password is reset, and when a key is read. */
const failures: Readonly<Record<string, { response: Scripted; reset?: string; read?: string }>> = {
  "a refusal": { response: { headers, status: 401, body: "{}" }, reset: rejected, read: rejected },
  "a redirect": { response: { headers, status: 307, body: "" }, reset: rejected, read: rejected },
  "a failure": { response: { headers, status: 501, body } },
  "a body that is not a record": { response: { headers, body: JSON.stringify(body) }, read: "UnreadableError" },
  "a cut connection": { response: ({ socket }) => void socket.destroy() },
  "no response": { response: () => undefined },
  "a body that is not gzip": { response: { headers: { "content-encoding": "gzip" }, body } },
};

describe("secrets: errors", () => {
  let server: HttpServer | undefined;
  afterEach(() => server?.close());

  const client = (url: string, more: NodeJS.ProcessEnv = {}): PlatformClient => {
    const env = { ...environment, REKEY_BASE_URL: url, REKEY_QUEUE_URL: url, ...more };
    return new PlatformClient(new Settings(() => undefined, env)).permitting("resets");
  };

  for (const [what, { response, reset = unconfirmed, read = unconfirmed }] of Object.entries(failures)) {
    it(`${what}: hold no request, response or header, and show no secret`, async () => {
      server = await startServer(response);
      const platform = client(server.url);
      const databases = platform.operations(databasePassword);
      platform.secrets.add([body]);
      await assertOnlyWords(reset, () => databases.reset("db"));
      await assertOnlyWords(read, () => platform.flowControl.get("orders"));
      await assertOnlyWords(read, () => databases.read("db"));
      const run = { platform } as unknown as Run;
      const subject = { kind: databasePassword, id: "db" };
      await assertOnlyWords("NotReadError", () => readFirst(subject, "reset", run));
    });
  }

  it("of what was never sent: the same", async () => {
    const url = "http://127.0.0.1:1";
    const { management, queue } = canaries;
    const proxy = (scheme: string) => ({ REKEY_PROXY: `${scheme}://u:${encodeURIComponent(queue)}@127.0.0.1:1` });
    await assertOnlyWords("NotSentError", () => client(url).operations(databasePassword).reset("db"));
    await assertOnlyWords("NotSentError", () => client(url, proxy("http")).operations(databasePassword).reset("db"));
    await assertOnlyWords("InputError", () => client(url).operations(databasePassword).reset(".."));
    await assertOnlyWords("SettingsError", () =>
      client(url, { REKEY_PASSWORD: `${management}\n` }).operations(databasePassword),
    );
    await assertOnlyWords("SettingsError", () => client(url, { REKEY_QUEUE_TOKEN: `${queue} ` }).flowControl);
    await assertOnlyWords("SettingsError", () => client(`https://u:${management}@x`).operations(databasePassword));
    await assertOnlyWords("SettingsError", () => client(url, proxy("ftp")).operations(databasePassword));
    await assertOnlyWords("NotShownError", () => Promise.reject(new errorClasses.NotShownError("orders", "pause")));
    await assertOnlyWords("NotEncryptedError", () =>
      Promise.reject(new errorClasses.NotEncryptedError({ secret: "password of database", isSame: false })),
    );
    await assertOnlyWords("RefusedError", () =>
      Promise.reject(
        new errorClasses.RefusedError("REKEY_RESET_LIMIT", { secret: "password of database", why: "it is late" }),
      ),
    );
    await assertOnlyWords("UnknownOutcomeError", () =>
      Promise.reject(new errorClasses.UnknownOutcomeError("REKEY_UNCONFIRMED", "It may have been applied.")),
    );
    await assertOnlyWords("InternalError", () =>
      Promise.reject(new errorClasses.InternalError({ secret: "x", word: "x" }, new Error(canaries.management))),
    );
  });

  it("of a database that repeats what it was sent: the same", async () => {
    const { response: password } = canaries;
    const words = [password, Buffer.from(password).toString("base64"), encodeURIComponent(password)].join(" ");
    const database = await FakeRedis.start(() => `-ERR you sent ${words}`);
    const access = { host: "127.0.0.1", port: database.port, tls: false, credential: { password } };
    const targets = JSON.stringify([{ databaseId: "db", name: "db", access }]);
    const run = new FakeRun();
    const probe = new CredentialProbe({ secrets: new KnownSecrets([]), advise });
    run.probe = (request) => probe.probe(request);
    const { failure } = await passwordVerification.apply(undefined, { subject: "db", targets }, run.start());
    await assertOnlyWords("VerificationError", () => Promise.reject(failure ?? new Error("it did not fail")));
    assert.deepEqual(database.commands.at(-1), ["AUTH", password]);
    await database.close();
  });

  it("are of no class that is not tested here", () => {
    const own = [
      "NotSent",
      "NotRead",
      "NotEncrypted",
      "NotShown",
      "Rejected",
      "Unconfirmed",
      "UnknownOutcome",
      "Internal",
      "Unreadable",
      "Input",
      "Settings",
      "Refused",
      "State",
      "Verification",
    ];
    const names = [...own, "Rekey", "Request"].map((name) => `${name}Error`);
    assert.deepEqual(
      Object.keys(errorClasses)
        .filter((name) => name.endsWith("Error"))
        .sort(),
      names.sort(),
    );
  });

  it("are not axios errors, because one file alone uses axios", () => {
    const users = sourcesIn("provider", "sdk", "local").filter((path) =>
      /["']axios["'/]/.test(readFileSync(join(projectRoot, path), "utf8")),
    );
    assert.deepEqual(users, [join("provider", "platform", "http.ts")]);
  });
});

/** The error holds nothing but words and numbers, so no request, response or header; and no secret is in its words. */
async function assertOnlyWords(name: string, call: () => unknown): Promise<void> {
  await assert.rejects(
    async () => call(),
    (error: Error) => {
      assert.equal(error.name, name, error.message);
      for (const key of Reflect.ownKeys(error)) {
        const value: unknown = Reflect.get(error, key);
        assert.ok(value === undefined || /string|number|boolean/.test(typeof value), `${name} keeps ${String(key)}`);
      }
      assert.equal(error.cause, undefined);
      assert.deepEqual(leaksOf(allThatShows(error), canaries), []);
      return true;
    },
  );
}
