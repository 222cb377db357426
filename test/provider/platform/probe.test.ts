import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { freePort, startRedisServer } from "../../support/redisServer";
import { type Credential } from "../../../provider/platform/credential";
import {
  CredentialProbe,
  type ProbeOptions,
  type ProbeRequest,
  type ProbeResult,
} from "../../../provider/platform/probe";
import { KnownSecrets } from "../../../provider/platform/redact";
import { caFile, certificate } from "../../faults/certificates";
import { FakeRedis, type RedisReply } from "../../support/fakeRedis";
import { leaksOf } from "../../support/canaries";
import { responding, silent } from "../../support/httpServer";
import { session, withRedis } from "../../support/redis";
import { withRealSockets } from "./realSockets";

const password = "canary-password-3f1a";
const extraCertificates = readFileSync(caFile, "utf8");
const local = (port: number, tls = false) => ({ host: "127.0.0.1", port, tls });

function probe(
  endpoint: ProbeRequest["endpoint"],
  credential: Credential = { password },
  { timeoutMs = 5_000, ...options }: Partial<ProbeOptions & Pick<ProbeRequest, "timeoutMs">> = {},
): Promise<ProbeResult> {
  const tool = new CredentialProbe({ secrets: new KnownSecrets([]), ...options });
  return tool.probe({ owner: `database "db"`, endpoint, credential, otherSecrets: [], timeoutMs });
}

const why = (result: ProbeResult): string => {
  assert.equal(result.kind, "unknown", JSON.stringify(result));
  return result.kind === "unknown" ? result.why : "";
};

/** What is unknown, and what to do. */
const describedBy = (result: ProbeResult): { result: string; says: string } => {
  return { result: why(result), says: (result.kind === "unknown" && result.advice) || "" };
};

