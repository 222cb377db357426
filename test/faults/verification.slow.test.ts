import assert from "node:assert/strict";
import { setTimeout as wait } from "node:timers/promises";
import { saltedMark } from "../../provider/rotation/memory/marks";
import { freshnessMs } from "../../provider/engine/liveness";
import { freePort } from "../support/redis";
import { providerTexts } from "../support/host";
import { type Meet, RedisGate } from "../support/redisGate";
import { leaksOf } from "../support/canaries";
import { expectKind, until } from "../support/results";
import { type Properties, revealed, secretNames, withoutSecrets } from "../support/wire";
import { caFile, certificate } from "./certificates";
import { testRow } from "./describeFaults";
import { Proxy, stuckListener } from "./network";
import { type Fixture, type FixtureOptions } from "./fixture";

const canaries = { "new password": "canary-new-password", "former password": "canary-former-password" };
const odd = " '\"\\ pässwörd-✓\r\nPING\r\n";

interface Place {
  readonly port: number;
  readonly host?: string;
  readonly tls?: boolean;
}

/** Inputs of a verification, as they reach the host. */
function verification({ host = "127.0.0.1", port, tls = false }: Place, password: string, count: number): Properties {
  const salt = "salt";
  const current = { name: "password", value: password, mark: saltedMark(salt, password) };
  const former = { name: "password", mark: saltedMark(salt, canaries["former password"]) };
  const secret = { id: "db", of: "PasswordRotation", count, salt, current, ...(count > 1 && { former }) };
  const access = JSON.stringify({ ...secret, connection: { host, port, tls } });
  return { access, withinSeconds: 20, __provider: providerTexts.CredentialVerification };
}

const replying =
  (reply: string): Meet =>
  () => ({ reply });
const ok = replying("+OK");
/** A database with this password, as a Redis responds. */
const accepting =
  (password: string): Meet =>
  (command) => ({ reply: command === `AUTH ${password}` ? "+OK" : "-WRONGPASS invalid username-password pair" });

/** Where a verification finds a database. What a fixture starts ends with the test. */
type At = (fixture: Fixture) => Promise<Place>;
const served =
  (meet: Meet, tls?: Parameters<typeof certificate>[0]): At =>
  async (fixture) => {
    const { port } = fixture.closes(await RedisGate.alone(meet, tls && certificate(tls)));
    return { port, tls: tls !== undefined };
  };
const stuck: At = async (fixture) => ({ port: fixture.closes(await stuckListener()).port });

const failures: Record<string, { row: number; meet?: Meet; at?: At; says: RegExp }> = {
  "host not found": { row: 62, at: async () => ({ host: "db.invalid", port: 6379, tls: true }), says: /was not found/ },
  "connection refused": {
    row: 63,
    at: async () => ({ port: await freePort() }),
    says: /connection failed \(ECONNREFUSED\)/,
  },
  "expired certificate": { row: 64, at: served(ok, "expired"), says: /was not accepted \(CERT_HAS_EXPIRED\)/ },
  "no TLS there": {
    row: 64,
    at: async (fixture) => ({ ...(await served(ok)(fixture)), tls: true }),
    says: /TLS connection failed/,
  },
  "connect timeout": { row: 65, at: stuck, says: /timed out/ },
  "no response": { row: 65, meet: () => "silence", says: /did not respond in time|timed out/ },
  "the server is not a Redis": { row: 66, meet: replying("HTTP/1.1 400 Bad Request"), says: /not that of a Redis/ },
  "suspended database": {
    row: 69,
    meet: replying("-ERR database is suspended"),
    says: /error: ERR database is suspended/,
  },
  "new password refused": { row: 70, meet: accepting("other"), says: /new password is refused: WRONGPASS/ },
  "the server repeats the password": {
    row: 71,
    meet: (command) => ({ reply: `-ERR ${command}` }),
    says: /message not shown/,
  },
};
const expected = "fails, saves what was tried; 0 resets sent";
const trusting: FixtureOptions = { settings: () => ({ caFile }) };

function assertOutputs(outs: Properties, expected: Properties): void {
  const { verified, formerRefused } = outs;
  assert.deepEqual({ verified, formerRefused }, expected);
  assert.deepEqual(secretNames(outs), ["memory"]);
}

