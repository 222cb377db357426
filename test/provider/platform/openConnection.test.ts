import { databasePassword } from "../../../provider/rotation/kinds/databasePassword";
import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:https";
import { type AddressInfo, connect, type Socket } from "node:net";
import { networkInterfaces } from "node:os";
import { mock } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import tls, { createServer as createTlsServer, type TLSSocket } from "node:tls";
import { isDeepStrictEqual } from "node:util";
import { Connections } from "../../../provider/platform/agents";
import { NotSentError, type RequestError } from "../../../provider/platform/errors";
import { type Credential } from "../../../provider/platform/credential";
import { type ConnectionError, openConnection, trusting } from "../../../provider/platform/openConnection";
import { caFile, certificate } from "../../faults/certificates";
import { patchLookup, stuckListener } from "../../faults/network";
import { clientOf, plain, secure, seen, withRealSockets } from "./realSockets";

const hasIPv6 = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === "::1"));

describe("platform: connections, over real sockets", () => {
  const { closes, startServer, startProxy } = withRealSockets();

  function requestsOf(...given: Parameters<typeof clientOf>) {
    const client = clientOf(...given);
    return {
      reset: () => client.operations(databasePassword).reset("db"),
      read: () => client.flowControl.get("orders"),
    };
  }

  async function errorOf(sending: Promise<unknown>): Promise<RequestError> {
    const error: unknown = await sending.then(
      () => assert.fail("the request did not fail"),
      (reason: unknown) => reason,
    );
    return error as RequestError;
  }

  async function assertNotSent(sending: Promise<unknown>, code: string | undefined, message: RegExp): Promise<void> {
    const error = await errorOf(sending);
    assert.ok(error instanceof NotSentError, String(error));
    assert.deepEqual({ delivery: error.delivery, code: error.networkCode }, { delivery: "not sent", code });
    assert.match(error.message, message);
  }

  it("are ready before a reset asks whether it may be sent, and closed if it may not", async () => {
    const sockets: Socket[] = [];
    let received = 0;
    const server = await startServer({
      accept: (socket) => void sockets.push(socket.on("data", (bytes: Buffer) => (received += bytes.length))),
    });
    let connectionsBefore = 0;
    const { reset } = requestsOf(plain(server), {}, async (facts) => {
      while (server.connections === 0) await wait(1);
      connectionsBefore = server.connections;
      throw new NotSentError(facts, { happened: "the engine is gone", advice: "Run again." });
    });
    await assertNotSent(reset(), undefined, /the engine is gone/);
    const [socket = assert.fail()] = sockets;
    if (!socket.closed) await once(socket, "close");
    assert.deepEqual({ connectionsBefore, received }, { connectionsBefore: 1, received: 0 });
  });

  it("that are cut while a reset asks whether it may be sent count as not sent", async () => {
    const sockets: Socket[] = [];
    const server = await startServer({ accept: (socket) => void sockets.push(socket.resume()) });
    const { reset } = requestsOf(plain(server), {}, async () => {
      while (sockets.length === 0) await wait(1);
      sockets.shift()?.resetAndDestroy();
      await seen();
    });
    await assertNotSent(reset(), "ECONNRESET", /the connection failed \(ECONNRESET\), after 3 attempts/);
    assert.equal(server.connections, 3);
  });

  it("limit the time to connect by a third of each request's own deadline", async () => {
    const server = await startServer({ accept: () => undefined });
    const client = clientOf(secure(server), { databasePath: "/v2/databases/{id}" });
    const operations = client.operations(databasePassword);
    for (const deadlineMs of [300, 1200, 300]) {
      const before = server.connections;
      const began = performance.now();
      assert.match((await errorOf(operations.read("db", { deadlineMs }))).message, /timed out, after [23] attempts/);
      assert.ok(performance.now() - began > (deadlineMs * 2) / 3);
      assert.ok(server.connections - before >= 2);
    }
  });

  it("that are cut in the middle of a body are distinguished from bodies that are too large", async () => {
    const server = await startServer();
    server.behave("GET", "orders", ({ socket }) => {
      socket.end("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{", () => socket.destroy());
    });
    server.behave("POST", "db", ({ answer }) => answer(200, {}, Buffer.alloc(32 * 1024 * 1024 + 1, " ")));
    const { read, reset } = requestsOf(plain(server));
    assert.match((await errorOf(read())).message, /incomplete or malformed \(ECONNRESET\), after 3 attempts/);
    assert.match((await errorOf(reset())).message, /the response was too large/);
  });

  it("without a listener are refused, and nothing was sent", async () => {
    const server = await startServer();
    const url = plain(server);
    await server.close();
    await assertNotSent(requestsOf(url).reset(), "ECONNREFUSED", /refused \(ECONNREFUSED\), after 3 attempts/);
  });

  it("that do not become ready in a part of the deadline are opened again", async () => {
    const server = await startServer({ accept: () => undefined });
    const error = await errorOf(requestsOf(secure(server), { deadlineSeconds: "1" }).reset());
    assert.ok(error instanceof NotSentError, String(error));
    // The third attempt may meet the deadline before its own limit.
    assert.match(error.message, /(ETIMEDOUT|timed out).*, after [23] attempts/);
    assert.ok(server.connections >= 2, String(server.connections));
  });

  it("to a host whose IPv6 address cannot be reached may take longer than Node's own limit", async () => {
    const server = await startServer();
    const proxy = await startProxy();
    const unpatch = patchLookup([
      { address: "127.0.0.1", family: 4 },
      { address: "::1", family: 6 },
    ]);
    try {
      for (const through of [undefined, proxy]) {
        const slow = closes(await stuckListener(through?.port ?? server.port));
        const address = `http://platform.test:${slow.port}`;
        const [url, more] = through ? [plain(server), { proxy: address }] : [address, {}];
        const opening = openConnection(new URL(url), { ...more, timeoutMs: 10_000 });
        await wait(400);
        slow.release();
        (await opening).destroy();
      }
    } finally {
      unpatch();
    }
  });

  if (hasIPv6) {
    it("reach a platform and a proxy by an IPv6 address", async () => {
      const body = '{"flowControlKey":"orders","waitListSize":2,"parallelismCount":1}';
      const server = createTlsServer(certificate("good"), (socket) => {
        socket.once("data", () => socket.end(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`));
      }).listen(0, "::1");
      await once(server, "listening");
      closes({ close: async () => server.close() });
      const url = `https://[::1]:${(server.address() as AddressInfo).port}`;
      assert.equal((await requestsOf(url, { caFile }).read()).exists, true);
      const proxy = await startProxy({ host: "::1", answers: 502 });
      const { reset } = requestsOf(url, { proxy: `http://[::1]:${proxy.port}` });
      await assertNotSent(reset(), undefined, /the proxy responded with 502 /);
      assert.ok(proxy.heads[0]?.startsWith(`CONNECT ${new URL(url).host} HTTP/1.1\r\n`), proxy.heads[0]);
    });
  }

  describe("with TLS", () => {
    it("send nothing before the handshake is complete", async () => {
      const cut = await startServer({ accept: (socket) => socket.once("data", () => socket.resetAndDestroy()) });
      await assertNotSent(requestsOf(secure(cut)).reset(), "ECONNRESET", /ECONNRESET.*3 attempts/);
      for (const [name, code, says] of [
        ["foreign", "UNABLE_TO_VERIFY_LEAF_SIGNATURE", /not trusted.*Set rekey:caFile/],
        ["expired", "CERT_HAS_EXPIRED", /certificate has expired.*Renew the certificate/],
        ["otherHost", "ERR_TLS_CERT_ALTNAME_INVALID", /for another host.*Set rekey:baseUrl/],
      ] as const) {
        const server = await startServer({ tls: certificate(name) });
        await assertNotSent(requestsOf(secure(server), { caFile }).reset(), code, says);
        assert.equal(server.requests.length, 0);
      }
    });

    it("verify each certificate also if NODE_TLS_REJECT_UNAUTHORIZED is 0", async () => {
      const received: Buffer[] = [];
      const foreign = createTlsServer(certificate("foreign"), (socket) => {
        socket.on("data", (bytes: Buffer) => received.push(bytes)).on("error", () => undefined);
      }).listen(0, "127.0.0.1");
      await once(foreign, "listening");
      closes({ close: async () => foreign.close() });
      const { port } = foreign.address() as AddressInfo;
      const url = `https://127.0.0.1:${port}`;
      const settings = { caFile, deadlineSeconds: "5" };
      const client = clientOf(url, settings);
      const probe = (credential: Credential) => {
        const endpoint = { host: "127.0.0.1", port, tls: true };
        return client.probe({ owner: "it", endpoint, credential, otherSecrets: [], timeoutMs: 5_000 });
      };
      process.env["NODE_TLS_REJECT_UNAUTHORIZED"] = "0";
      try {
        await assertNotSent(requestsOf(url, settings).reset(), unverified, /not trusted/);
        await assertNotSent(requestsOf(url, settings).read(), unverified, /not trusted/);
        const through = requestsOf("https://platform.test", { ...settings, proxy: url });
        await assertNotSent(through.reset(), undefined, /the proxy could not be reached/);
        for (const credential of [{ password: "canary" }, { restToken: "canary" }]) {
          assert.match(JSON.stringify(await probe(credential)), /unknown.*not trusted/);
        }
      } finally {
        delete process.env["NODE_TLS_REJECT_UNAUTHORIZED"];
      }
      assert.equal(Buffer.concat(received).toString(), "");
    });

    it("name the host, but not an address, and resume the session of the last one to the same origin", async () => {
      const seen: { name: string | false | null; resumed: boolean }[] = [];
      const server = await startServer({ tls: certificate("good") });
      server.behave("POST", "db", ({ socket, answer }) => {
        const { servername } = socket as TLSSocket & { servername: string | false | null };
        seen.push({ name: servername || false, resumed: (socket as TLSSocket).isSessionReused() });
        answer(200, { connection: "close" });
      });
      const { reset } = requestsOf(secure(server), { caFile });
      await reset();
      await reset();
      await requestsOf(`https://localhost:${server.port}`, { caFile }).reset();
      assert.deepEqual(seen, [
        { name: false, resumed: false },
        { name: false, resumed: true },
        { name: "localhost", resumed: false },
      ]);
    });
  });

  describe("through a proxy", () => {
    for (const [tls, url] of [
      [undefined, plain],
      [certificate("good"), secure],
    ] as const) {
      it(`carry ${tls ? "TLS" : "plain HTTP"}; the proxy's credentials go to the proxy alone`, async () => {
        const server = await startServer(tls ? { tls } : {});
        const proxy = await startProxy();
        const settings = { proxy: `http://us%40er:p%3Aw@127.0.0.1:${proxy.port}`, ...(tls && { caFile }) };
        const { read, reset } = requestsOf(url(server), settings);
        await read();
        await reset();
        const target = `127.0.0.1:${server.port}`;
        const credentials = Buffer.from("us@er:p:w").toString("base64");
        assert.equal(proxy.heads.length, 1);
        for (const head of proxy.heads) {
          const [first, ...headers] = head.trimEnd().split("\r\n");
          assert.equal(first, `CONNECT ${target} HTTP/1.1`);
          assert.ok(headers.includes(`Host: ${target}`));
          assert.ok(headers.includes(`Proxy-Authorization: Basic ${credentials}`));
          assert.doesNotMatch(head, /^authorization:/im);
        }
        assert.equal(server.requests.length, 2);
        for (const { headers } of server.requests) assert.ok(!headers.authorization?.includes(credentials));
      });
    }

    it("may be secure themselves, and need no credentials", async () => {
      const server = await startServer();
      const proxy = await startProxy();
      const front = createTlsServer(certificate("good"), (socket) => {
        const behind = connect(proxy.port, "127.0.0.1").on("error", () => socket.destroy());
        socket.on("error", () => behind.destroy());
        socket.pipe(behind).pipe(socket);
      }).listen(0, "127.0.0.1");
      await once(front, "listening");
      closes({ close: async () => front.close() });
      const { port } = front.address() as AddressInfo;
      await requestsOf(plain(server), { proxy: `https://127.0.0.1:${port}`, caFile }).reset();
      assert.doesNotMatch(proxy.heads[0] ?? assert.fail(), /proxy-authorization/i);
      await assertNotSent(
        requestsOf(plain(server), { proxy: `https://127.0.0.1:${port}` }).reset(),
        undefined,
        /the proxy could not be reached/,
      );
      assert.equal(server.requests.length, 1);
    });

    it("ask for the port that the address leaves out", async () => {
      const proxy = await startProxy({ answers: 502 });
      const address = `http://127.0.0.1:${proxy.port}`;
      await errorOf(requestsOf("https://platform.test", { proxy: address }).reset());
      await errorOf(requestsOf("http://127.0.0.1", { proxy: address }).reset());
      assert.deepEqual(
        proxy.heads.map((head) => head.split(" ")[1]),
        ["platform.test:443", "127.0.0.1:80"],
      );
    });

    for (const answers of [302, 403, 407, 502]) {
      it(`that responds with ${answers} are not opened, and nothing was sent`, async () => {
        const server = await startServer();
        const proxy = await startProxy({ answers });
        const { reset } = requestsOf(plain(server), { proxy: plain(proxy) });
        await assertNotSent(reset(), undefined, new RegExp(`the proxy responded with ${answers} `));
        assert.deepEqual({ asked: proxy.heads.length, reached: server.connections }, { asked: 1, reached: 0 });
        while (proxy.open > 0) await wait(1);
      });
    }

    it("that is silent or gone are not opened, and nothing was sent", async () => {
      const server = await startServer();
      const silent = await startProxy({ answers: "silent" });
      const unreachable = /the proxy could not be reached/;
      const settings = { proxy: plain(silent), deadlineSeconds: "0.3" };
      await assertNotSent(requestsOf(plain(server), settings).reset(), undefined, unreachable);
      while (silent.open > 0) await wait(1);
      await silent.close();
      await assertNotSent(requestsOf(plain(server), settings).reset(), undefined, unreachable);
      assert.equal(server.connections, 0);
    });
  });
});

const foreign = String(certificate("foreign").cert);
const unverified = "UNABLE_TO_VERIFY_LEAF_SIGNATURE";

describe("TLS with rekey:caFile", () => {
  const named = process.env["NODE_EXTRA_CA_CERTS"];
  let server: Server;
  let port: number;
  before(async () => {
    server = createServer(certificate("good")).listen(0, "127.0.0.1");
    await once(server, "listening");
    ({ port } = server.address() as AddressInfo);
  });
  beforeEach(() => delete process.env["NODE_EXTRA_CA_CERTS"]);
  afterEach(() => {
    delete process.env["NODE_EXTRA_CA_CERTS"];
    mock.restoreAll();
  });
  after(() => {
    server.close();
    if (named !== undefined) process.env["NODE_EXTRA_CA_CERTS"] = named;
  });

  it("trusts it in addition to the well-known certificates, which are read once for all connections", async () => {
    const url = new URL(`https://127.0.0.1:${port}`);
    const made = mock.method(tls, "createSecureContext");
    const connections = new Connections({ extraCertificates: foreign });
    for (let request = 0; request < 3; request++) {
      const deadline = { deadlineMs: 15_000, endsAtMs: performance.now() + 15_000 };
      const use = { deadline, state: { sent: false } };
      const sending = connections
        .transportFor(url, use)
        .request({ protocol: url.protocol, host: url.hostname }, () => undefined);
      const [{ code }] = (await once(sending, "error")) as [ConnectionError];
      assert.deepEqual({ code, sent: use.state.sent }, { code: unverified, sent: false });
    }
    assert.equal(made.mock.callCount(), 1);
    const { ca } = made.mock.calls[0]?.arguments[0] ?? {};
    assert.ok(isDeepStrictEqual(ca, [...tls.rootCertificates, foreign]));
  });

  for (const { title, file, added, expected } of [
    { title: "that file", file: caFile, added: [readFileSync(caFile, "utf8")], expected: "trusted" },
    { title: "nothing if that file cannot be read", file: "/nowhere/ca.pem", added: [], expected: unverified },
    { title: "nothing if it is empty", file: "", added: [], expected: unverified },
  ]) {
    it(`with NODE_EXTRA_CA_CERTS adds ${title}`, async () => {
      process.env["NODE_EXTRA_CA_CERTS"] = file;
      const made = mock.method(tls, "createSecureContext");
      const socket = tls.connect({ host: "127.0.0.1", port, ...trusting(foreign) });
      const { ca } = made.mock.calls[0]?.arguments[0] ?? {};
      assert.ok(isDeepStrictEqual(ca, [...tls.rootCertificates, ...added, foreign]));
      const failure = ({ code }: ConnectionError) => code;
      assert.equal(await once(socket, "secureConnect").then(() => "trusted", failure), expected);
      socket.destroy();
    });
  }
});
