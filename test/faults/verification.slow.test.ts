import assert from "node:assert/strict";
import { freePort } from "../support/redisServer";
import { type Adapter, providerTexts, type Result } from "../support/host";
import { FakeRedis, type RedisReply } from "../support/fakeRedis";
import { leaksOf } from "../support/canaries";
import { expectKind } from "../support/results";
import { type Properties, revealed, secretNames, withoutSecrets } from "../support/wire";
import { caFile, certificate } from "./certificates";
import { testRow } from "./describeFaults";
import { savedText } from "./phases";
import { Proxy, stuckListener } from "./network";
import { type Fixture, type FixtureOptions } from "./fixture";

const canaries = { "new password": "canary-new-password", "former password": "canary-former-password" };
const odd = " '\"\\ pässwörd-✓\r\nPING\r\n";

interface Place {
  readonly port: number;
  readonly host?: string;
  readonly tls?: boolean;
}

const accessTo = ({ host = "127.0.0.1", port, tls = false }: Place, password: string, count: number, id = "db") => {
  return { id, of: "database", count, current: { name: "password", value: password }, connection: { host, port, tls } };
};

/** Inputs of a verification, as they reach the host. */
function verification(place: Place, password: string, count: number): Properties {
  return { access: JSON.stringify(accessTo(place, password, count)), ...others };
}
const others = { withinSeconds: 0.3, __provider: providerTexts.credentialVerification };

/** What an earlier verification left in the state. */
const savedBy = (adapter: Adapter): Properties => ({
  subject: "verification",
  verified: true,
  verifiedAt: "2026-01-01T00:00:00.000Z",
  memory: JSON.stringify({
    "database db": { count: 1, accepted: { name: "password", value: canaries["former password"], count: 1 } },
  }),
  ...savedText(adapter, providerTexts.credentialVerification),
});

const ok: RedisReply = ([name]) => (name === "PING" ? "+PONG" : "+OK");
/** A database with these passwords, as a Redis responds. */
const accepting =
  (...all: string[]): RedisReply =>
  ([name, password = ""]) =>
    name === "PING" ? "+PONG" : all.includes(password) ? "+OK" : "-WRONGPASS invalid username-password pair";

/** Where a verification finds a database. What a fixture starts ends with the test. */
type At = (fixture: Fixture) => Promise<Place>;
const served =
  (reply: RedisReply, tls?: Parameters<typeof certificate>[0]): At =>
  async (fixture) => {
    const { port } = fixture.closes(await FakeRedis.start(reply, tls && certificate(tls)));
    return { port, tls: tls !== undefined };
  };
const stuck: At = async (fixture) => ({ port: fixture.closes(await stuckListener()).port });

