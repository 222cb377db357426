import assert from "node:assert/strict";
import { databaseText } from "../support/platformBodies";
import { encodings, leaksOf } from "../support/canaries";
import { Host } from "../support/host";
import { type Behaviour, failing, type HttpServer, responding, startServer } from "../support/httpServer";
import { counterReset, databasePath, rotation, settingsFor } from "../support/resources";
import { expectKind } from "../support/results";
import { type Properties, revealed, withoutSecrets } from "../support/wire";

const canaries = {
  "management password": 'canary management-7c1f/"ä+',
  "queue token": "canary-queue.91ab~/+==",
  "old password": 'canary\\old+54e2/"&',
  "old REST token": "canary-rest-0b77",
  version: "canary-version-55d0",
};
/** Its length is not a multiple of three, so that base64 hides nothing of what follows it by chance. */
const username = "you@example.com";
const credentials = { username, password: canaries["management password"], queueToken: canaries["queue token"] };

/** What servers write into their error texts: raw, and escaped as in JSON, URLs and base64. */
const { version, ...known } = canaries;
const echoesOf = (canary: string): string[] => [
  canary,
  ...["in JSON", "percent-encoded", "in base64"].map((name) => encodings[name]?.(canary) ?? assert.fail(name)),
];
/** As HTTP's Basic scheme sends it. */
const basic = Buffer.from(`${username}:${credentials.password}`).toString("base64");
const echoed = [...Object.values(known).flatMap(echoesOf), basic];

/** Where in a response a server writes them. */
const places: Readonly<Record<string, (words: string) => string>> = {
  error: (words) => JSON.stringify({ error: words }),
  message: (words) => JSON.stringify({ code: 1, message: words }),
  text: (words) => words,
  "another field": (words) => JSON.stringify({ detail: words, error: "no" }),
  "a record of another": (words) => databaseText({ database_id: "other", database_name: words }),
  "an HTML page": (words) => `<html>${words}</html>`,
};

/** What a read shows: the credentials were changed outside. */
const current = {
  password: "canary-current+33c8/=",
  rest_token: "canary-current-rest-71d2",
  read_only_rest_token: "canary-current-read-only-98e0",
};

describe("secrets: a platform that echoes what it was sent", () => {
  let reply: Behaviour = () => undefined;
  let server: HttpServer;
  let host: Host;
  const account = () => ({ url: server.url, ...credentials });
  let saved: Properties;
  before(async () => {
    server = await startServer((exchange) => reply(exchange));
    host = await Host.start({ settings: settingsFor(account(), { deadlineSeconds: 5 }) });
    const credentials = { password: canaries["old password"], rest_token: canaries["old REST token"] };
    reply = responding(200, databaseText(credentials));
    saved = revealed(expectKind("done", await host.create(rotation("db", { version }))).outs);
  });
  after(async () => {
    await host.stop();
    await server.close();
  });

  for (const [place, write] of Object.entries(places)) {
    it(`shows none of it: in ${place}, with any status`, async () => {
      const shown: unknown[] = [];
      for (const status of [200, 303, 307, 400, 404, 500]) {
        for (const [index, words] of echoed.entries()) {
          const headers = { location: `/?${encodeURIComponent(words)}`, "www-authenticate": "Basic", "x-echo": "x" };
          reply = responding(status, write(`you sent ${words}.`), headers);
          const next = `${version} ${place} ${status} ${index}`;
          const result = await host.update("db", saved, rotation("db", { version: next }));
          assert.notEqual(result.kind, "done");
          shown.push(withoutSecrets(result));
        }
      }
      assert.deepEqual(leaksOf(JSON.stringify(shown) + host.stderr, canaries), []);
    });
  }

  it("shows none of it when counters are reset", async () => {
    const shown: unknown[] = [];
    for (const words of [...[credentials.password, credentials.queueToken].flatMap(echoesOf), basic]) {
      reply = failing(400, words);
      shown.push(await host.create(counterReset("orders", { version })));
    }
    assert.deepEqual(leaksOf(JSON.stringify(shown) + host.stderr, canaries), []);
  });

  describe("and can be read", () => {
    let reader: Host;
    /** Whether a reset was sent since the last step. */
    let isSent: boolean;
    before(async () => {
      reader = await Host.start({ settings: settingsFor(account(), { deadlineSeconds: 5, databasePath }) });
    });
    after(() => reader.stop());

    const next = (name: string) => reader.update("db", saved, rotation("db", { version: `${version} ${name}` }));
    const refresh = () => reader.read("db", saved);
    const steps: readonly {
      readonly name: string;
      readonly step: (name: string) => Promise<object>;
      readonly isEchoed: (method?: string) => boolean;
      /** Whether the current credentials were read before. */
      readonly isRead?: boolean;
    }[] = [
      { name: "the read of a refresh", step: refresh, isEchoed: () => true },
      { name: "the read before a reset", step: next, isEchoed: () => true },
      { name: "a reset", step: next, isEchoed: (method) => method === "POST", isRead: true },
      { name: "the read after a reset", step: next, isEchoed: () => isSent, isRead: true },
    ];
    for (const { name, step, isEchoed, isRead = false } of steps) {
      it(`shows none of it in ${name}`, async () => {
        const shown: unknown[] = [];
        const words = [...echoed, ...(isRead ? Object.values(current).flatMap(echoesOf) : [])];
        for (const [index, one] of words.entries()) {
          isSent = false;
          reply = ({ method, answer }) => {
            if (isEchoed(method)) answer(400, {}, JSON.stringify({ error: `you sent ${one}.` }));
            else answer(200, {}, databaseText(method === "GET" ? { ...current, future: current.password } : {}));
            isSent ||= method === "POST";
          };
          shown.push(withoutSecrets(await step(`${name} ${index}`)));
        }
        assert.deepEqual(leaksOf(JSON.stringify(shown) + reader.stderr, { ...canaries, ...current }), []);
      });
    }
  });
});
