import assert from "node:assert/strict";
import { accessTo, targetsOf, targetsText } from "../../../provider/verification/targets";
import { connectionIn } from "../../../provider/rotation/connection";
import { endpointOf, urlFor, usernameFor } from "../../../provider/rotation/endpoint";
import { checkConnection } from "../../../provider/engine/plugin/outputs";
import { urlsOf } from "../../../provider/rotation/fleet";

const record = { endpoint: "db.example.com", port: 6400, tls: true };
const database = { databaseId: "db-1", record };
const at = { host: "db.example.com", port: 6400, tls: true };

describe("rotation: connections", () => {
  it("authenticate with the password if it is known, else with the REST token over HTTPS, else not", () => {
    const access = (connection: object, known: object) => accessTo(database, connection, known, undefined);
    assert.deepEqual(access({}, { password: "p", restToken: "t" }), { ...at, credential: { password: "p" } });
    const user = { username: "u-db-1", password: "p" };
    assert.deepEqual(access({ username: "u-{id}" }, { password: "p" }), { ...at, credential: user });
    assert.deepEqual(access({}, { restToken: "t" }), { ...at, port: 443, credential: { restToken: "t" } });
    const local = { host: "localhost", port: 8079, tls: false };
    assert.deepEqual(access(local, { restToken: "t" }), { ...local, credential: { restToken: "t" } });
    assert.equal(access({}, {}), undefined);
    assert.equal(urlFor(database, {}, undefined, undefined), undefined);
  });

  for (const databaseId of ["$&", "$`", "$'", "$$", "{id}", "{endpoint}"]) {
    it(`have the id ${databaseId} in the username as it is written`, () => {
      assert.equal(usernameFor({ databaseId }, { username: "u-{id}-{id}" }), `u-${databaseId}-${databaseId}`);
    });
  }

  it("have the id and the endpoint in the host as they are written", () => {
    const hostOf = (databaseId: string, endpoint: string) =>
      endpointOf({ databaseId, record: { endpoint, port: 1 } }, { host: "x-{id}.{endpoint}" }, undefined).host;
    assert.equal(hostOf("db", "e"), "x-db.e");
    for (const [id, endpoint] of [
      ["$`", "e"],
      ["db", "$`"],
      ["db", "{id}"],
    ] as const) {
      assert.throws(() => hostOf(id, endpoint), /host must be a host name/, `${id} ${endpoint}`);
    }
  });

  it("are checked as far as they are known", () => {
    const reasonsWith = (...unknown: string[]) =>
      checkConnection({ host: "a b", port: 0 }, new Set(unknown), () => undefined).map(({ reason }) => reason);
    assert.match(reasonsWith().join(), /^host must be a host name/);
    assert.match(reasonsWith("host").join(), /^port must be/);
    assert.deepEqual(reasonsWith("host", "port"), []);
  });

  it("are checked with the setting unless the host is not known", () => {
    const check = (...unknown: string[]) =>
      checkConnection({ tls: false }, new Set(unknown), () => ({ value: "db.example.com", source: "configuration" }));
    assert.deepEqual(
      check().map(({ property }) => property),
      ["tls"],
    );
    assert.deepEqual(check("host"), []);
  });

  it("leave out what is null, and pass on an error in the setting", () => {
    assert.deepEqual(connectionIn({ host: "h", port: null, username: undefined, other: 1 }), { host: "h" });
    const fail = () => assert.fail("the setting cannot be used");
    assert.throws(() => checkConnection({ tls: false }, new Set(), fail), /the setting cannot be used/);
  });

  it("of a fleet are those of the databases with a known and confirmed password", () => {
    const reset = { rotatedAt: "2026-01-01", rotationCount: 2, outcome: "reset" } as const;
    const databases = {
      c: { databaseId: "db-1", ...reset },
      b: { databaseId: "db-2", ...reset, outcome: "unknown" as const },
      a: { databaseId: "db-3", ...reset },
    };
    const fleet = {
      databases,
      credentials: { c: { password: "p" }, b: { password: "old" } },
      records: { c: { record } },
    };
    const urls = urlsOf(fleet, ({ databaseId, record: its }, password) => password && `${databaseId} ${its?.port}`);
    assert.deepEqual(urls, { c: "db-1 6400", b: "db-2 undefined" });
    const targets = targetsOf(fleet, (name, { record: its }, { password }) => ({
      ...at,
      port: its?.port ?? 0,
      credential: { password: `${name} ${password}` },
    }));
    const target = (name: "a" | "b" | "c", port: number, password: string) => {
      const { databaseId, rotatedAt, rotationCount } = databases[name];
      return { databaseId, name, rotatedAt, rotationCount, access: { ...at, port, credential: { password } } };
    };
    const expected = [target("c", 6400, "c p"), target("b", 0, "b undefined"), target("a", 0, "a undefined")];
    assert.deepEqual(targets, expected);
    assert.equal(targetsText(targets.toReversed()), JSON.stringify(expected));
    assert.deepEqual(
      urlsOf({ databases, credentials: {} }, () => "url"),
      { c: "url", b: "url", a: "url" },
    );
  });
});
