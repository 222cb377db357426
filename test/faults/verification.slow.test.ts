import assert from "node:assert/strict";
import { freePort } from "../../local/platform/redisServer";
import { type Adapter, providerTexts, type Result } from "../support/host";
import { FakeRedis, type RedisReply } from "../support/fakeRedis";
import { leaksOf } from "../support/canaries";
import { expectKind } from "../support/results";
import { type Properties, revealed, secretNames, withoutSecrets } from "../support/wire";
import { caFile, certificate } from "./certificates";
import { type Stage, testRow } from "./describeFaults";
import { savedText } from "./phases";
import { Proxy } from "./proxy";
import { stuckListener } from "./stuckListener";
import { type World, type WorldOptions } from "./world";

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
/** A database with these passwords, as a Redis responds. */
const accepting =
  (...all: string[]): RedisReply =>
  ([name, password = ""]) =>
    name === "PING" ? "+PONG" : all.includes(password) ? "+OK" : "-WRONGPASS invalid username-password pair";

/** Where a verification finds a database. What a stage starts ends with the test. */
type At = (stage: Stage) => Promise<Place>;
const served =
  (reply: RedisReply, tls?: Parameters<typeof certificate>[0]): At =>
  async ({ closes }) => {
    const { port } = closes(await FakeRedis.start(reply, tls && certificate(tls)));
    return { port, tls: tls !== undefined };
  };
const stuck: At = async ({ closes }) => ({ port: closes(await stuckListener()).port });

