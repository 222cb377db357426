import assert from "node:assert/strict";
import { freePort, startRedisServer } from "../../../local/platform/redisServer";
import {
  type Credential,
  DatabaseProbe,
  type ProbeOptions,
  type ProbeResult,
} from "../../../provider/api/databaseProbe";
import { NotSentError } from "../../../provider/api/errors";
import { caFile, certificate } from "../../faults/certificates";
import { Proxy } from "../../faults/proxy";
import { FakeRedis, type RedisReply } from "../../support/fakeRedis";
import { leaksOf } from "../../support/canaries";
import { type HttpServer, startServer } from "../../support/httpServer";
import { session, withRedis } from "../../support/redis";
import { readFileSync } from "node:fs";

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
  const opened: { close(): Promise<unknown> }[] = [];
  afterEach(async () => {
    for (const one of opened.splice(0)) await one.close();
  });
  const fake = async (reply: RedisReply, tls?: Parameters<typeof certificate>[0]): Promise<FakeRedis> => {
    const server = await FakeRedis.start(reply, tls && certificate(tls));
    opened.push(server);
    return server;
  };

  it("sends AUTH and PING, and nothing else", async () => {
    const server = await fake(([name]) => (name === "PING" ? "+PONG" : "+OK"));
    for (const username of [undefined, "ops"]) {
      assert.deepEqual(await probe(local(server.port), { ...(username && { username }), password }), {
        is: "accepted",
      });
    }
    const ping = ["PING"];
    assert.deepEqual(server.commands, [["AUTH", password], ping, ["AUTH", "ops", password], ping]);
    assert.equal(server.connections, 2);
  });

  for (const odd of [" a b ", `'"\\`, "pässwörd-✓-🔑", "a\r\nPING\r\n", "%41+&", "\0"]) {
    it(`sends the password ${JSON.stringify(odd)} unchanged`, async () => {
      const server = await fake(([name]) => (name === "PING" ? "+PONG" : "+OK"));
      assert.deepEqual(await probe(local(server.port), { password: odd }), { is: "accepted" });
      assert.deepEqual(server.commands, [["AUTH", odd], ["PING"]]);
    });
  }

  it("knows a refused password by the words of old and new servers", async () => {
    for (const words of ["WRONGPASS invalid username-password pair or user is disabled.", "ERR invalid password"]) {
      const server = await fake(() => `-${words}`);
      assert.deepEqual(await probe(local(server.port)), { is: "refused", words });
      assert.deepEqual(server.commands, [["AUTH", password]]);
    }
  });

  const replies: readonly (readonly [what: string, reply: RedisReply, says: RegExp])[] = [
    [
      "does not know AUTH",
      () => `-ERR unknown command 'AUTH', with args beginning with: '${password}'`,
      /not know .* AUTH/,
    ],
    [
      "has no password",
      () => "-ERR AUTH <password> called without any password configured",
      /responded to AUTH.*without any/,
    ],
    ["is suspended", () => "-ERR database is suspended", /responded to AUTH with an error: ERR database is suspended/],
    ["is not a Redis", () => "HTTP/1.1 400 Bad Request", /not a Redis/],
    ["responds to AUTH with something else", () => "+HELLO", /not a Redis/],
    ["responds to PING with something else", ([name]) => (name === "PING" ? "+HELLO" : "+OK"), /not a Redis/],
    ["refuses PING", ([name]) => (name === "PING" ? "-NOPERM no" : "+OK"), /responded to PING.*NOPERM no/],
    ["closes the connection", () => "close", /closed the connection|ECONNRESET/],
    ["never responds", () => undefined, /did not respond in time|timed out/],
    ["repeats the password", () => `-ERR you sent ${password}`, /AUTH with an error: \[message not shown/],
  ];
  for (const [what, reply, says] of replies) {
    it(`reports a server that ${what}`, async () => {
      const server = await fake(reply);
      const result = await probe(local(server.port), { password }, what === "never responds" ? { timeoutMs: 300 } : {});
      assert.match(why(result), says);
      assert.deepEqual(leaksOf(JSON.stringify(result), { password }), []);
    });
  }

  it("reports a server that speaks first, as other protocols do", async () => {
    const server = await fake(() => undefined);
    server.greeting = "220 mail.example.com ESMTP";
    assert.match(why(await probe(local(server.port))), /not a Redis/);
  });

  it("reports a refused connection and an unknown host", async () => {
    assert.match(why(await probe(local(await freePort()))), /refused \(ECONNREFUSED\)/);
    assert.match(why(await probe({ host: "db.invalid", port: 6379, tls: true })), /host was not found/);
  });

  describe("with TLS", () => {
    const pong: RedisReply = ([name]) => (name === "PING" ? "+PONG" : "+OK");

    it("trusts the authority in rekey:caFile, and no other", async () => {
      const server = await fake(pong, "good");
      const endpoint = local(server.port, true);
      assert.deepEqual(await probe(endpoint, undefined, { extraCertificates }), { is: "accepted" });
      assert.match(why(await probe(endpoint)), /TLS connection failed \(UNABLE_TO/);
      for (const [name, says] of [
        ["expired", /CERT_HAS_EXPIRED/],
        ["otherHost", /ALTNAME/],
        ["foreign", /UNABLE_TO/],
      ] as const) {
        const bad = await fake(pong, name);
        assert.match(why(await probe(local(bad.port, true), undefined, { extraCertificates })), says);
        assert.deepEqual(bad.commands, []);
      }
    });

    it("never sends a password to another machine in plain text, even if the endpoint has no TLS", async () => {
      const server = await fake(pong);
      const proxy = await Proxy.start();
      opened.push(proxy);
      const through = { proxy: `http://127.0.0.1:${proxy.port}` };
      // The proxy connects this name to the plain server.
      const result = await probe({ host: "platform.test", port: server.port, tls: false }, undefined, through);
      assert.match(why(result), /TLS connection failed/);
      assert.equal(proxy.heads.length, 1);
      assert.ok(!server.received.includes(password));
    });

    it("goes through the proxy, which sees no credential", async () => {
      const server = await fake(pong, "good");
      const proxy = await Proxy.start();
      opened.push(proxy);
      const through = { extraCertificates, proxy: `http://127.0.0.1:${proxy.port}` };
      assert.deepEqual(await probe(local(server.port, true), undefined, through), { is: "accepted" });
      assert.equal(proxy.heads.length, 1);
      assert.deepEqual(leaksOf(proxy.heads.join(), { password }), []);
      const refusing = await Proxy.start({ answers: 407 });
      opened.push(refusing);
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
    await assert.rejects(probe(local(server.port), undefined, { beforeProbe }), (error: Error) => {
      assert.match(
        error.message,
        /verify the password of database "db".*\(AUTH redis:\/\/127.*The rotation itself is saved/,
      );
      return true;
    });
    assert.equal(server.connections, 0);
  });

  describe("with a REST token", () => {
    const restToken = "canary-rest-token-77";
    const rest = async (status: number, body: string) => {
      const seen: string[] = [];
      const server: HttpServer = await startServer((request, response) => {
        seen.push(`${request.method} ${request.url} ${request.headers.authorization}`);
        response.writeHead(status).end(body);
      });
      opened.push(server);
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
      const redis = await startRedisServer();
      opened.push(redis);
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
