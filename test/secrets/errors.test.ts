import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  InputError,
  NotSentError,
  RefusedError,
  RejectedError,
  type RekeyError,
  SettingsError,
  UnconfirmedError,
} from "../../provider/api/errors";
import * as errorClasses from "../../provider/api/errors";
import { PlatformClient } from "../../provider/api/platformClient";
import { Settings } from "../../provider/settings";
import { leaksOf } from "../support/canaries";
import { sourcesIn } from "../support/files";
import { type HttpServer, type Scripted, startServer } from "../support/httpServer";
import { projectRoot } from "../support/host";
import { allThatShows } from "../support/leaks";

const canaries = {
  management: 'canary-management-7c1f"/+ä',
  queue: "canary-queue.91ab~/+",
  answer: "canary-answer-0b77",
};
const environment = {
  REKEY_USERNAME: "admin",
  REKEY_PASSWORD: canaries.management,
  REKEY_QUEUE_TOKEN: canaries.queue,
  REKEY_DEADLINE_SECONDS: "0.3",
};
const secret = { headers: { "x-secret": canaries.answer, "set-cookie": canaries.answer } };

/**
 * Everything that goes wrong with an answer, by the error that comes of it when a password is reset, and when a key is
 * read.
 */
const failures: readonly (readonly [string, Scripted, string, string])[] = [
  ["a refusal", { ...secret, status: 401, body: "{}" }, "RejectedError", "RejectedError"],
  ["a redirect", { ...secret, status: 307, body: "" }, "RejectedError", "RejectedError"],
  ["a failure", { ...secret, status: 501, body: canaries.answer }, "UnconfirmedError", "UnconfirmedError"],
  ["what is no record", { ...secret, body: `"${canaries.answer}"` }, "UnconfirmedError", "UnreadableError"],
  ["a cut connection", (request) => void request.socket.destroy(), "UnconfirmedError", "UnconfirmedError"],
  ["silence", () => undefined, "UnconfirmedError", "UnconfirmedError"],
  [
    "what is no gzip",
    { headers: { "content-encoding": "gzip" }, body: canaries.answer },
    "UnconfirmedError",
    "UnconfirmedError",
  ],
];

describe("secrets: errors", () => {
  let server: HttpServer | undefined;
  afterEach(() => server?.close());

  const client = (url: string, more: NodeJS.ProcessEnv = {}): PlatformClient => {
    const env = { ...environment, REKEY_BASE_URL: url, REKEY_QUEUE_URL: url, ...more };
    return new PlatformClient(new Settings(() => undefined, env));
  };

  for (const [what, scripted, reset, read] of failures) {
    it(`${what}: hold no request, no answer and no header, and show no secret`, async () => {
      server = await startServer(scripted);
      const { databases, flowControl } = client(server.url);
      assertTight(await thrownBy(databases.resetPassword("db", [canaries.answer])), reset);
      assertTight(await thrownBy(flowControl.get("orders")), read);
    });
  }

  it("of what was never sent: the same", async () => {
    const url = "http://127.0.0.1:1";
    const proxy = `http://u:${encodeURIComponent(canaries.queue)}@127.0.0.1:1`;
    const errors: readonly [unknown, string][] = [
      [await thrownBy(client(url).databases.resetPassword("db")), "NotSentError"],
      [await thrownBy(client(url, { REKEY_PROXY: proxy }).databases.resetPassword("db")), "NotSentError"],
      [await thrownBy(client(url).databases.resetPassword("..")), "InputError"],
      [
        await thrownBy(async () => client(url, { REKEY_PASSWORD: `${canaries.management}\n` }).databases),
        "SettingsError",
      ],
      [
        await thrownBy(async () => client(url, { REKEY_QUEUE_TOKEN: `${canaries.queue} ` }).flowControl),
        "SettingsError",
      ],
      [await thrownBy(async () => client(`https://u:${canaries.management}@x`).databases), "SettingsError"],
      [
        await thrownBy(async () => client(url, { REKEY_PROXY: `ftp://u:${canaries.queue}@x` }).databases),
        "SettingsError",
      ],
      [new RefusedError("REKEY_RESET_LIMIT", "db", "it is late"), "RefusedError"],
    ];
    for (const [error, name] of errors) assertTight(error, name);
  });

  it("are all of the classes that there are", () => {
    const known = [InputError, NotSentError, RefusedError, RejectedError, SettingsError, UnconfirmedError];
    const names = [...known.map(({ name }) => name), "UnreadableError", "RekeyError", "RequestError"];
    assert.deepEqual(Object.keys(errorClasses).sort(), names.sort());
  });

  it("can be told from others, because axios is in one file", () => {
    const users = sourcesIn("provider", "sdk", "local").filter((path) =>
      /["']axios["'/]/.test(readFileSync(join(projectRoot, path), "utf8")),
    );
    assert.deepEqual(users, [join("provider", "api", "requester.ts")]);
  });
});

async function thrownBy(call: Promise<unknown> | (() => Promise<unknown>)): Promise<unknown> {
  return (typeof call === "function" ? call() : call).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
}

/**
 * Nothing but words and numbers is kept, so that no request, answer or header can be; and no secret is in the words.
 */
function assertTight(error: unknown, name: string): void {
  assert.ok(error instanceof Error, `no error, but ${name} was expected`);
  assert.equal(error.name, name, error.message);
  for (const key of Reflect.ownKeys(error)) {
    const value: unknown = Reflect.get(error, key);
    assert.ok(value === undefined || /string|number|boolean/.test(typeof value), `${name} keeps ${String(key)}`);
  }
  assert.equal((error as RekeyError).cause, undefined);
  assert.deepEqual(leaksOf(allThatShows(error), canaries), []);
}
