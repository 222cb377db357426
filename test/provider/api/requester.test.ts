import assert from "node:assert/strict";
import { createServer } from "node:net";
import { Connections } from "../../../provider/api/connections";
import { NotSentError, RequestError } from "../../../provider/api/errors";
import { RequestQueue } from "../../../provider/api/requestQueue";
import {
  type ApiRequest,
  HttpRequester,
  managementService,
  queueService,
  type RequesterOptions,
} from "../../../provider/api/requester";
import { version } from "../../../package.json";
import { type HttpServer, type Scripted, startServer } from "../../support/httpServer";
import { allThatShows, leaksIn } from "../../support/leaks";

const password = 'canary "pass/word"';
const token = "canary-token";
const secrets = [password, `ops:${password}`, token];
/** It does not say whether it is idempotent: so it is not. */
const reset: ApiRequest = {
  method: "POST",
  path: "/v2/reset/db%2F1",
  purpose: "reset it",
  consequences: { "not sent": "Unsent.", rejected: "Unchanged.", "maybe applied": "Perhaps changed." },
};
const reading: ApiRequest = { ...reset, method: "GET", path: "/v2/keys", idempotent: true };

function requester(url: string, options: Partial<RequesterOptions> = {}): HttpRequester {
  const service = managementService(url, "ops", password);
  const line = new RequestQueue({ maxConcurrency: 8 });
  return new HttpRequester(service, new Connections({}), line, { deadline: 5000, secrets, ...options });
}

async function failureOf(sending: Promise<unknown>): Promise<RequestError> {
  const error = await sending.then(
    () => assert.fail("it did not fail"),
    (error: unknown) => error,
  );
  assert.ok(error instanceof RequestError, String(error));
  return error;
}

