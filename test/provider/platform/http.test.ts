import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { Connections } from "../../../provider/platform/agents";
import { InputError, NotSentError, RequestError } from "../../../provider/platform/errors";
import { KnownSecrets, leftOut } from "../../../provider/platform/redact";
import { RequestQueue } from "../../../provider/platform/requestQueue";
import {
  type ApiRequest,
  fillPath,
  HttpRequester,
  managementService,
  tokenService,
  type RequesterOptions,
} from "../../../provider/platform/http";
import { version } from "../../../package.json";
import { type HttpServer, responding, type Scripted, startServer } from "../../support/httpServer";
import { allThatShows, leaksOf } from "../../support/canaries";

const password = 'canary "pass/wörd:"';
const token = "canary-token";
const secrets = [password, `ops:${password}`, token];
const consequences = { "not sent": "Unsent.", rejected: "Unchanged.", "maybe applied": "Perhaps changed." };
/** Not idempotent, because it does not say that it is. */
const reset: ApiRequest = { method: "POST", path: "/v2/reset/db%2F1", purpose: "reset it", consequences };
const reading: ApiRequest = { ...reset, method: "GET", path: "/v2/keys", idempotent: true };

function requester(
  url: string,
  { maxConcurrency = 8, ...options }: Partial<RequesterOptions> & { maxConcurrency?: number } = {},
  service = managementService(url, "ops", password),
): HttpRequester {
  const queue = new RequestQueue({ maxConcurrency });
  return new HttpRequester(service, new Connections(), queue, {
    deadlineMs: 60_000,
    deadlineName: "the deadline",
    advise: ({ service: name, kind }) => `Advice on ${name}: ${kind}.`,
    secrets: new KnownSecrets(secrets),
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

describe("api: requester, over a real socket", () => {
  const { random } = Math;
  let server: HttpServer;
  const start = async (...script: Scripted[]): Promise<string> => (server = await startServer(...script)).url;
  before(() => (Math.random = () => 0));
  after(() => (Math.random = random));
  afterEach(() => server.close());

  it("sends a POST with Basic in UTF-8, its own name and no body, once", async () => {
    const url = await start({ body: '{"é":1}' });
    const { status, body, facts } = await requester(url).send(reset);
    assert.deepEqual({ status, body, url: facts.url }, { status: 200, body: '{"é":1}', url: url + reset.path });
    const [{ headers, ...request } = assert.fail(), ...more] = server.requests;
    assert.deepEqual([request, ...more], [{ method: "POST", path: "/v2/reset/db%2F1", body: "" }]);
    assert.notEqual(headers["transfer-encoding"], "chunked");
    const { authorization, connection, accept, "user-agent": agent, "content-type": type } = headers;
    assert.deepEqual(
      { authorization, connection, accept, agent, type },
      {
        authorization: `Basic ${Buffer.from(`ops:${password}`).toString("base64")}`,
        connection: "keep-alive",
        accept: "application/json",
        agent: `pulumi-rekey/${version}`,
        type: undefined,
      },
    );
  });

  it("sends a GET with Bearer, and its query encoded; errors have advice on the queue, and no query", async () => {
    const url = await start({}, { status: 404 }, { status: 401 });
    const queue = requester(url, {}, tokenService("queue", url, token));
    const { advise } = await queue.send({ ...reading, query: { search: "a b&c=d/ü+" } });
    assert.equal(advise(), "Advice on queue: unusable response.");
    const { path = "", headers } = server.requests[0] ?? {};
    assert.equal(new URLSearchParams(path.split("?")[1]).get("search"), "a b&c=d/ü+");
    assert.equal(headers?.["authorization"], `Bearer ${token}`);
    const error = await failureOf(queue.send({ ...reading, query: { search: "x" } }));
    assert.equal(error.url, `${url}/v2/keys`);
    assert.equal(error.advice, "Advice on queue: not found.");
    const own = await failureOf(queue.send({ ...reading, path: "/v2/keys?key=canary\n#canary" }));
    assert.equal(own.url, `${url}/v2/keys`);
    assert.equal(own.advice, "Advice on queue: unauthorized.");
    assert.ok(!allThatShows(own).includes("canary"));
  });

  const echo = (status: number, headers: Record<string, string> = {}): Scripted => {
    const base64 = Buffer.from(`ops:${password}`).toString("base64");
    const said = `you sent Basic ${base64}, that is ${password} or ${encodeURIComponent(password)}; ${token}`;
    return { status, headers, body: JSON.stringify({ error: said }) };
  };
  const cut: Scripted = ({ socket }) => void socket.destroy();
  /** @param times how often the request is sent */
  const failures: readonly (readonly [
    title: string,
    ApiRequest,
    Scripted,
    expected: { delivery: string; status?: number },
    times?: number,
  ])[] = [
    ...[301, 302, 307, 308, 401].map(
      (status) =>
        [`${status}`, reset, echo(status, { location: "/elsewhere" }), { delivery: "rejected", status }] as const,
    ),
    ["303", reset, echo(303, { location: "/elsewhere" }), { delivery: "maybe applied", status: 303 }],
    ["422", reading, echo(422), { delivery: "rejected", status: 422 }],
    ["429 for an hour", reset, echo(429, { "retry-after": "3600" }), { delivery: "rejected", status: 429 }],
    ["429 for too long", reset, echo(429, { "retry-after": "61" }), { delivery: "rejected", status: 429 }],
    ["429 each time", reset, echo(429), { delivery: "rejected", status: 429 }, 3],
    ["500 to a reset", reset, echo(500), { delivery: "maybe applied", status: 500 }],
    ["503 to a reset", reset, echo(503, { "retry-after": "0" }), { delivery: "maybe applied", status: 503 }],
    ["500 to a read", reading, echo(500), { delivery: "maybe applied", status: 500 }, 3],
    ["a cut, to a reset", reset, cut, { delivery: "maybe applied" }],
    ["a cut, to a read", reading, cut, { delivery: "maybe applied" }, 3],
  ];
  for (const [title, request, script, { delivery, status }, times = 1] of failures) {
    it(`after ${title}: ${delivery}, sent ${times} times, and no secret in the error`, async () => {
      const url = await start(script);
      const error = await failureOf(requester(url).send(request));
      assert.deepEqual(
        { delivery: error.delivery, status: error.status, method: error.method, url: error.url },
        { delivery, status, method: request.method, url: url + request.path },
      );
      assert.equal(server.requests.length, times);
      assert.deepEqual(leaksOf(allThatShows(error), { password, token }), []);
      assert.doesNotMatch(allThatShows(error), /axios|authorization/i);
      assert.equal(error.message.includes(leftOut), status !== undefined);
    });
  }

  it("retries, and returns the response; a date to wait for is by the platform's own clock", async () => {
    const there = new Date(Date.now() + 86_400_000).toUTCString();
    for (const headers of [{}, { date: there, "retry-after": there }]) {
      const url = await start({ status: 429, headers }, { body: "ok" });
      assert.equal((await requester(url).send(reset)).body, "ok");
      assert.equal(server.requests.length, 2);
      await server.close();
    }
  });

  for (const { title, headers, order, leastMs } of [
    {
      title: "makes all requests wait for the time in Retry-After",
      headers: { "retry-after": "1" },
      order: "PPG",
      leastMs: 950,
    },
    { title: "lets others run while a request waits to be repeated", headers: {}, order: "PGP", leastMs: 95 },
  ]) {
    it(title, async () => {
      Math.random = () => 0.2;
      const url = await start({ status: 429, headers: { ...headers } }, {});
      const one = requester(url, { maxConcurrency: 1 });
      const before = performance.now();
      await Promise.all([one.send(reset), one.send(reading)]);
      assert.ok(performance.now() - before > leastMs);
      assert.equal(server.requests.map(({ method }) => method.charAt(0)).join(""), order);
    });
  }

  it("asks before each attempt of a reset, and sends nothing if it must not", async () => {
    const url = await start({ status: 429 }, {});
    const asked: string[] = [];
    const asking = requester(url, { beforeSend: async ({ purpose }) => void asked.push(purpose) });
    await asking.send(reset);
    await asking.send(reading);
    assert.deepEqual(asked, ["reset it", "reset it"]);
    const refusing = requester(url, {
      beforeSend: (facts) =>
        Promise.reject(new NotSentError(facts, { happened: "the engine is gone", advice: "Run again." })),
    });
    await assert.rejects(refusing.send(reset), /the engine is gone/);
    assert.equal(server.requests.length, 3);
  });

  const silences: Readonly<Record<string, readonly [Scripted, deadlineMs: number, networkCode: RegExp]>> = {
    "at the deadline": [() => undefined, 1_000.5, /^deadline$/],
    "after a closed connection": [cut, 60_000, /^ECONNRESET$/],
    "after a response that is not HTTP": [({ socket }) => void socket.write("no HTTP\r\n\r\n"), 60_000, /^HPE_/],
  };
  for (const [when, [script, deadlineMs, code]] of Object.entries(silences)) {
    it(`gives up ${when}: a request that the server has read may have been applied`, async () => {
      const url = await start(script);
      const error = await failureOf(requester(url, { deadlineMs }).send(reset));
      assert.equal(error.delivery, "maybe applied");
      assert.match(error.networkCode ?? "", code);
      assert.equal(server.requests.length, 1);
    });
  }

  it("reads a response that arrived before the deadline, also if the process was busy when that passed", async () => {
    const body = `"${"x".repeat(200_000)}"`;
    for (const request of [reset, reading]) {
      const url = await start(({ socket }) => {
        // It is in the client's socket when write returns.
        socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
        for (const end = performance.now() + 600; performance.now() < end;);
      });
      assert.equal((await requester(url, { deadlineMs: 400 }).send(request)).body, body);
      await server.close();
    }
  });

  const megabyte = 1024 * 1024;
  const gzip = { "content-encoding": "gzip" };
  const compressed = (text: string, status = 200): Scripted => responding(status, gzipSync(text), gzip);
  for (const { title, script, request, expected } of [
    { title: "1 MiB", script: { body: " ".repeat(megabyte) }, expected: megabyte },
    { title: "1 MiB, compressed", script: compressed(" ".repeat(megabyte)), expected: megabyte },
    { title: "more than 1 MiB", script: { body: " ".repeat(megabyte + 1) }, expected: "maybe applied" },
    { title: "more than 1 MiB, compressed", script: compressed(" ".repeat(megabyte + 1)), expected: "maybe applied" },
    {
      title: "more than a limit of its own",
      request: { maxBytes: 9 },
      script: { body: "0123456789" },
      expected: "maybe applied",
    },
    { title: "a limit of its own", request: { maxBytes: 10 }, script: { body: "0123456789" }, expected: 10 },
  ] satisfies readonly { title: string; script: Scripted; request?: Partial<ApiRequest>; expected: unknown }[]) {
    it(`reads ${title}: ${expected}`, async () => {
      const url = await start(script);
      const sending = requester(url).send({ ...reset, ...request });
      if (typeof expected === "number") return assert.equal((await sending).body.length, expected);
      const error = await failureOf(sending);
      assert.deepEqual(
        { delivery: error.delivery, happened: error.happened },
        { delivery: expected, happened: "the response was too large" },
      );
    });
  }

  for (const [status, delivery] of [
    [400, "rejected"],
    [303, "maybe applied"],
    [500, "maybe applied"],
  ] as const) {
    it(`judges an error over 64 KiB by its status ${status}, and does not show it`, async () => {
      const long = JSON.stringify({ error: "no", detail: "x".repeat(64 * 1024) });
      const endless: Scripted = ({ socket }) => {
        const pour = (): void => void (socket.destroyed || socket.write("1,".repeat(100_000), pour));
        socket.write(`HTTP/1.1 ${status} Status\r\n\r\n`, pour);
      };
      for (const script of [{ status, body: long }, compressed(long, status), endless]) {
        const error = await failureOf(requester(await start(script)).send(reset));
        assert.equal(error.delivery, delivery);
        assert.equal(error.happened, `the platform responded with ${status}`);
        await server.close();
      }
    });
  }
});

const refusedParts: Readonly<Record<string, RegExp>> = {
  "": /^id must not be empty/,
  " \t\n": /^id must not be empty/,
  ".": /^id must not be "\."/,
  "..": /^id must not be "\.\."/,
  "a\ud800": /^id must be well-formed/,
  "\udc00b": /^id must be well-formed/,
};

describe("api: the path of a request", () => {
  for (const [part, message] of Object.entries(refusedParts)) {
    it(`refuses ${JSON.stringify(part)}`, () => {
      const expected = { name: InputError.name, property: "id", delivery: "not sent", message };
      assert.throws(() => fillPath("/v2/{id}", { id: part }), expected);
    });
  }

  it("refuses a part that is not given", () =>
    assert.throws(() => fillPath("/{a}/{b}", { a: "1" }), /^InputError: b /));

  it("is decoded to the part by a server, and changes nothing else in the path", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (part) => {
        fc.pre(part.trim() !== "" && part !== "." && part !== "..");
        const { pathname, search, hash } = new URL(`https://platform.test${fillPath("/v2/{id}/reset", { id: part })}`);
        const [, first, id = "", last, ...more] = pathname.split("/");
        assert.deepEqual(
          { first, last, more, search, hash },
          { first: "v2", last: "reset", more: [], search: "", hash: "" },
        );
        assert.equal(decodeURIComponent(id), part);
      }),
      { examples: [["../b"], ["%2e%2e"], ["a?b#c"], ["ü 字"], ["..."], ["{id}"], ["$&"]] },
    );
  });
});