describe("verification: the probe of a database", () => {
  const { closes, startProxy, startServer } = withRealSockets();
  const fake = async (reply: RedisReply, tls?: Parameters<typeof certificate>[0]) =>
    closes(await FakeRedis.start(reply, tls && certificate(tls)));
  const pong: RedisReply = ([name]) => (name === "PING" ? "+PONG" : "+OK");

  it("sends AUTH and PING on its own connection, and nothing else", async () => {
    const server = await fake(pong);
    for (const username of [undefined, "ops"]) {
      const credential = { ...(username && { username }), password };
      assert.deepEqual(await probe(local(server.port), credential), { kind: "accepted" });
    }
    const ping = ["PING"];
    assert.deepEqual(server.commands, [["AUTH", password], ping, ["AUTH", "ops", password], ping]);
    assert.equal(server.connections, 2);
  });

  it("knows a refused password by the words of old and new servers", async () => {
    for (const words of ["WRONGPASS invalid username-password pair or user is disabled.", "ERR invalid password"]) {
      const server = await fake(() => `-${words}`);
      assert.deepEqual(await probe(local(server.port)), { kind: "refused", words });
      assert.deepEqual(server.commands, [["AUTH", password]]);
    }
  });

  const unknownCommand = `-ERR unknown command 'AUTH', with args beginning with: '${password}'`;
  const noPassword = "-ERR AUTH <password> called without any password configured";
  const toPing =
    (line: string): RedisReply =>
    ([name]) =>
      name === "PING" ? line : "+OK";
  const replies: Readonly<Record<string, { reply: RedisReply; greeting?: string; says: RegExp }>> = {
    "does not know AUTH": { reply: () => unknownCommand, says: /not know .* AUTH/ },
    "has no password": { reply: () => noPassword, says: /responded to AUTH.*without any/ },
    "is suspended": { reply: () => "-ERR it is suspended", says: /AUTH with an error: ERR it is suspended/ },
    "responds with an error without words": { reply: () => "-", says: /responded to AUTH with an empty error/ },
    "responds to PING with such an error": { reply: toPing("-"), says: /responded to PING with an empty error/ },
    ...Object.fromEntries(
      ["HTTP/1.1 400 Bad Request", "+HELLO", "+PONG", "+OK\r\n+PONG", "*2", ":1", "$536870000"].map((line) => [
        `responds to AUTH with ${JSON.stringify(line)}`,
        { reply: () => line, says: /reply to AUTH is not that of a Redis/ },
      ]),
    ),
    "responds to PING with something else": { reply: toPing("+HELLO"), says: /reply to PING is not that of a Redis/ },
    "responds to PING as to AUTH": { reply: () => "+OK", says: /reply to PING is not that of a Redis/ },
    "is loading": { reply: toPing("-LOADING Redis is loading"), says: /responded to PING.*LOADING/ },
    "closes the connection": { reply: () => "close", says: /closed the connection|ECONNRESET/ },
    "repeats the password": { reply: () => `-ERR sent ${password}`, says: /AUTH with an error: \[message not shown/ },
    "speaks first, as other protocols do": {
      reply: () => undefined,
      greeting: "220 ESMTP",
      says: /not that of a Redis/,
    },
  };
  for (const [what, { reply, greeting, says }] of Object.entries(replies)) {
    it(`reports a server that ${what}`, async () => {
      const server = await fake(reply);
      server.greeting = greeting;
      const result = await probe(local(server.port));
      assert.match(why(result), says);
      assert.deepEqual(leaksOf(JSON.stringify(result), { password }), []);
    });
  }

  it("takes a user that may not PING for authenticated", async () => {
    const server = await fake(toPing("-NOPERM User ops has no permissions to run the 'ping' command"));
    assert.deepEqual(await probe(local(server.port)), { kind: "accepted" });
  });

  it("reports a refused connection and an unknown host", async () => {
    assert.match(why(await probe(local(await freePort()))), /failed \(ECONNREFUSED\)/);
    assert.match(why(await probe({ host: "db.invalid", port: 6379, tls: true })), /host was not found/);
  });

  describe("with TLS", () => {
    it("never sends a password to another machine in plain text, even if the endpoint has no TLS", async () => {
      const server = await fake(pong);
      const proxy = await startProxy();
      const through = { proxy: `http://127.0.0.1:${proxy.port}` };
      // The proxy connects this name to the plain server.
      const result = await probe({ host: "platform.test", port: server.port, tls: false }, undefined, through);
      assert.match(why(result), /TLS handshake failed/);
      assert.equal(proxy.heads.length, 1);
      assert.ok(!server.received.includes(password));
    });

    it("goes through the proxy, which sees no credential", async () => {
      const server = await fake(pong, "good");
      const proxy = await startProxy();
      const through = { extraCertificates, proxy: `http://127.0.0.1:${proxy.port}` };
      assert.deepEqual(await probe(local(server.port, true), undefined, through), { kind: "accepted" });
      assert.equal(proxy.heads.length, 1);
      assert.deepEqual(leaksOf(proxy.heads.join(), { password }), []);
      const refusing = await startProxy({ answers: 407 });
      const refused = { extraCertificates, proxy: `http://127.0.0.1:${refusing.port}` };
      assert.match(why(await probe(local(server.port, true), undefined, refused)), /proxy responded with 407/);
    });

    it("reports a server without TLS, and one that does not finish the handshake", async () => {
      const server = await fake(pong);
      const noTls = describedBy(await probe(local(server.port, true)));
      assert.match(noTls.result, /the TLS handshake failed \(.*\): the port may not use TLS/);
      assert.match(noTls.says, /^Check that host and port are those of an endpoint with TLS/);
      const silent = await startServer({ accept: () => undefined });
      const waiting = describedBy(await probe(local(silent.port, true), undefined, { timeoutMs: 300 }));
      assert.match(waiting.result, /the TLS handshake was not finished in time: the port may not use TLS/);
      assert.equal(waiting.says, noTls.says);
    });
  });

  it("waits no longer for the end of a line than for its beginning", async () => {
    const server = await fake(() => ({ begin: "+O" }));
    assert.match(why(await probe(local(server.port), undefined, { timeoutMs: 300 })), /did not respond in time/);
  });

  describe("with a REST token", () => {
    const restToken = "canary-rest-token-77";
    const rest = async (status: number, body: string, timeoutMs?: number) => {
      const behaviour = timeoutMs === undefined ? responding(status, body) : silent;
      const server = await startServer({ behaviour });
      const options = timeoutMs === undefined ? {} : { timeoutMs };
      const result = await probe(local(server.port), { restToken }, options);
      const seen = server.requests.map(({ method, path, headers }) => `${method} ${path} ${headers.authorization}`);
      return { seen, result };
    };

    it("sends PING with the token", async () => {
      const { seen, result } = await rest(200, '{"result":"PONG"}');
      assert.deepEqual(result, { kind: "accepted" });
      assert.deepEqual(seen, [`GET /PING Bearer ${restToken}`]);
    });

    it("knows a refused token, and a server that is something else", async () => {
      const { result: refused } = await rest(401, '{"error":"Unauthorized"}');
      assert.deepEqual(refused, { kind: "refused", words: "the database responded with 401: Unauthorized" });
      assert.match(why((await rest(200, "<html>")).result), /not the REST interface/);
      const noPing = '{"error":"NOPERM this user has no permissions to run the \'ping\' command"}';
      assert.equal((await rest(403, noPing)).result.kind, "accepted");
      assert.match(why((await rest(200, "", 300)).result), /^the server did not respond in time$/);
      assert.match(why((await rest(400, `{"error":"you sent ${restToken}"}`)).result), /400: \[message not shown/);
    });
  });

  describe("with another token", () => {
    const token = "canary-token-5c";
    const get = async (status: number, body: string, service: "index" | "queue" = "index") => {
      const server = await startServer({ behaviour: responding(status, body) });
      const endpoint = { service, baseUrl: `http://127.0.0.1:${server.port}/at`, path: "/info" };
      const result = await probe(endpoint, { token });
      const seen = server.requests.map(({ method, path, headers }) => `${method} ${path} ${headers.authorization}`);
      return { seen, result };
    };

    it("sends a GET with the token", async () => {
      const { seen, result } = await get(200, '{"result":{}}');
      assert.deepEqual(result, { kind: "accepted" });
      assert.deepEqual(seen, [`GET /at/info Bearer ${token}`]);
    });

    it("knows a refused token, and a server that is something else", async () => {
      for (const status of [401, 403]) {
        const { result } = await get(status, '{"error":"NOPERM no"}', "queue");
        assert.deepEqual(result, { kind: "refused", words: `the platform responded with ${status}: NOPERM no` });
      }
      assert.match(why((await get(200, "<html>")).result), /not the REST interface of an index/);
      assert.match(why((await get(200, "[]", "queue")).result), /not the message queue/);
      assert.match(why((await get(404, "{}")).result), /responded with 404/);
    });
  });

  withRedis("with a real Redis", () => {
    it("accepts the current password of a user, and refuses the former one", async () => {
      const redis = closes(await startRedisServer());
      const { port, password: admin } = new URL(redis.url);
      assert.deepEqual(await probe(local(Number(port)), { password: admin }), { kind: "accepted" });
      assert.equal((await probe(local(Number(port)), { password: "former" })).kind, "refused");
      const client = await session(redis.url);
      await client.call("acl", "setuser", "ops", "on", ">é 'x'", "+ping");
      client.disconnect();
      assert.deepEqual(await probe(local(Number(port)), { username: "ops", password: "é 'x'" }), { kind: "accepted" });
      assert.equal((await probe(local(Number(port)), { username: "nobody", password: "é 'x'" })).kind, "refused");
      const other = await session(redis.url);
      await other.call("acl", "setuser", "mute", "on", ">x", "-@all");
      other.disconnect();
      assert.deepEqual(await probe(local(Number(port)), { username: "mute", password: "x" }), { kind: "accepted" });
    });
  });
});
