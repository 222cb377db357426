import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { mock } from "node:test";
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { type Connection, Connections } from "../../../provider/platform/connections";
import { InputError, RequestError } from "../../../provider/domain/errors";
import { KnownSecrets } from "../../../provider/platform/redact";
import {
  RequestQueue,
  type ApiRequest,
  fillPath,
  HttpRequester,
  type RequesterOptions,
} from "../../../provider/platform/http";
import { version } from "../../../package.json";
import { type Behaviour, type HttpServer, responding, silent, startServer } from "../../support/httpServer";
import { allThatShows } from "../../support/canaries";

const authorization = "Basic canary-token";
const consequences = { unchanged: "Unchanged.", unknown: "Perhaps changed." };
const reset = {
  method: "POST",
  path: "/v2/reset/db%2F1",
  idempotent: false,
  purpose: "reset it",
  consequences,
} as const satisfies ApiRequest;
const reading = { method: "GET", path: "/v2/keys", purpose: "read them" } as const satisfies ApiRequest;

function requester(
  url: string,
  {
    maxConcurrency = 8,
    connections = new Connections(),
    ...options
  }: Partial<RequesterOptions> & { maxConcurrency?: number; connections?: Connections } = {},
): HttpRequester {
  const service = { name: "management", baseUrl: url, authorization } as const;
  return new HttpRequester(service, connections, new RequestQueue(maxConcurrency), {
    deadlineMs: 60_000,
    secrets: new KnownSecrets([]),
    permission: "resets",
    ...options,
  });
}

async function failureOf(sending: Promise<unknown>): Promise<RequestError> {
  const [result] = await Promise.allSettled([sending]);
  assert.ok(result.status === "rejected", "the request did not fail");
  assert.ok(result.reason instanceof RequestError, String(result.reason));
  return result.reason;
}