/** The first verification of a password fails. */
async function assertFails({ host, server }: Fixture, place: Place, says: RegExp): Promise<void> {
  const result = await host.create({ ...verification(place, canaries["new password"], 2), withinSeconds: 0.3 });
  const { message, outs } = expectKind("init error", result);
  assertOutputs(outs, { verified: false, formerRefused: undefined });
  const usual = [/rotation itself is saved/, /next `up` verifies again/, /(Check|Set|Renew|Require) .*\[REKEY_VERIF/];
  for (const pattern of [says, ...usual]) assert.match(message, pattern);
  const shown = JSON.stringify(withoutSecrets(result)) + host.said;
  assert.deepEqual(leaksOf(shown, canaries), []);
  assert.equal(server.requests.length, 0);
}

describe("faults: a verification", () => {
  for (const [fault, { row, meet = ok, at = served(meet), says }] of Object.entries(failures)) {
    testRow([row, fault, "verification", expected], async (fixture) => {
      await fixture.start(trusting);
      await assertFails(fixture, await at(fixture), says);
    });
  }

  testRow([64, "the proxy does not open a tunnel", "verification", expected], async (fixture) => {
    const proxy = fixture.closes(await Proxy.start({ answers: 502 }));
    const settings = () => ({ caFile, proxy: `http://127.0.0.1:${proxy.port}` });
    await fixture.start({ settings });
    await assertFails(fixture, await served(ok, "good")(fixture), /the proxy responded with 502/);
  });

  const special = "blanks, quotes, unicode and line breaks in the password";
  testRow([68, special, "verification", "passes"], async (fixture) => {
    const { host } = await fixture.start();
    const former = canaries["former password"];
    const server = fixture.closes(await RedisGate.alone(accepting(former)));
    const first = expectKind("done", await host.create(verification(server, former, 1)));
    server.meet = accepting(odd);
    server.commands.length = 0;
    const inputs = verification(server, odd, 2);
    const saved = { ...revealed(first.outs), __provider: inputs["__provider"] };
    const { outs } = expectKind("done", await host.update("verification", saved, inputs));
    assertOutputs(outs, { verified: true, formerRefused: true });
    const [current, wrong, second, ...more] = server.commands;
    assert.deepEqual([current, second, more], [`AUTH ${odd}`, `AUTH ${former}`, []]);
    assert.match(String(wrong), /^AUTH [\w-]{32}$/);
    assert.equal((await host.diff("verification", revealed(outs), inputs)).changes, false);
  });

  testRow([74, "TLS with rekey:caFile", "verification", "passes"], async (fixture) => {
    const { host } = await fixture.start(trusting);
    const password = canaries["new password"];
    const place = await served(accepting(password), "good")(fixture);
    expectKind("done", await host.create(verification(place, password, 2)));
  });

  testRow([75, "the engine is gone", "verification", "fails; nothing is contacted"], async (fixture) => {
    const { host } = await fixture.start();
    const server = fixture.closes(await RedisGate.alone(ok));
    await host.engine.close();
    const { message } = expectKind("failed", await host.create(verification(server, canaries["new password"], 2)));
    assert.match(message, /engine that requested it has ended.*rotation itself is saved/);
    assert.equal(server.connections, 0);
  });

  const again = "nothing more is contacted; verified again; 0 resets sent";
  testRow([77, "the engine is killed while it verifies", "verification, next up", again], async (fixture) => {
    const { host, server } = await fixture.start();
    const password = canaries["new password"];
    const database = fixture.closes(await RedisGate.alone(() => "silence"));
    const inputs = { ...verification(database, password, 2), withinSeconds: 120 };
    const verifying = host.create(inputs);
    await until(() => database.commands.length > 0);
    await host.engine.kill();
    await wait(freshnessMs + 5);
    const { connections } = database;
    // The host could try again now.
    database.cut();
    // The engine is gone, so that the result is not saved.
    assert.notEqual((await verifying).kind, "done");
    assert.equal(database.connections, connections);
    database.meet = accepting(password);
    const next = await fixture.startHost({});
    assertOutputs(expectKind("done", await next.create(inputs)).outs, { verified: true, formerRefused: undefined });
    assert.equal(server.requests.length, 0);
  });
});
