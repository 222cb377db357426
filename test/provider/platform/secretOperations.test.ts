import assert from "node:assert/strict";
import { type Requester } from "../../../provider/platform/http";
import { SecretOperations } from "../../../provider/platform/secretOperations";
import { databasePassword } from "../../../provider/domain/secretKind";
import { FakeRequester } from "../../support/fakeRequester";
import { databaseText } from "../../support/platformBodies";
import { assertFields } from "../../support/results";

const operations = (requester: Requester) =>
  new SecretOperations(requester, databasePassword, { reset: "/v2/redis/{id}/reset", read: "/v2/redis/{id}" });
const canary = "canary-new-password";
const recordText = databaseText({ password: canary });

describe("platform: the operations on a database", () => {
  it("reset with one POST that must not be repeated, and read with one GET that may be", async () => {
    const requester = new FakeRequester(() => ({ body: databaseText({ database_id: "a/b ü", password: canary }) }));
    await operations(requester).reset("a/b ü");
    await operations(requester).read("a/b ü");
    const common = { newConnection: false, idempotent: undefined, query: undefined, consequences: undefined };
    const get = { ...common, method: "GET", path: "/v2/redis/a%2Fb%20%C3%BC", purpose: 'read database "a/b ü"' };
    const post = {
      ...common,
      method: "POST",
      path: "/v2/redis/a%2Fb%20%C3%BC/reset",
      idempotent: false,
      purpose: 'reset the password of database "a/b ü"',
      consequences: {
        unchanged: "The password was not changed.",
        unknown: "The password may have been changed, and the new one is unknown.",
      },
    };
    const expected = [post, get];
    assert.equal(requester.sent.length, expected.length);
    for (const [nth, request] of requester.sent.entries()) assertFields(request, expected[nth] ?? {});
  });

  it("are confirmed by a 201, and by a record whose own id cannot be read", async () => {
    const created = await operations(new FakeRequester(() => ({ status: 201, body: recordText }))).reset("db");
    assert.deepEqual([created.credentials.password, created.record.databaseId], [canary, "db"]);
    const odd = new FakeRequester(() => ({ body: recordText.replace(`"db"`, "7") }));
    const { credentials, problems } = await operations(odd).reset("db");
    assert.deepEqual([credentials.password, problems], [canary, ["databaseId: expected a string"]]);
  });

  const uuid = "96ad0856-03b1-4ee7-9666-e81abd0349e1";
  for (const { asked, shown, isSame } of [
    { asked: uuid, shown: uuid.toUpperCase(), isSame: true },
    { asked: uuid.toUpperCase(), shown: uuid, isSame: true },
    { asked: "sessions", shown: "Sessions", isSame: false },
    { asked: uuid, shown: uuid.replace("9", "8"), isSame: false },
  ]) {
    it(`take the record of ${shown} for ${isSame ? "that" : "another one than that"} of ${asked}`, async () => {
      for (const operation of ["reset", "read"] as const) {
        const requester = new FakeRequester(() => ({ body: databaseText({ database_id: shown }), isReused: true }));
        const result = operations(requester)[operation](asked);
        if (!isSame) await assert.rejects(result, /the record of another database/);
        else assert.equal((await result).isUnattributed, undefined);
      }
    });
  }

  it("return a record without an id over a kept connection for a reset only, and mark it", async () => {
    const body = `{"password":"${canary}"}`;
    for (const isReused of [true, false]) {
      const requester = new FakeRequester(() => ({ body, isReused }));
      const { credentials, isUnattributed } = await operations(requester).reset("db");
      assert.deepEqual([credentials.password, isUnattributed], [canary, isReused || undefined]);
      const read = operations(requester).read("db");
      if (isReused) await assert.rejects(read, /a record without an id, perhaps that of another request/);
      else assert.equal((await read).isUnattributed, undefined);
    }
  });

  it("reset on a connection of their own only until a response has shown the id", async () => {
    let body = `{"password":"${canary}"}`;
    const requester = new FakeRequester(() => ({ body }));
    const database = operations(requester);
    for (const next of [recordText, recordText, `{"password":"${canary}"}`]) {
      await database.reset("db", { newConnection: true });
      body = next;
    }
    assert.deepEqual(
      requester.sent.map(({ newConnection }) => newConnection),
      [true, true, false],
    );
  });
});