describe("api: requester, over a real socket", () => {
  const { random } = Math;
  let server: HttpServer;
  const start = async (...script: Scripted[]): Promise<string> => (server = await startServer(...script)).url;
  beforeEach(() => (Math.random = () => 0));
  after(() => (Math.random = random));
  afterEach(() => server.close());

  it("sends a POST with Basic, its own name and no body, once", async () => {
    const url = await start({ body: '{"é":1}' });
    const { status, body, facts } = await requester(url).send(reset);
    assert.deepEqual([status, body], [200, '{"é":1}']);
    assert.equal(facts.url, `${url}/v2/reset/db%2F1`);
    const [{ method, target, headers, body: sent } = assert.fail(), ...more] = server.received;
    assert.deepEqual([method, target, sent, more], ["POST", "/v2/reset/db%2F1", "", []]);
    assert.equal(headers["authorization"], `Basic ${Buffer.from(`ops:${password}`).toString("base64")}`);
    assert.equal(headers["user-agent"], `pulumi-rekey/${version}`);
    assert.equal(headers["accept"], "application/json");
    assert.equal(headers["content-type"], undefined);
    assert.notEqual(headers["transfer-encoding"], "chunked");
    assert.equal(headers["connection"], "close", "a reset has a connection of its own");
  });

  it("sends a GET with Bearer, and its query encoded; the error's address holds no query", async () => {
    const url = await start({}, { status: 404 }, { status: 401 });
    const queue = new HttpRequester(
      queueService(url, token),
      new Connections({}),
      new RequestQueue({ maxConcurrency: 1 }),
      {
        deadline: 5000,
        secrets,
      },
    );
    await queue.send({ ...reading, query: { search: "a b&c=d/ü+" } });
    const { target = "", headers } = server.received[0] ?? {};
    assert.equal(new URLSearchParams(target.split("?")[1]).get("search"), "a b&c=d/ü+");
    assert.equal(headers?.["authorization"], `Bearer ${token}`);
    const error = await failureOf(queue.send({ ...reading, query: { search: "x" } }));
    assert.equal(error.url, `${url}/v2/keys`);
    assert.match(error.message, /Check the id or key, rekey:queueUrl and rekey:flowControlResetAction\.$/);
    const own = await failureOf(queue.send({ ...reading, path: "/v2/keys?key=canary\n#canary" }));
    assert.equal(own.url, `${url}/v2/keys`);
    assert.match(own.message, /Check rekey:queueToken\.$/);
    assert.ok(!allThatShows(own).includes("canary"));
  });

  for (const status of [301, 302, 303, 307, 308]) {
    it(`follows no ${status}`, async () => {
      const url = await start({ status, headers: { location: "/elsewhere" } });
      const error = await failureOf(requester(url).send(reset));
      assert.deepEqual([error.status, error.delivery], [status, status === 303 ? "maybe applied" : "rejected"]);
      assert.equal(server.received.length, 1);
    });
  }

  const echo = (status: number, headers: Record<string, string> = {}): Scripted => {
    const base64 = Buffer.from(`ops:${password}`).toString("base64");
    const said = `you sent Basic ${base64}, that is ${password} or ${encodeURIComponent(password)}; ${token}`;
    return { status, headers, body: JSON.stringify({ error: said }) };
  };
  const cut: Scripted = (request) => void request.socket.destroy();
  const failures: readonly (readonly [
    string,
    ApiRequest,
    Scripted,
    delivery: string,
    status?: number | undefined,
    times?: number,
  ])[] = [
    ["401", reset, echo(401), "rejected", 401],
    ["302", reset, echo(302), "rejected", 302],
    ["422", reading, echo(422), "rejected", 422],
    ["429 for an hour", reset, echo(429, { "retry-after": "3600" }), "rejected", 429],
    ["429 for longer than the deadline", reset, echo(429, { "retry-after": "6" }), "rejected", 429],
    ["429 each time", reset, echo(429), "rejected", 429, 3],
    ["500 to a reset", reset, echo(500), "maybe applied", 500],
    ["503 that says when, to a reset", reset, echo(503, { "retry-after": "0" }), "maybe applied", 503],
    ["500 to a reading", reading, echo(500), "maybe applied", 500, 3],
    ["a cut, to a reset", reset, cut, "maybe applied", undefined],
    ["a cut, to a reading", reading, cut, "maybe applied", undefined, 3],
  ];
  for (const [what, request, script, delivery, status, times = 1] of failures) {
    it(`after ${what}: ${delivery}, sent ${times} times, and no secret in the error`, async () => {
      const url = await start(script);
      const error = await failureOf(requester(url).send(request));
      assert.deepEqual([error.delivery, error.status, error.method], [delivery, status, request.method]);
      assert.equal(error.url, url + request.path);
      assert.equal(server.received.length, times);
      assert.deepEqual(leaksIn(allThatShows(error), secrets), []);
      assert.doesNotMatch(allThatShows(error), /axios|authorization/i);
      if (status !== undefined && status !== 302) {
        assert.match(error.message, /\[message not shown: it may contain a secret\]/);
      }
    });
  }

  it("tries again what may be tried again, and gives the answer", async () => {
    const url = await start({ status: 429 }, { status: 200, body: "ok" });
    assert.equal((await requester(url).send(reset)).body, "ok");
    assert.equal(server.received.length, 2);
  });

  it("reads a date to wait for by the platform's own clock", async () => {
    const there = Date.now() + 86_400_000;
    const headers = { date: new Date(there).toUTCString(), "retry-after": new Date(there).toUTCString() };
    const url = await start({ status: 429, headers }, { body: "ok" });
    assert.equal((await requester(url).send(reset)).body, "ok");
    assert.equal(server.received.length, 2);
  });

  const waits: Readonly<Record<string, readonly [headers: Record<string, string>, order: string[], leastMs: number]>> =
    {
      "everyone wait as long as the platform asks": [{ "retry-after": "1" }, ["POST", "POST", "GET"], 950],
      "others go on while a request waits by itself": [{}, ["POST", "GET", "POST"], 95],
    };
  for (const [what, [headers, order, leastMs]] of Object.entries(waits)) {
    it(`lets ${what}`, async () => {
      Math.random = () => 0.2;
      const url = await start({ status: 429, headers }, {});
      const service = managementService(url, "ops", password);
      const one = new HttpRequester(service, new Connections({}), new RequestQueue({ maxConcurrency: 1 }), {
        deadline: 5000,
        secrets,
      });
      const before = performance.now();
      await Promise.all([one.send(reset), one.send(reading)]);
      assert.ok(performance.now() - before > leastMs);
      assert.deepEqual(
        server.received.map(({ method }) => method),
        order,
      );
    });
  }

  it("asks before each attempt of a reset, and sends nothing where it must not", async () => {
    const url = await start({ status: 429 }, {});
    const asked: string[] = [];
    const asking = requester(url, { beforeReset: async ({ purpose }) => void asked.push(purpose) });
    await asking.send(reset);
    await asking.send(reading);
    assert.deepEqual(asked, ["reset it", "reset it"]);
    const refusing = requester(url, {
      beforeReset: (facts) => Promise.reject(new NotSentError(facts, "the engine is gone", "Run again.")),
    });
    await assert.rejects(refusing.send(reset), /the engine is gone/);
    assert.equal(server.received.length, 3);
  });

  const silences: Readonly<Record<string, readonly [Scripted, deadline: number, code: RegExp]>> = {
    "at the deadline": [() => undefined, 100.5, /^deadline$/],
    "after a cut": [cut, 5000, /^ECONNRESET$/],
    "after something else than HTTP": [({ socket }) => void socket.write("no HTTP\r\n\r\n"), 5000, /^HPE_/],
  };
  for (const [when, [script, deadline, code]] of Object.entries(silences)) {
    it(`gives up ${when}: what was read may have been applied`, async () => {
      const url = await start(script);
      const error = await failureOf(requester(url, { deadline }).send(reset));
      assert.equal(error.delivery, "maybe applied");
      assert.match(error.code ?? "", code);
      assert.equal(server.received.length, 1);
    });
  }

  it("says that nothing was sent where nobody listens", async () => {
    const url = await start();
    await server.close();
    const error = await failureOf(requester(url).send(reset));
    assert.deepEqual([error.delivery, error.code], ["not sent", "ECONNREFUSED"]);
    assert.match(error.message, /refused \(ECONNREFUSED\), 3 times/);
  });

  it("says that nothing was sent where no secure connection comes up", async () => {
    await start();
    const silent = createServer((socket) => void socket.resume());
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    const { port } = silent.address() as { port: number };
    try {
      const error = await failureOf(requester(`https://127.0.0.1:${port}`, { deadline: 200 }).send(reset));
      assert.equal(error.delivery, "not sent");
    } finally {
      silent.close();
    }
  });
});
