import assert from "node:assert/strict";
import { freePort } from "../../local/platform/redisServer";
import { type Adapter, adapters, providerTexts, type Result } from "../support/host";
import { FakeRedis, type RedisReply } from "../support/fakeRedis";
import { leaksOf } from "../support/canaries";
import { expectKind } from "../support/results";
import { type Properties, revealed, secretNames } from "../support/wire";
import { caFile, certificate } from "./certificates";
import { titled } from "./describeFaults";
import { savedText } from "./phases";
import { Proxy } from "./proxy";
import { stuckListener } from "./stuckListener";
import { World } from "./world";

const canaries = { "new password": "canary-new-password", "former password": "canary-former-password" };
const odd = " '\"\\ pässwörd-✓\r\nPING\r\n";

interface Place {
  readonly port: number;
  readonly host?: string;
  readonly tls?: boolean;
}

/** Inputs of a verification, as they reach the host. */
function verification(
  { host = "127.0.0.1", port, tls = false }: Place,
  password: string,
  rotatedAt: string,
): Properties {
  const access = { host, port, tls, credential: { password } };
  const targets = JSON.stringify([{ databaseId: "db", name: "db", rotatedAt, access }]);
  return { subject: "db", targets, withinSeconds: 0.3, __provider: providerTexts.passwordVerification };
}

/** What an earlier verification left in the state. */
const savedBy = (adapter: Adapter): Properties => ({
  subject: "db",
  verified: true,
  verifiedAt: "2026-01-01T00:00:00.000Z",
  targets: JSON.stringify([
    { databaseId: "db", rotatedAt: "t1", credential: { password: canaries["former password"] } },
  ]),
  ...savedText(adapter, providerTexts.passwordVerification),
});

const ok: RedisReply = ([name]) => (name === "PING" ? "+PONG" : "+OK");
/** A database with that password, as a Redis responds. */
const withPassword =
  (current: string): RedisReply =>
  ([name, password]) =>
    name === "PING" ? "+PONG" : password === current ? "+OK" : "-WRONGPASS invalid username-password pair";

