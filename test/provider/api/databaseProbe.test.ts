import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { freePort, startRedisServer } from "../../../local/platform/redisServer";
import {
  type Credential,
  DatabaseProbe,
  type ProbeOptions,
  type ProbeResult,
} from "../../../provider/api/databaseProbe";
import { NotSentError } from "../../../provider/api/errors";
import { caFile, certificate } from "../../faults/certificates";
import { FakeRedis, type RedisReply } from "../../support/fakeRedis";
import { leaksOf } from "../../support/canaries";
import { startServer } from "../../support/httpServer";
import { session, withRedis } from "../../support/redis";
import { withRealSockets } from "./realSockets";

const password = "canary-password-3f1a";
const extraCertificates = readFileSync(caFile, "utf8");
const local = (port: number, tls = false) => ({ host: "127.0.0.1", port, tls });

function probe(
  endpoint: { host: string; port: number; tls: boolean },
  credential: Credential = { password },
  options: Partial<ProbeOptions> = {},
): Promise<ProbeResult> {
  const tool = new DatabaseProbe({ secrets: [], ...options });
  return tool.probe({ databaseId: "db", endpoint, credential, otherSecrets: [] });
}

const why = (result: ProbeResult): string => {
  assert.equal(result.is, "unknown", JSON.stringify(result));
  return result.is === "unknown" ? result.why : "";
};

