import assert from "node:assert/strict";
import { type RekeyError } from "../../provider/domain/errors";
import { PlatformClient } from "../../provider/run/platformClient";
import { databasePassword } from "../../provider/domain/secretKind";
import { readBefore } from "../../provider/rotation/lifecycle/before";
import { readProgram } from "../../provider/rotation/program/program";
import { openSession } from "../../provider/rotation/sources/session";
import { Settings } from "../../provider/settings/settings";
import { FakeRun } from "../support/fakeRun";
import { allThatShows, leaksOf } from "../support/canaries";
import { type Behaviour, type HttpServer, resetting, responding, silent, startServer } from "../support/httpServer";

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

/** Everything that goes wrong with a response. */
const failures: Readonly<Record<string, Behaviour>> = {
  "a refusal": responding(401, "{}", headers),
  "a redirect": responding(307, "", headers),
  "a failure": responding(501, body, headers),
  "a body that is not a record": responding(200, JSON.stringify(body), headers),
  "a cut connection": resetting,
  "no response": silent,
  "a body that is not gzip": responding(200, body, { "content-encoding": "gzip" }),
};

describe("secrets: errors", () => {
  let server: HttpServer | undefined;
  afterEach(() => server?.close());

  /** The error holds nothing but words and numbers: no request, response or header; and no secret is in its words. */
  async function assertOnlyWords(name: string, call: () => unknown): Promise<void> {
    await assert.rejects(
      async () => call(),
      (error: RekeyError) => {
        assert.equal(error.name, name, error.message);
        assert.ok(error.message.endsWith(` [${error.code}]`), error.message);
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

  const client = (url: string, more: NodeJS.ProcessEnv = {}): PlatformClient => {
    const env = { ...environment, REKEY_BASE_URL: url, REKEY_QUEUE_URL: url, ...more };
    return new PlatformClient(new Settings(() => undefined, env)).during({ permission: "resets" });
  };

  for (const [what, response] of Object.entries(failures)) {
    it(`${what}: hold no request, response or header, and show no secret`, async () => {
      server = await startServer(response);
      const platform = client(server.url);
      const databases = platform.operations(databasePassword);
      platform.secrets.add([body]);
      await assertOnlyWords("RequestError", () => databases.reset("db"));
      await assertOnlyWords("RequestError", () => platform.flowControl.get("orders"));
      await assertOnlyWords("RequestError", () => databases.read("db"));
      const program = readProgram({}, databasePassword);
      const fake = new FakeRun();
      fake.canRead = true;
      const run = fake.start({ operations: () => databases });
      const session = { ...openSession({ kind: databasePassword, id: "db" }, run, program, program), program };
      await assertOnlyWords("RequestError", () =>
        readBefore({ kind: "rotate", reason: "trigger" }, undefined, session),
      );
    });
  }

  it("of what was never sent: the same", async () => {
    const url = "http://127.0.0.1:1";
    const { management, queue } = canaries;
    const proxy = (scheme: string) => ({ REKEY_PROXY: `${scheme}://u:${encodeURIComponent(queue)}@127.0.0.1:1` });
    const reset = (...given: Parameters<typeof client>) =>
      client(...given)
        .operations(databasePassword)
        .reset("db");
    await assertOnlyWords("RequestError", () => reset(url));
    await assertOnlyWords("RequestError", () => reset("https://127.0.0.1:1", proxy("http")));
    await assertOnlyWords("InputError", () => client(url).operations(databasePassword).reset(".."));
    await assertOnlyWords("SettingsError", () => reset(url, { REKEY_PASSWORD: `${management}\n` }));
    await assertOnlyWords("SettingsError", () => client(url, { REKEY_QUEUE_TOKEN: `${queue} ` }).flowControl);
    await assertOnlyWords("SettingsError", () => reset(`https://u:${management}@x`));
    await assertOnlyWords("SettingsError", () => reset(url, proxy("ftp")));
  });
});