const noRedis = /reply to AUTH is not that of a Redis/;
const failures: Record<string, { row: number; reply?: RedisReply; at?: At; says: RegExp }> = {
  "host not found": { row: 62, at: async () => ({ host: "db.invalid", port: 6379, tls: true }), says: /was not found/ },
  "connection refused": {
    row: 63,
    at: async () => ({ port: await freePort() }),
    says: /connection failed \(ECONNREFUSED\)/,
  },
  "expired certificate": { row: 64, at: served(ok, "expired"), says: /is not accepted \(CERT_HAS_EXPIRED\)/ },
  "certificate of another host": {
    row: 64,
    at: served(ok, "otherHost"),
    says: /not accepted \(.*ALTNAME.*the host in host and port/s,
  },
  "foreign certificate": {
    row: 64,
    at: served(ok, "foreign"),
    says: /not accepted \(UNABLE_TO.*rekey:caFile has the certificate/s,
  },
  "no TLS there": {
    row: 64,
    at: async (fixture) => ({ ...(await served(ok)(fixture)), tls: true }),
    says: /TLS handshake failed.*the port may not use TLS/,
  },
  "connect timeout": { row: 65, at: stuck, says: /timed out/ },
  "no response": { row: 65, reply: () => undefined, says: /did not respond in time|timed out/ },
  "the server is not a Redis": { row: 66, reply: () => "HTTP/1.1 400 Bad Request", says: /not that of a Redis/ },
  "the reply to AUTH is that to PING": { row: 66, reply: () => "+PONG", says: noRedis },
  "a reply of half a gigabyte": { row: 66, reply: () => "$536870000", says: noRedis },
  "a line of 100 kB": { row: 66, reply: () => `+${"a".repeat(100_000)}`, says: /longer than 64 KiB/ },
  "an error without words": { row: 66, reply: () => "-", says: /empty error/ },
  "the server does not know AUTH": { row: 67, reply: () => "-ERR unknown command 'AUTH'", says: /not know .* AUTH/ },
  "suspended database": {
    row: 69,
    reply: () => "-ERR database is suspended",
    says: /error: ERR database is suspended/,
  },
  "new password refused": { row: 70, reply: accepting("other"), says: /new password is refused: WRONGPASS/ },
  "the server repeats the password": { row: 71, reply: ([, word]) => `-ERR ${word}`, says: /message not shown/ },
};
const expected = "fails, saves what was tried; 0 resets sent";
const trusting: FixtureOptions = { settings: () => ({ caFile }) };

function assertOutputs(outs: Properties, expected: Properties): void {
  const { verified, formerRefused } = outs;
  assert.deepEqual({ verified, formerRefused }, expected);
  assert.deepEqual(secretNames(outs), ["memory"]);
}

function assertFails({ host, server }: Fixture, results: readonly Result[], says: RegExp): void {
  for (const result of results) {
    const { message, outs } = expectKind("init error", result);
    assertOutputs(outs, { verified: false, formerRefused: undefined });
    const usual = [/rotation itself is saved/, /next `up` verifies again/, /(Check|Set|Renew|Require) .*\[REKEY_VERIF/];
    for (const pattern of [says, ...usual]) assert.match(message, pattern);
  }
  const shown = JSON.stringify(results.map(withoutSecrets)) + host.stderr + host.engine.received;
  assert.deepEqual(leaksOf(shown, canaries), []);
  assert.equal(server.requests.length, 0);
}

/** Verifies a password for the first time, and after an earlier one. */
async function both({ host }: Fixture, place: Place): Promise<Result[]> {
  const inputs = verification(place, canaries["new password"], 2);
  return Promise.all([host.create(inputs), host.update("verification", savedBy(host.adapter), inputs)]);
}

describe("faults: a verification", () => {
  for (const [fault, { row, reply = ok, at = served(reply), says }] of Object.entries(failures)) {
    testRow([row, fault, "verification", expected], async (fixture) => {
      await fixture.start(trusting);
      assertFails(fixture, await both(fixture, await at(fixture)), says);
    });
  }

  testRow([64, "the proxy does not open a tunnel", "verification", expected], async (fixture) => {
    const proxy = fixture.closes(await Proxy.start({ answers: 502 }));
    const settings = () => ({ caFile, proxy: `http://127.0.0.1:${proxy.port}` });
    await fixture.start({ settings });
    assertFails(fixture, await both(fixture, await served(ok, "good")(fixture)), /the proxy responded with 502/);
  });

  const special = "blanks, quotes, unicode and line breaks in the password";
  testRow([68, special, "verification", "passes"], async (fixture) => {
    const { host } = await fixture.start();
    const server = fixture.closes(await FakeRedis.start(accepting(odd)));
    const inputs = verification(server, odd, 2);
    const { outs } = expectKind("done", await host.update("verification", savedBy(fixture.adapter), inputs));
    assertOutputs(outs, { verified: true, formerRefused: true });
    assert.deepEqual(server.commands, [["AUTH", odd], ["PING"], ["AUTH", canaries["former password"]]]);
    assert.equal((await host.diff("verification", revealed(outs), inputs)).changes, "none");
  });

  testRow([74, "TLS with rekey:caFile", "verification", "passes"], async (fixture) => {
    const { host } = await fixture.start(trusting);
    const password = canaries["new password"];
    const place = await served(accepting(password), "good")(fixture);
    expectKind("done", await host.create(verification(place, password, 2)));
  });

  testRow([75, "the engine is gone", "verification", "fails; nothing is contacted"], async (fixture) => {
    const { host } = await fixture.start();
    const server = fixture.closes(await FakeRedis.start(ok));
    await host.engine.close();
    const { message } = expectKind("failed", await host.create(verification(server, canaries["new password"], 2)));
    assert.match(message, /engine that requested it has ended.*rotation itself is saved/);
    assert.equal(server.connections, 0);
  });
});