describe("api: the probe of a database", () => {
  const { closes, startProxy } = withRealSockets();
  const fake = async (reply: RedisReply, tls?: Parameters<typeof certificate>[0]) =>
    closes(await FakeRedis.start(reply, tls && certificate(tls)));
  const pong: RedisReply = ([name]) => (name === "PING" ? "+PONG" : "+OK");

  it("sends AUTH and PING on its own connection, and nothing else", async () => {
    const server = await fake(pong);
    for (const username of [undefined, "ops"]) {
      const credential = { ...(username && { username }), password };
      assert.deepEqual(await probe(local(server.port), credential), { is: "accepted" });
    }
    const ping = ["PING"];
    assert.deepEqual(server.commands, [["AUTH", password], ping, ["AUTH", "ops", password], ping]);
    assert.equal(server.connections, 2);
  });

  it("sends any password unchanged", async () => {
    const server = await fake(pong);
    for (const odd of [" a b ", `'"\\`, "pässwörd-✓-🔑", "a\r\nPING\r\n", "%41+&", "\0"]) {
      assert.deepEqual(await probe(local(server.port), { password: odd }), { is: "accepted" });
      assert.deepEqual(server.commands.splice(0), [["AUTH", odd], ["PING"]]);
    }
  });

  it("knows a refused password by the words of old and new servers", async () => {
    for (const words of ["WRONGPASS invalid username-password pair or user is disabled.", "ERR invalid password"]) {
      const server = await fake(() => `-${words}`);
      assert.deepEqual(await probe(local(server.port)), { is: "refused", words });
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
    "is suspended": {
      reply: () => "-ERR database is suspended",
      says: /AUTH with an error: ERR database is suspended/,
    },
    "is not a Redis": { reply: () => "HTTP/1.1 400 Bad Request", says: /not a Redis/ },
    "responds to AUTH with something else": { reply: () => "+HELLO", says: /not a Redis/ },
    "responds to PING with something else": { reply: toPing("+HELLO"), says: /not a Redis/ },
    "refuses PING": { reply: toPing("-NOPERM no"), says: /responded to PING.*NOPERM no/ },
    "closes the connection": { reply: () => "close", says: /closed the connection|ECONNRESET/ },
    "never responds": { reply: () => undefined, says: /did not respond in time|timed out/ },
    "repeats the password": {
      reply: () => `-ERR you sent ${password}`,
      says: /AUTH with an error: \[message not shown/,
    },
    "speaks first, as other protocols do": { reply: () => undefined, greeting: "220 mail ESMTP", says: /not a Redis/ },
  };
  for (const [what, { reply, greeting, says }] of Object.entries(replies)) {
    it(`reports a server that ${what}`, async () => {
      const server = await fake(reply);
      server.greeting = greeting;
      const result = await probe(
        local(server.port),
        { password },
        { timeoutMs: what === "never responds" ? 300 : 5_000 },
      );
      assert.match(why(result), says);
      assert.deepEqual(leaksOf(JSON.stringify(result), { password }), []);
    });
  }

  it("reports a refused connection and an unknown host", async () => {
    assert.match(why(await probe(local(await freePort()))), /refused \(ECONNREFUSED\)/);
    assert.match(why(await probe({ host: "db.invalid", port: 6379, tls: true })), /host was not found/);
  });

  describe("with TLS", () => {
    it("trusts the authority in rekey:caFile, and no other", async () => {
      const server = await fake(pong, "good");
      const endpoint = local(server.port, true);
      assert.deepEqual(await probe(endpoint, undefined, { extraCertificates }), { is: "accepted" });
      assert.match(why(await probe(endpoint)), /TLS connection failed \(UNABLE_TO/);
      const expired = await fake(pong, "expired");
      assert.match(why(await probe(local(expired.port, true), undefined, { extraCertificates })), /CERT_HAS_EXPIRED/);
      assert.deepEqual(expired.commands, []);
    });

    it("never sends a password to another machine in plain text, even if the endpoint has no TLS", async () => {
      const server = await fake(pong);
      const proxy = await startProxy();
      const through = { proxy: `http://127.0.0.1:${proxy.port}` };
      // The proxy connects this name to the plain server.
      const result = await probe({ host: "platform.test", port: server.port, tls: false }, undefined, through);
      assert.match(why(result), /TLS connection failed/);
      assert.equal(proxy.heads.length, 1);
      assert.ok(!server.received.includes(password));
    });

    it("goes through the proxy, which sees no credential", async () => {
      const server = await fake(pong, "good");
      const proxy = await startProxy();
      const through = { extraCertificates, proxy: `http://127.0.0.1:${proxy.port}` };
      assert.deepEqual(await probe(local(server.port, true), undefined, through), { is: "accepted" });
      assert.equal(proxy.heads.length, 1);
      assert.deepEqual(leaksOf(proxy.heads.join(), { password }), []);
      const refusing = await startProxy({ answers: 407 });
      const refused = { extraCertificates, proxy: `http://127.0.0.1:${refusing.port}` };
      assert.match(why(await probe(local(server.port, true), undefined, refused)), /proxy responded with 407/);
    });

    it("reports a server without TLS, and one that does not finish the handshake", async () => {
      const server = await fake(pong);
      assert.match(why(await probe(local(server.port, true))), /TLS connection failed|closed the connection/);
      const silent = await fake(() => undefined);
      assert.match(why(await probe(local(silent.port, true), undefined, { timeoutMs: 300 })), /timed out|TLS|in time/);
    });
  });

  it("connects to nothing if the engine is gone", async () => {
    const server = await fake(() => "+OK");
    const beforeProbe: ProbeOptions["beforeProbe"] = async (facts) => {
      throw new NotSentError(facts, "the engine has ended", "Run again.", undefined, "REKEY_ENGINE_GONE");
    };
    await assert.rejects(
      probe(local(server.port), undefined, { beforeProbe }),
      /verify the password of database "db".*\(AUTH redis:\/\/127.*The rotation itself is saved/,
    );
    assert.equal(server.connections, 0);
  });

  describe("with a REST token", () => {
    const restToken = "canary-rest-token-77";
    const rest = async (status: number, body: string) => {
      const seen: string[] = [];
      const server = closes(
        await startServer((request, response) => {
          seen.push(`${request.method} ${request.url} ${request.headers.authorization}`);
          response.writeHead(status).end(body);
        }),
      );
      const result = await probe(local(Number(new URL(server.url).port)), { restToken });
      return { seen, result };
    };

    it("sends PING with the token", async () => {
      const { seen, result } = await rest(200, '{"result":"PONG"}');
      assert.deepEqual(result, { is: "accepted" });
      assert.deepEqual(seen, [`GET /PING Bearer ${restToken}`]);
    });

    it("knows a refused token, and a server that is something else", async () => {
      assert.equal((await rest(401, '{"error":"Unauthorized"}')).result.is, "refused");
      assert.match(why((await rest(200, "<html>")).result), /not the REST interface/);
      assert.match(why((await rest(400, `{"error":"you sent ${restToken}"}`)).result), /400: \[message not shown/);
    });
  });

  withRedis("with a real Redis", () => {
    it("accepts the current password of a user, and refuses the former one", async () => {
      const redis = closes(await startRedisServer());
      const { port, password: admin } = new URL(redis.url);
      assert.deepEqual(await probe(local(Number(port)), { password: admin }), { is: "accepted" });
      assert.equal((await probe(local(Number(port)), { password: "former" })).is, "refused");
      const client = await session(redis.url);
      await client.call("acl", "setuser", "ops", "on", ">é 'x'", "+ping");
      client.disconnect();
      assert.deepEqual(await probe(local(Number(port)), { username: "ops", password: "é 'x'" }), { is: "accepted" });
      assert.equal((await probe(local(Number(port)), { username: "nobody", password: "é 'x'" })).is, "refused");
    });
  });
});
