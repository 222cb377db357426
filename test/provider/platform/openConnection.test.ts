import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { type AddressInfo, connect, type Socket } from "node:net";
import { networkInterfaces } from "node:os";
import { mock } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import tls, { createServer as createTlsServer, type TLSSocket } from "node:tls";
import { isDeepStrictEqual } from "node:util";
import { ConnectionError, Connections } from "../../../provider/platform/connections";
import { RequestError } from "../../../provider/domain/errors";
import { type Credential } from "../../../provider/domain/endpoint";
import { caFile, certificate } from "../../faults/certificates";
import { patchLookup, stuckListener } from "../../faults/network";
import { until } from "../../support/results";
import { clientOf, plain, requestsOf, secure, seen, withRealSockets } from "./realSockets";

const hasIPv6 = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === "::1"));

describe("platform: connections, over real sockets", () => {
  const { closes, startServer, startProxy } = withRealSockets();

  async function errorOf(sending: Promise<unknown>): Promise<RequestError> {
    const error: unknown = await sending.then(
      () => assert.fail("the request did not fail"),
      (reason: unknown) => reason,
    );
    return error as RequestError;
  }

  async function assertNotSent(sending: Promise<unknown>, message: RegExp): Promise<void> {
    const error = await errorOf(sending);
    assert.equal(error.delivery, "not sent");
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
      throw new RequestError("not sent", facts, { happened: "the engine is gone", advice: "Run again." });
    });
    await assertNotSent(reset(), /the engine is gone/);
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
    await assertNotSent(reset(), /the connection failed \(ECONNRESET\), after 3 attempts/);
    assert.equal(server.connections, 3);
  });

  it("may take a third of the time that is left to their own request, and at most ten seconds", async () => {
    let timeMs = 0;
    const limits: number[] = [];
    mock.method(performance, "now", () => timeMs);
    // Each attempt takes all the time that it has.
    mock.method(Connections.prototype, "open", async (_url: URL, { timeoutMs }: { readonly timeoutMs: number }) => {
      limits.push(Math.round(timeoutMs));
      timeMs += timeoutMs;
      throw new ConnectionError({ code: "ETIMEDOUT" });
    });
    try {
      for (const deadlineMs of [270, 1350, 60_000, 270]) {
        const { reset } = requestsOf("https://platform.test", { deadlineSeconds: String(deadlineMs / 1000) });
        await assertNotSent(reset(), /timed out.*, after 3 attempts/);
      }
    } finally {
      mock.restoreAll();
    }
    assert.deepEqual(limits, [90, 60, 40, 450, 300, 200, 10_000, 10_000, 10_000, 90, 60, 40]);
  });

  it("are given up after their time, and closed", async () => {
    const sockets: Socket[] = [];
    const server = await startServer({ accept: (socket) => void sockets.push(socket.resume()) });
    const opening = new Connections().open(new URL(secure(server)), { timeoutMs: 300 });
    await assert.rejects(
      opening,
      (error) => error instanceof ConnectionError && error.code === "ERR_TLS_HANDSHAKE_TIMEOUT",
    );
    await until(() => sockets.every(({ closed }) => closed));
  });

  it("to a host whose IPv6 address cannot be reached may take longer than Node's own limit", async () => {
    const server = await startServer({ tls: certificate("good") });
    const proxy = await startProxy();
    const extraCertificates = String(readFileSync(caFile));
    const unpatch = patchLookup([
      { address: "127.0.0.1", family: 4 },
      { address: "::1", family: 6 },
    ]);
    try {
      for (const through of [undefined, proxy]) {
        const slow = closes(await stuckListener(through?.port ?? server.port));
        const address = `http://platform.test:${slow.port}`;
        const [url, more] = through ? [secure(server), { proxy: address }] : [address, {}];
        const opening = new Connections({ ...more, extraCertificates }).open(new URL(url), { timeoutMs: 10_000 });
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
      await assertNotSent(reset(), /the proxy responded with 502 /);
      assert.ok(proxy.heads[0]?.startsWith(`CONNECT ${new URL(url).host} HTTP/1.1\r\n`), proxy.heads[0]);
    });
  }

  describe("with TLS", () => {
    it("verify that of a proxy and of a database also if NODE_TLS_REJECT_UNAUTHORIZED is 0", async () => {
      const received: Buffer[] = [];
      const foreign = createTlsServer(certificate("foreign"), (socket) => {
        socket.on("data", (bytes: Buffer) => received.push(bytes)).on("error", () => undefined);
      }).listen(0, "127.0.0.1");
      await once(foreign, "listening");
      closes({ close: async () => foreign.close() });
      const { port } = foreign.address() as AddressInfo;
      const url = `https://127.0.0.1:${port}`;
      const settings = { caFile };
      const client = clientOf(url, settings);
      const probe = (credential: Credential) => {
        const endpoint = { host: "127.0.0.1", port, tls: true };
        return client.probe({ owner: "it", endpoint, credential, timeoutMs: 30_000 });
      };
      process.env["NODE_TLS_REJECT_UNAUTHORIZED"] = "0";
      try {
        const through = requestsOf("https://platform.test", { ...settings, proxy: url });
        await assertNotSent(through.reset(), /the proxy could not be reached/);
        for (const name of ["password", "restToken"] as const) {
          assert.match(JSON.stringify(await probe({ name, value: "canary" })), /unknown.*certificate was not accepted/);
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
    it("may be secure themselves, and need no credentials", async () => {
      const server = await startServer({ tls: certificate("good") });
      const proxy = await startProxy();
      const front = createTlsServer(certificate("good"), (socket) => {
        const behind = connect(proxy.port, "127.0.0.1").on("error", () => socket.destroy());
        socket.on("error", () => behind.destroy());
        socket.pipe(behind).pipe(socket);
      }).listen(0, "127.0.0.1");
      await once(front, "listening");
      closes({ close: async () => front.close() });
      const { port } = front.address() as AddressInfo;
      await requestsOf(secure(server), { proxy: `https://127.0.0.1:${port}`, caFile }).reset();
      assert.doesNotMatch(proxy.heads[0] ?? assert.fail(), /proxy-authorization/i);
      await assertNotSent(
        requestsOf(secure(server), { proxy: `https://127.0.0.1:${port}` }).reset(),
        /the proxy could not be reached/,
      );
      assert.equal(server.requests.length, 1);
    });

    it("send its credentials decoded, as it knows them", async () => {
      const proxy = await startProxy({ answers: 502 });
      const address = `http://us%40er:p%25%3A%C3%A4%20%2B@127.0.0.1:${proxy.port}`;
      await errorOf(requestsOf("https://platform.test", { proxy: address }).reset());
      const [, sent = ""] = /^proxy-authorization: Basic (\S+)$/im.exec(proxy.heads[0] ?? "") ?? [];
      assert.equal(Buffer.from(sent, "base64").toString(), "us@er:p%:ä +");
    });

    it("ask for the port that the address leaves out", async () => {
      const proxy = await startProxy({ answers: 502 });
      const address = `http://127.0.0.1:${proxy.port}`;
      await errorOf(requestsOf("https://platform.test", { proxy: address }).reset());
      assert.equal(proxy.heads[0]?.split(" ")[1], "platform.test:443");
    });

    it("do not open http, which is only to this machine", async () => {
      const server = await startServer();
      const proxy = await startProxy({ answers: 502 });
      await requestsOf(plain(server), { proxy: `http://127.0.0.1:${proxy.port}` }).reset();
      assert.deepEqual([server.requests.length, proxy.heads], [1, []]);
    });
  });
});

describe("TLS with rekey:caFile", () => {
  const named = process.env["NODE_EXTRA_CA_CERTS"];
  const foreign = String(certificate("foreign").cert);
  afterEach(() => {
    mock.restoreAll();
    delete process.env["NODE_EXTRA_CA_CERTS"];
    if (named !== undefined) process.env["NODE_EXTRA_CA_CERTS"] = named;
  });

  for (const [title, file, added] of [
    ["", undefined, []],
    [", and that of NODE_EXTRA_CA_CERTS", caFile, [readFileSync(caFile, "utf8")]],
    [", and nothing if that file cannot be read", "/nowhere/ca.pem", []],
    [", and nothing if it is empty", "", []],
  ] as const) {
    it(`trusts it in addition to the well-known certificates${title}`, async () => {
      delete process.env["NODE_EXTRA_CA_CERTS"];
      if (file !== undefined) process.env["NODE_EXTRA_CA_CERTS"] = file;
      const made = mock.method(tls, "createSecureContext");
      const opening = new Connections({ extraCertificates: foreign }).open(new URL("http://127.0.0.1:1"), {
        timeoutMs: 1_000,
      });
      await assert.rejects(opening);
      const { ca } = made.mock.calls[0]?.arguments[0] ?? {};
      assert.ok(isDeepStrictEqual(ca, [...tls.rootCertificates, ...added, foreign]));
    });
  }

  it("reads them once for all connections", async () => {
    const made = mock.method(tls, "createSecureContext");
    const connections = new Connections({ extraCertificates: foreign });
    for (const host of ["a.invalid", "b.invalid"]) {
      const url = new URL(`https://${host}`);
      await assert.rejects(connections.open(url, { timeoutMs: 15_000 }));
    }
    assert.equal(made.mock.callCount(), 1);
  });
});
