import assert from "node:assert/strict";
import { databasePassword } from "../../../provider/rotation/kinds/databasePassword";
import { type Requester } from "../../../provider/platform/http";
import { SecretOperations } from "../../../provider/platform/secretOperations";
import { RejectedError, UnconfirmedError, UnreadableError } from "../../../provider/platform/errors";
import { databaseText } from "../../support/platformBodies";
import { FakeRequester } from "../../support/fakeRequester";

const operations = (requester: Requester) =>
  new SecretOperations(requester, databasePassword, {
    reset: "/v2/redis/{id}/reset",
    read: "/v2/redis/database/{id}",
  });
const canary = "canary-new-password";
const recordText = databaseText({ password: canary });

describe("platform: the operations on a database", () => {
  it("reset with one POST that must not be repeated, and read with one GET that may be", async () => {
    const requester = new FakeRequester(() => ({ body: databaseText({ database_id: "a/b ü", password: canary }) }));
    await operations(requester).reset("a/b ü");
    await operations(requester).read("a/b ü");
    await operations(requester).read("a/b ü", { hideCredentials: true });
    const get = {
      method: "GET",
      path: "/v2/redis/database/a%2Fb%20%C3%BC",
      ownConnection: false,
      purpose: 'read database "a/b ü"',
    };
    assert.deepEqual(requester.sent, [
      {
        method: "POST",
        path: "/v2/redis/a%2Fb%20%C3%BC/reset",
        idempotent: false,
        ownConnection: false,
        purpose: 'reset the password of database "a/b ü"',
        consequences: {
          "not sent": "The password was not changed: nothing was sent.",
          rejected: "The password was not changed.",
          "maybe applied": "The password may have been changed, and the new one is unknown.",
        },
      },
      get,
      { ...get, query: { credentials: "hide" } },
    ]);
  });

  /** Responses that confirm no reset, and of which a read learns nothing; none is shown. Rows 14 and 15 have more. */
  const unusable: Readonly<Record<string, readonly [status: number, body: string]>> = {
    "a 202 with a record": [202, recordText],
    "a 204": [204, ""],
    "half a record": [200, recordText.slice(0, -1)],
    "no known field": [200, `{"ok":true,"new":"${canary}"}`],
    "a list": [200, `[${recordText}]`],
    "the record of another database": [200, databaseText({ database_id: "other", password: canary })],
  };
  for (const [title, [status, body]] of Object.entries(unusable)) {
    it(`are not confirmed by ${title}, and show nothing of it`, async () => {
      const requester = new FakeRequester(() => ({ status, body }));
      await assert.rejects(operations(requester).reset("db"), (error) => {
        assert.ok(error instanceof UnconfirmedError && error.delivery === "maybe applied");
        assert.equal(/record of another database/.test(error.message), body.includes("other"));
        assert.match(error.message, new RegExp(` ${status}, .* may have been changed.* Check the address\\. `));
        assert.ok(!error.message.includes(canary));
        return true;
      });
      await assert.rejects(operations(requester).read("db"), (error) => {
        assert.ok(error instanceof UnreadableError);
        assert.match(
          error.message,
          /the response is (not )?the record of (a|another) database.*Nothing was changed\./s,
        );
        return true;
      });
    });
  }

  it("know the credentials of every response from then on, also of one that cannot be used", async () => {
    for (const { status = 200, id = "a/b" } of [{}, { status: 202 }, { id: "other" }]) {
      for (const operation of ["read", "reset"] as const) {
        const body = databaseText({ database_id: id, password: canary, database_name: "caches" });
        const requester = new FakeRequester(() => ({ status, body }));
        await Promise.allSettled([operations(requester)[operation]("a/b")]);
        assert.equal(requester.secrets.redact(`it is ${canary}, caches`), "it is …, caches");
      }
    }
  });

  it("are confirmed by a 201, and by a record whose own id cannot be read", async () => {
    const created = await operations(new FakeRequester(() => ({ status: 201, body: recordText }))).reset("db");
    assert.deepEqual([created.credentials.password, created.record.databaseId], [canary, "db"]);
    const odd = new FakeRequester(() => ({ body: recordText.replace(`"db"`, "7") }));
    const { credentials, problems } = await operations(odd).reset("db");
    assert.deepEqual([credentials.password, problems], [canary, ["databaseId: expected a string"]]);
  });

  it("explain what the id is if the platform does not know it", async () => {
    const consequences = { "not sent": "Unsent.", rejected: "Unchanged.", "maybe applied": "Perhaps changed." };
    const facts = { purpose: "do it", method: "POST", url: "https://platform.test/x", consequences };
    for (const status of [404, 405, 403]) {
      const rejection = { happened: "no", advice: "Check the path.", status, inJson: true, words: "no" };
      const requester = new FakeRequester(() => new RejectedError(facts, rejection));
      for (const operation of ["read", "reset"] as const) {
        const error = await operations(requester)
          [operation]("db")
          .catch((thrown: unknown) => thrown);
        assert.ok(error instanceof RejectedError);
        const which = " For Upstash, the id is the UUID that the console shows, not the name.";
        assert.equal(error.advice, `Check the path.${status === 404 ? which : ""}`);
        assert.deepEqual([error.happened, error.status, error.words], ["no", status, "no"]);
      }
    }
  });
});