describe("platform: the requester, over a real socket", () => {
  const { random } = Math;
  let server: HttpServer;
  const start = async (...script: Behaviour[]): Promise<string> => (server = await startServer(...script)).url;
  afterEach(async () => {
    Math.random = random;
    await server.close();
  });

  it("sends a POST with its authorization, its own name and no body, once", async () => {
    const url = await start(responding(200, '{"é":1}'));
    const { status, body, facts } = await requester(url).send(reset);
    assert.deepEqual({ status, body, url: facts.url }, { status: 200, body: '{"é":1}', url: url + reset.path });
    const [{ headers, ...request } = assert.fail(), ...more] = server.requests;
    assert.deepEqual([request, ...more], [{ method: "POST", path: "/v2/reset/db%2F1", body: "" }]);
    assert.notEqual(headers["transfer-encoding"], "chunked");
    const { authorization, connection, accept, "user-agent": agent, "content-type": type } = headers;
    assert.deepEqual(
      { authorization, connection, accept, agent, type },
      {
        authorization,
        connection: "keep-alive",
        accept: "application/json",
        agent: `pulumi-rekey/${version}`,
        type: undefined,
      },
    );
  });

  it("sends a GET with its query encoded, which no error shows", async () => {
    const url = await start(responding(200), responding(404));
    const queue = requester(url);
    await queue.send({ ...reading, query: { search: "a b&c=d/ü+" } });
    const { path = "" } = server.requests[0] ?? {};
    assert.equal(new URLSearchParams(path.split("?")[1]).get("search"), "a b&c=d/ü+");
    const query = { search: "canary" };
    const error = await failureOf(queue.send({ ...reading, query }));
    assert.equal(error.url, `${url}/v2/keys`);
    assert.ok(!allThatShows(error).includes("canary"));
  });

  it("lets others run while a request waits to be repeated", async () => {
    // The shortest wait that is still longer than the other request.
    Math.random = () => 0.2;
    const one = requester(await start(responding(429, "{}"), responding(200)), { maxConcurrency: 1 });
    await Promise.all([one.send(reset), one.send(reading)]);
    assert.deepEqual(
      server.requests.map(({ method }) => method),
      ["POST", "GET", "POST"],
    );
  });

  it("asks before each attempt of a reset, and sends nothing if it must not", async () => {
    const url = await start(responding(429), responding(200));
    const asked: string[] = [];
    const asking = requester(url, { beforeSend: async ({ purpose }) => void asked.push(purpose) });
    await asking.send(reset);
    await asking.send(reading);
    assert.deepEqual(asked, ["reset it", "reset it"]);
    const beforeSend: RequesterOptions["beforeSend"] = (facts) =>
      Promise.reject(new RequestError("not sent", facts, { happened: "the engine is gone", advice: "Run again." }));
    await assert.rejects(requester(url, { beforeSend }).send(reset), /the engine is gone/);
    assert.equal(server.requests.length, 3);
  });

  describe("with one deadline for all attempts", () => {
    let timeMs = 0;
    beforeEach(() => {
      Math.random = () => 0;
      mock.method(performance, "now", () => timeMs);
    });
    afterEach(() => mock.restoreAll());
    /** Takes some time, then asks to try again. */
    const slow =
      (milliseconds: number): Behaviour =>
      ({ answer }) => {
        timeMs += milliseconds;
        answer(503, {}, "{}");
      };

    it("begins no attempt after it", async () => {
      const url = await start(slow(50_000), slow(20_000), responding(200));
      const { status, happened } = await failureOf(requester(url, { deadlineMs: 60_000 }).send(reading));
      assert.deepEqual([status, server.requests.length], [503, 2]);
      assert.match(happened, /503, after 2 attempts$/);
    });

    it("sends nothing if it passes while the engine is asked", async () => {
      class SlowConnections extends Connections {
        override async open(...given: Parameters<Connections["open"]>) {
          const socket = await super.open(...given);
          timeMs += 59_900;
          return socket;
        }
      }
      const url = await start(responding(200));
      // The connection is still fresh.
      const beforeSend = () => Promise.resolve(void (timeMs += 100));
      const options = { deadlineMs: 60_000, connections: new SlowConnections(), beforeSend };
      const { delivery } = await failureOf(requester(url, options).send(reset));
      assert.deepEqual([delivery, server.requests.length], ["not sent", 0]);
    });
  });

  it("waits for the time in the platform's own headers after 429 only", async () => {
    Math.random = () => 0;
    const inAnHour = { "burst-ratelimit-reset": String(Math.ceil(Date.now() / 1000) + 3600) };
    for (const { status, sent } of [
      { status: 429, sent: 1 },
      { status: 503, sent: 3 },
      { status: 500, sent: 3 },
    ]) {
      const url = await start(responding(status, "{}", inAnHour));
      const { advice } = await failureOf(requester(url, { resetHeaders: ["burst-ratelimit-reset"] }).send(reading));
      assert.equal(server.requests.length, sent, String(status));
      assert.equal(/^Wait 3[56]\d\d s/.test(advice), status === 429, advice);
      await server.close();
    }
  });

  it("reads a response that arrived before the deadline, also if the process was busy when that passed", async () => {
    const body = `"${"x".repeat(200_000)}"`;
    for (const request of [reset, reading]) {
      const url = await start(({ socket }) => {
        // It is in the client's socket when write returns.
        socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
        for (const end = performance.now() + 3_200; performance.now() < end;);
      });
      assert.equal((await requester(url, { deadlineMs: 3_000 }).send(request)).body, body);
      await server.close();
    }
  });

  it("fails at its deadline, even if its connection never reports an end", async () => {
    const url = await start(silent);
    const isClosed: boolean[] = [];
    const connection = {
      isSent: true,
      request: () => Object.assign(new PassThrough(), { setTimeout: () => undefined }),
      close: () => isClosed.push(true),
    } as unknown as Connection;
    class DeadConnections extends Connections {
      override take = () => Promise.resolve(connection);
    }
    const dead = requester(url, { connections: new DeadConnections(), deadlineMs: 20 });
    const { delivery, happened } = await failureOf(dead.send(reset));
    assert.deepEqual([delivery, isClosed.length > 0], ["maybe applied", true]);
    assert.match(happened, /no complete response arrived within the deadline/);
  });

  it("reads 1 MiB, and more of a list, decompressed", async () => {
    const size = 1024 * 1024;
    const large = " ".repeat(size + 1);
    for (const [body, expected, isList, headers] of [
      [" ".repeat(size), size],
      [large, "the response was too large"],
      [gzipSync(large), "the response was too large", false, { "content-encoding": "gzip" }],
      [large, size + 1, true],
    ] satisfies readonly (readonly [string | Buffer, number | string, boolean?, Record<string, string>?])[]) {
      const sending = requester(await start(responding(200, body, headers))).send({
        ...reset,
        ...(isList && { isList }),
      });
      const { delivery, happened } = typeof expected === "string" ? await failureOf(sending) : {};
      if (typeof expected === "number") assert.equal((await sending).body.length, expected);
      else assert.deepEqual({ delivery, happened }, { delivery: "maybe applied", happened: expected });
      await server.close();
    }
  });
});

describe("platform: the path of a request", () => {
  it("refuses a part that is empty, a dot segment or malformed, or not given", () => {
    for (const [part, reason] of [
      ["", "must not be empty"],
      [" \t\n", "must not be empty"],
      [".", 'must not be "."'],
      ["..", 'must not be ".."'],
      ["a\ud800", "must be well-formed"],
      ["\udc00b", "must be well-formed"],
      [undefined, "must not be empty"],
    ] as const) {
      const refused = (error: unknown) => error instanceof InputError && error.message.startsWith(`id ${reason}`);
      assert.throws(() => fillPath("/v2/{id}", part === undefined ? {} : { id: part }), refused, part);
    }
  });

  it("is decoded to the part by a server, and changes nothing else in the path", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (part) => {
        fc.pre(part.trim() !== "" && part !== "." && part !== "..");
        const { pathname, search, hash } = new URL(`https://platform.test${fillPath("/v2/{id}/reset", { id: part })}`);
        const [, first, id = "", last, ...more] = pathname.split("/");
        assert.deepEqual([first, last, more, search, hash], ["v2", "reset", [], "", ""]);
        assert.equal(decodeURIComponent(id), part);
      }),
      { examples: [["../b"], ["%2e%2e"], ["a?b#c"], ["ü 字"], ["..."], ["{id}"], ["$&"]] },
    );
  });
});