const failures: readonly (readonly [row: number, fault: string, at: At, says: RegExp])[] = [
  [62, "host not found", async () => ({ host: "db.invalid", port: 6379, tls: true }), /host was not found/],
  [63, "connection refused", async () => ({ port: await freePort() }), /connection was refused/],
  [64, "expired certificate", served(ok, "expired"), /certificate has expired \(CERT_HAS_EXPIRED\)/],
  [
    64,
    "certificate of another host",
    served(ok, "otherHost"),
    /certificate is for another host \(.*ALTNAME.*Set host/s,
  ],
  [64, "foreign certificate", served(ok, "foreign"), /authority that is not trusted \(UNABLE_TO.*Set rekey:caFile/s],
  [
    64,
    "no TLS there",
    async (stage) => ({ ...(await served(ok)(stage)), tls: true }),
    /TLS handshake failed.*the port may not use TLS/,
  ],
  [65, "connect timeout", stuck, /timed out/],
  [65, "no response", served(() => undefined), /did not respond in time|timed out/],
  [66, "the server is not a Redis", served(() => "HTTP/1.1 400 Bad Request"), /not that of a Redis/],
  [66, "the reply to AUTH is that to PING", served(() => "+PONG"), /reply to AUTH is not that of a Redis/],
  [66, "a reply of half a gigabyte", served(() => "$536870000"), /reply to AUTH is not that of a Redis/],
  [66, "a line of 100 kB", served(() => `+${"a".repeat(100_000)}`), /longer than 64 KiB/],
  [66, "an error without words", served(() => "-"), /empty error/],
  [67, "the server does not know AUTH", served(() => "-ERR unknown command 'AUTH'"), /not know the command AUTH/],
  [69, "suspended database", served(() => "-ERR database is suspended"), /error: ERR database is suspended/],
  [70, "new password refused", served(accepting("other")), /new password is refused: WRONGPASS/],
  [71, "the server repeats the password", served(([, word]) => `-ERR you sent ${word}`), /message not shown/],
];
const expected = "fails, saves what was tried; 0 resets sent";
const trusting: WorldOptions = { settings: () => ({ caFile }) };

function assertFails({ host, server }: World, results: readonly Result[], says: RegExp): void {
  for (const result of results) {
    const { message, outs } = expectKind("init error", result);
    assert.deepEqual([outs["verified"], outs["formerRefused"], secretNames(outs)], [false, undefined, ["targets"]]);
    const usual = [/rotation itself is saved/, /next `up` verifies again/, /(Check|Set|Renew|Require) .*\[REKEY_VERIF/];
    for (const pattern of [says, ...usual]) assert.match(message, pattern);
  }
  assert.deepEqual(
    leaksOf(JSON.stringify(results.map(withoutSecrets)) + host.stderr + host.engine.received, canaries),
    [],
  );
  assert.equal(server.requests.length, 0);
}

/** Verifies a password for the first time, and after an earlier one. */
async function both({ host }: World, place: Place): Promise<Result[]> {
  const inputs = verification(place, canaries["new password"], "t2");
  return Promise.all([host.create(inputs), host.update("db", savedBy(host.adapter), inputs)]);
}

describe("faults: a verification", () => {
  for (const [row, fault, at, says] of failures) {
    testRow([row, fault, "verification", expected], async (stage) => {
      const world = await stage.start(trusting);
      assertFails(world, await both(world, await at(stage)), says);
    });
  }

  testRow([64, "the proxy does not open a tunnel", "verification", expected], async (stage) => {
    const proxy = stage.closes(await Proxy.start({ answers: 502 }));
    const settings = () => ({ caFile, proxy: `http://127.0.0.1:${proxy.port}` });
    const world = await stage.start({ settings });
    assertFails(world, await both(world, await served(ok, "good")(stage)), /the proxy responded with 502/);
  });

  for (const [row, fault, password, says] of [
    [72, "former password still accepted", "new password", /former password is still accepted, the one of t1/],
    [73, "the platform returned the former password", "former password", /platform returned it as the new one/],
  ] as const) {
    testRow([row, fault, "verification", expected], async (stage) => {
      const world = await stage.start();
      const place = await served(accepting(...Object.values(canaries)))(stage);
      const inputs = verification(place, canaries[password], "t2");
      assertFails(world, [await world.host.update("db", savedBy(stage.adapter), inputs)], says);
    });
  }

  testRow([68, "blanks, quotes, unicode and line breaks in the password", "verification", "passes"], async (stage) => {
    const { host } = await stage.start();
    const server = stage.closes(await FakeRedis.start(accepting(odd)));
    const inputs = verification(server, odd, "t2");
    const { outs } = expectKind("done", await host.update("db", savedBy(stage.adapter), inputs));
    assert.deepEqual([outs["verified"], outs["formerRefused"], secretNames(outs)], [true, true, ["targets"]]);
    assert.deepEqual(server.commands, [["AUTH", odd], ["PING"], ["AUTH", canaries["former password"]]]);
    assert.equal((await host.diff("db", revealed(outs), inputs)).changes, "none");
  });

  testRow([74, "TLS with rekey:caFile", "verification", "passes"], async (stage) => {
    const { host } = await stage.start(trusting);
    expectKind(
      "done",
      await host.create(
        verification(await served(accepting(canaries["new password"]), "good")(stage), canaries["new password"], "t2"),
      ),
    );
  });

  testRow([79, "the database accepts every password", "verification", expected], async (stage) => {
    const world = await stage.start();
    const place = await served(ok)(stage);
    assertFails(world, await both(world, place), /open to everyone: it accepts any password/);
  });

  testRow([80, "a password of a failed verification is still accepted", "verification", expected], async (stage) => {
    const world = await stage.start();
    const { host } = world;
    const server = stage.closes(await FakeRedis.start(ok));
    const saved = savedBy(stage.adapter);
    const { outs } = expectKind("init error", await host.update("db", saved, verification(server, "second", "t2")));
    server.reply = accepting("second", "third");
    const third = verification(server, "third", "t3");
    const result = await host.update("db", revealed(outs), third);
    assertFails(world, [result], /former password is still accepted, the one of t2/);
    const failed = expectKind("init error", result).outs;
    assert.equal((await host.diff("db", revealed(failed), third)).changes, "some");
    server.reply = accepting("third");
    const done = expectKind("done", await host.update("db", revealed(failed), third));
    assert.deepEqual([done.outs["verified"], done.outs["formerRefused"]], [true, true]);
  });

  const tooLarge = "fails; what an error cannot carry is not saved; 0 resets sent";
  testRow(
    [81, "too much to save for an error", "verification", tooLarge],
    async (stage) => {
      const world = await stage.start();
      const { port } = await served(() => "-ERR away")(stage);
      const access = { host: "127.0.0.1", port, tls: false, credential: { password: "x".repeat(300) } };
      const targets = Array.from({ length: 100 }, (_, n) => ({ databaseId: `db-${n}`, name: `${n}`, access }));
      const inputs = { ...verification({ port }, "x", "t"), targets: JSON.stringify(targets) };
      const { message } = expectKind("failed", await world.host.create(inputs));
      assert.match(message, /100 of 100 databases are not verified.*\[REKEY_VERIFICATION_FAILED\]/s);
      assert.equal(world.server.requests.length, 0);
    },
    ["dynamic"],
  );

  testRow([75, "the engine is gone", "verification", "fails; nothing is contacted"], async (stage) => {
    const { host } = await stage.start();
    const server = stage.closes(await FakeRedis.start(ok));
    await host.engine.close();
    const { message } = expectKind("failed", await host.create(verification(server, canaries["new password"], "t2")));
    assert.match(message, /engine that requested it has ended.*rotation itself is saved/);
    assert.equal(server.connections, 0);
  });
});
