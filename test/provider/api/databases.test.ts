import assert from "node:assert/strict";
import { Databases } from "../../../provider/api/databases";
import { InputError, UnconfirmedError } from "../../../provider/api/errors";
import { databaseText } from "../../support/databaseText";
import { FakeRequester } from "../../support/fakeRequester";

const canary = "canary-new-password";

describe("api: databases", () => {
  it("resets with one POST that must not be repeated", async () => {
    const requester = new FakeRequester(() => ({ body: databaseText({ password: canary }) }));
    const { record, credentials } = await new Databases(requester).resetPassword("db");
    assert.deepEqual([record.databaseId, credentials.password], ["db", canary]);
    const [{ method, path, idempotent, query, purpose, consequences, secrets } = assert.fail(), ...more] =
      requester.sent;
    assert.deepEqual([method, path, idempotent, query], ["POST", "/v2/keyvalue/reset-password/db", false, undefined]);
    assert.equal(purpose, 'reset the password of database "db"');
    assert.deepEqual(consequences, {
      "not sent": "The password was not changed: nothing was sent.",
      rejected: "The password was not changed.",
      "maybe applied": "The password may have been changed, and the new one is not known.",
    });
    assert.deepEqual(secrets, []);
    assert.equal(more.length, 0);
  });

  it("uses the path of the settings, the id encoded", async () => {
    const requester = new FakeRequester(() => ({ body: '{"password":"p"}' }));
    await new Databases(requester, "/v2/redis/{id}/reset").resetPassword("a/../b ü");
    assert.equal(requester.sent[0]?.path, "/v2/redis/a%2F..%2Fb%20%C3%BC/reset");
  });

  it("sends nothing for an id that no path can carry", async () => {
    const requester = new FakeRequester(() => ({}));
    for (const id of ["", " ", ".", "..", "\udc00"]) {
      await assert.rejects(new Databases(requester).resetPassword(id), InputError);
    }
    assert.deepEqual(requester.sent, []);
  });

  const unusable: readonly (readonly [string, number, string])[] = [
    ["201 and nothing", 201, ""],
    ["202", 202, databaseText({ password: canary })],
    ["204", 204, ""],
    ["206", 206, databaseText({ password: canary })],
    ["200 and nothing", 200, ""],
    ["200 and HTML", 200, `<html>${canary}</html>`],
    ["200 and half a record", 200, databaseText({ password: canary }).slice(0, -1)],
    ["200 and no field that is known", 200, `{"ok":true,"new":"${canary}"}`],
    ["200 and a list", 200, `[${databaseText({ password: canary })}]`],
    ["200 and the record of another database", 200, databaseText({ database_id: "other", password: canary })],
  ];
  for (const [what, status, body] of unusable) {
    it(`is unconfirmed by ${what}; the error tells nothing of the body`, async () => {
      await assert.rejects(new Databases(new FakeRequester(() => ({ status, body }))).resetPassword("db"), (error) => {
        assert.ok(error instanceof UnconfirmedError);
        assert.deepEqual([error.status, error.delivery], [status, "maybe applied"]);
        const why = what.endsWith("another database")
          ? "it sent the record of another database"
          : "its answer is not a";
        assert.match(
          error.message,
          new RegExp(`answered ${status}, but ${why}.* may have been changed.*rekey:baseUrl`),
        );
        assert.ok(!error.message.includes(canary));
        return true;
      });
    });
  }

  it("is confirmed by a 201 with a record", async () => {
    const requester = new FakeRequester(() => ({ status: 201, body: databaseText({ password: canary }) }));
    const { credentials, record } = await new Databases(requester).resetPassword("db");
    assert.deepEqual([credentials.password, record.databaseId], [canary, "db"]);
  });

  it("is confirmed by a record whose own id cannot be read", async () => {
    const requester = new FakeRequester(() => ({ body: databaseText({ password: canary }).replace(`"db"`, "7") }));
    const { credentials, problems } = await new Databases(requester).resetPassword("db");
    assert.equal(credentials.password, canary);
    assert.deepEqual(problems, ["databaseId: expected a string"]);
  });
});
