import assert from "node:assert/strict";
import { accessTo, targetsFrom, targetsOf, targetsText } from "../../../provider/verification/targets";

const record = { endpoint: "db.example.com", port: 6400, tls: true };
const database = { databaseId: "db-1", record };
const at = { host: "db.example.com", port: 6400, tls: true };

describe("verification: targets", () => {
  it("authenticate with the password if it is known, else with the REST token over HTTPS, else not", () => {
    const access = (connection: object, known: object) => accessTo(database, connection, known, undefined);
    assert.deepEqual(access({}, { password: "p", restToken: "t" }), { ...at, credential: { password: "p" } });
    const user = { username: "u-db-1", password: "p" };
    assert.deepEqual(access({ username: "u-{id}" }, { password: "p" }), { ...at, credential: user });
    assert.deepEqual(access({}, { restToken: "t" }), { ...at, port: 443, credential: { restToken: "t" } });
    const local = { host: "localhost", port: 8079, tls: false };
    assert.deepEqual(access(local, { restToken: "t" }), { ...local, credential: { restToken: "t" } });
    assert.equal(access({}, {}), undefined);
  });

  it("of an index need a URL with TLS, but only if the token is known and confirmed", () => {
    const of = (outputs: object) =>
      targetsFrom("VectorTokenRotation", { indexId: "idx", rotationCount: 1, ...outputs }, () => undefined);
    const known = { token: "t", outcome: "reset", record: { endpoint: "http://index.example.com" } };
    assert.throws(() => of(known), /rotation cannot be verified: the platform's record of vector index "idx" has no/);
    for (const unknown of [{ outcome: "unknown" }, { token: undefined }]) {
      assert.equal(of({ ...known, ...unknown })[0]?.access, undefined);
    }
  });

  it("are the databases of a fleet, with access to those whose password is known and confirmed", () => {
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
  });
});