for (const adapter of adapters) {
  describe(`faults: a verification (${adapter})`, () => {
    const saved = savedBy(adapter);
    const open: { close(): Promise<unknown> }[] = [];
    let world: World;
    let proxied: World;
    let proxy: Proxy;
    before(async () => {
      world = await World.start({ adapter, settings: () => ({ caFile }) });
      proxy = await Proxy.start({ answers: 502 });
      proxied = await World.start({ adapter, settings: () => ({ caFile, proxy: `http://127.0.0.1:${proxy.port}` }) });
      open.push(world, proxied, proxy);
    });
    after(async () => {
      for (const one of open.splice(0).reverse()) await one.close();
    });

    async function serve(reply: RedisReply, tls?: Parameters<typeof certificate>[0]): Promise<FakeRedis> {
      const server = await FakeRedis.start(reply, tls && certificate(tls));
      open.push(server);
      return server;
    }
    const secure = async (name: Parameters<typeof certificate>[0]): Promise<Place> => {
      return { port: (await serve(ok, name)).port, tls: true };
    };
    const plain = async (reply: RedisReply): Promise<Place> => ({ port: (await serve(reply)).port });
    async function stuck(): Promise<Place> {
      const listener = await stuckListener();
      open.push(listener);
      return { port: listener.port };
    }

    const rows: readonly (readonly [row: number, fault: string, place: () => Promise<Place>, says: RegExp])[] = [
      [62, "host not found", async () => ({ host: "db.invalid", port: 6379, tls: true }), /host was not found/],
      [63, "connection refused", async () => ({ port: await freePort() }), /connection was refused/],
      [64, "expired certificate", () => secure("expired"), /TLS connection failed \(CERT_HAS_EXPIRED\)/],
      [64, "certificate of another host", () => secure("otherHost"), /TLS connection failed \(.*ALTNAME/],
      [64, "foreign certificate", () => secure("foreign"), /TLS connection failed \(UNABLE_TO/],
      [
        64,
        "no TLS there",
        async () => ({ ...(await plain(ok)), tls: true }),
        /TLS connection failed|closed the connection/,
      ],
      [65, "connect timeout", stuck, /timed out/],
      [65, "no response", () => plain(() => undefined), /did not respond in time|timed out/],
      [66, "the server is not a Redis", () => plain(() => "HTTP/1.1 400 Bad Request"), /not a Redis/],
      [
        67,
        "the server does not know AUTH",
        () => plain(() => "-ERR unknown command 'AUTH'"),
        /not know the command AUTH/,
      ],
      [69, "suspended database", () => plain(() => "-ERR database is suspended"), /error: ERR database is suspended/],
      [70, "new password refused", () => plain(withPassword("other")), /new password is refused: WRONGPASS/],
      [71, "the server repeats the password", () => plain(([, word]) => `-ERR you sent ${word}`), /message not shown/],
    ];
    const expected = "fails, state kept; 0 resets sent";

    async function both(where: World, place: Place): Promise<Result[]> {
      const inputs = verification(place, canaries["new password"], "t2");
      return Promise.all([where.host.create(inputs), where.host.update("db", saved, inputs)]);
    }

    function assertFails(where: World, results: readonly Result[], says: RegExp): void {
      for (const result of results) {
        const { message } = expectKind("failed", result);
        for (const pattern of [
          says,
          /rotation itself is saved/,
          /next `up` verifies again/,
          /(Check|Set) .*\[REKEY_VERIF/,
        ]) {
          assert.match(message, pattern);
        }
      }
      assert.deepEqual(leaksOf(JSON.stringify(results) + where.host.stderr + where.host.engine.received, canaries), []);
      assert.equal(where.server.requests.length, 0);
    }

    for (const [row, fault, place, says] of rows) {
      it(titled(row, fault, "verification", expected, adapter), async () => {
        assertFails(world, await both(world, await place()), says);
      });
    }

    it(titled(64, "the proxy does not open a tunnel", "verification", expected, adapter), async () => {
      assertFails(proxied, await both(proxied, await secure("good")), /the proxy responded with 502/);
    });

    it(titled(72, "former password still accepted", "verification", expected, adapter), async () => {
      const inputs = verification(await plain(ok), canaries["new password"], "t2");
      assertFails(world, [await world.host.update("db", saved, inputs)], /former password is still accepted/);
    });

    it(titled(73, "the platform returned the former password", "verification", expected, adapter), async () => {
      const inputs = verification(await plain(ok), canaries["former password"], "t2");
      assertFails(world, [await world.host.update("db", saved, inputs)], /platform returned it as the new one/);
    });

    it(
      titled(68, "blanks, quotes, unicode and line breaks in the password", "verification", "passes", adapter),
      async () => {
        const server = await serve(withPassword(odd));
        const { outs } = expectKind("done", await world.host.update("db", saved, verification(server, odd, "t2")));
        assert.deepEqual([outs["verified"], outs["formerRefused"], secretNames(outs)], [true, true, ["targets"]]);
        assert.deepEqual(server.commands, [["AUTH", odd], ["PING"], ["AUTH", canaries["former password"]]]);
        const again = await world.host.diff("db", revealed(outs), verification(server, odd, "t2"));
        assert.equal(again.changes, "none");
      },
    );

    it(titled(74, "TLS with rekey:caFile", "verification", "passes", adapter), async () => {
      expectKind("done", await world.host.create(verification(await secure("good"), canaries["new password"], "t2")));
    });

    it(titled(75, "the engine is gone", "verification", "fails; nothing is contacted", adapter), async () => {
      const other = await World.start({ adapter });
      open.push(other);
      const server = await serve(ok);
      await other.host.engine.close();
      const result = await other.host.create(verification(server, canaries["new password"], "t2"));
      assert.match(
        expectKind("failed", result).message,
        /engine that requested it has ended.*rotation itself is saved/,
      );
      assert.equal(server.connections, 0);
    });
  });
}
