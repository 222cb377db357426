import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { type Socket } from "node:net";
import { startRedisServer, session, withRedis } from "../../support/redis";
import { type Credential } from "../../../provider/domain/endpoint";
import { Connections, type ConnectionSettings } from "../../../provider/platform/connections";
import { CredentialProbe, type ProbeRequest } from "../../../provider/clients/probe";
import { KnownSecrets } from "../../../provider/platform/redact";
import { caFile, certificate } from "../../faults/certificates";
import { RedisGate } from "../../support/redisGate";
import { leaksOf } from "../../support/canaries";
import { responding } from "../../support/httpServer";
import { withRealSockets } from "../platform/realSockets";

const value = "canary-password-3f1a";
const extraCertificates = readFileSync(caFile, "utf8");
const local = (port: number, tls = false) => ({ host: "127.0.0.1", port, tls });

/** `accepted`, or what the server does instead. */
async function probe(
  endpoint: ProbeRequest["endpoint"],
  credential: Partial<Credential> = {},
  settings: ConnectionSettings = {},
): Promise<string> {
  const tool = new CredentialProbe({ connections: new Connections(settings), secrets: new KnownSecrets([]) });
  const tried: Credential = { name: "password", value, ...credential };
  const result = await tool.probe({ owner: `database "db"`, endpoint, credential: tried, timeoutMs: 30_000 });
  assert.deepEqual(leaksOf(JSON.stringify(result), { value }), []);
  if (result.kind === "accepted") return result.kind;
  return `${result.kind}: ${result.kind === "refused" ? result.words : result.why}`;
}

describe("verification: the probe of a database", () => {
  const { closes, startProxy, startServer } = withRealSockets();
  const startRedis = async (tls?: Parameters<typeof certificate>[0]) =>
    closes(await RedisGate.alone(() => ({ reply: "+OK" }), tls && certificate(tls)));

  it("sends AUTH on its own connection, and nothing else", async () => {
    const server = await startRedis();
    for (const username of [undefined, "ops"]) assert.equal(await probe(local(server.port), { username }), "accepted");
    assert.deepEqual(server.commands, [`AUTH ${value}`, `AUTH ops ${value}`]);
    assert.equal(server.connections, 2);
  });

  const noPassword = "-ERR AUTH <password> called without any password configured";
  const noRedis = /^unknown: the reply to AUTH is not that of a Redis$/;
  /** In addition to rows 62 to 71 of the fault table: the line with which it replies, or what it does instead. */
  const replies: Readonly<Record<string, readonly [string | ((socket: Socket) => unknown), says: RegExp]>> = {
    "refuses the password, as new ones do": ["-WRONGPASS invalid", /^refused: WRONGPASS invalid$/],
    "refuses the password, as old ones do": ["-ERR invalid password", /^refused: ERR invalid password$/],
    "has no password": [noPassword, /^unknown: .* responded to AUTH with an error: .*without any/],
    "closes the connection": [(socket) => socket.destroy(), /^unknown: .*(closed the connection|ECONNRESET)/],
    ...Object.fromEntries(["+HELLO", "*1\r\n+OK", ":1"].map((line) => [`replies ${line}`, [line, noRedis]])),
  };
  for (const [what, [reply, says]] of Object.entries(replies)) {
    it(`reports a server that ${what}`, async () => {
      const act = typeof reply === "string" ? (socket: Socket) => socket.write(`${reply}\r\n`) : reply;
      const { port } = await startServer({ accept: (socket) => socket.once("data", () => act(socket)) });
      assert.match(await probe(local(port)), says);
    });
  }

  it("reports a server that speaks first, as other protocols do", async () => {
    const { port } = await startServer({ accept: (socket) => void socket.write("220 ESMTP\r\n") });
    assert.match(await probe(local(port)), noRedis);
  });

  it("goes through the proxy with TLS, and the proxy sees no credential", async () => {
    const server = await startRedis("good");
    const proxy = await startProxy();
    const through = { extraCertificates, proxy: `http://127.0.0.1:${proxy.port}` };
    assert.equal(await probe(local(server.port, true), {}, through), "accepted");
    assert.equal(proxy.heads.length, 1);
    assert.deepEqual(leaksOf(proxy.heads.join(), { value }), []);
  });

  const noPing = '{"error":"NOPERM this user has no permissions to run the \'ping\' command"}';
  const tokens: readonly (readonly [Credential["name"], "index" | "queue", number, string, says: RegExp])[] = [
    ["restToken", "index", 200, '{"result":"PONG"}', /^accepted$/],
    ["restToken", "index", 403, noPing, /^accepted$/],
    ["restToken", "index", 401, '{"error":"Unauthorized"}', /^refused: the database responded with 401: Unauthorized$/],
    ["restToken", "index", 200, "<html>", /^unknown: the response to GET \/PING is not that of the database$/],
    ["restToken", "index", 400, `{"error":"you sent ${value}"}`, /^unknown: .*400: \[message not shown/],
    ["token", "index", 200, '{"result":{}}', /^accepted$/],
    ["token", "queue", 403, '{"error":"NOPERM no"}', /^refused: the platform responded with 403: NOPERM no$/],
    ["token", "index", 200, "<html>", /^unknown: .* not that of the index$/],
    ["token", "queue", 200, "[]", /^unknown: .* not that of the queue$/],
    ["token", "index", 404, "{}", /^unknown: .*responded with 404/],
  ];
  for (const [name, service, status, body, says] of tokens) {
    it(`sends a GET with a ${name}, and judges ${status} ${body}`, async () => {
      const { port, requests } = await startServer({ behaviour: responding(status, body) });
      const endpoint = { service, baseUrl: `http://127.0.0.1:${port}/at`, path: "/info" };
      assert.match(await probe(name === "token" ? endpoint : local(port), { name }), says);
      const sent = requests.map(({ method, path, headers }) => `${method} ${path} ${headers.authorization}`);
      assert.deepEqual(sent, [`GET ${name === "token" ? "/at/info" : "/PING"} Bearer ${value}`]);
    });
  }

  withRedis("with a real Redis", () => {
    it("accepts the current password of a user, and refuses the former one", async () => {
      const redis = closes(await startRedisServer());
      const { port, password } = new URL(redis.url);
      const at = local(Number(port));
      const client = await session(redis.url);
      await client.call("acl", "setuser", "ops", "on", ">é 'x'", "-@all");
      client.disconnect();
      assert.equal(await probe(at, { value: password }), "accepted");
      assert.match(await probe(at, { value: "former" }), /^refused/);
      assert.equal(await probe(at, { username: "ops", value: "é 'x'" }), "accepted");
      assert.match(await probe(at, { username: "nobody", value: "é 'x'" }), /^refused/);
    });
  });
});
