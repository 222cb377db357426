import assert from "node:assert/strict";
import { databasePassword } from "../../../provider/rotation/kinds/databasePassword";
import { type Requester } from "../../../provider/platform/http";
import { SecretOperations } from "../../../provider/platform/secretOperations";
import { RejectedError, UnconfirmedError, UnreadableError } from "../../../provider/platform/errors";
import { databaseText } from "../../support/platformBodies";
import { FakeRequester } from "../../support/fakeRequester";

const paths = { reset: "/v2/keyvalue/reset-password/{id}", read: "/v2/redis/database/{id}" };
const operations = (requester: Requester, changed = {}) =>
  new SecretOperations(requester, databasePassword, { ...paths, ...changed });
const canary = "canary-new-password";
const consequences = { "not sent": "Unsent.", rejected: "Unchanged.", "maybe applied": "Perhaps changed." };
const recordText = databaseText({ password: canary });

describe("api: databases", () => {
  it("resets with one POST that must not be repeated", async () => {
    const requester = new FakeRequester(() => ({ body: recordText }));
    await operations(requester).reset("db");
    assert.deepEqual(requester.sent, [
      {
        method: "POST",
        path: "/v2/keyvalue/reset-password/db",
        idempotent: false,
        ownConnection: false,
        purpose: 'reset the password of database "db"',
        consequences: {
          "not sent": "The password was not changed: nothing was sent.",
          rejected: "The password was not changed.",
          "maybe applied": "The password may have been changed, and the new one is unknown.",
        },
      },
    ]);
  });

  it("uses the path of the settings, and encodes the id", async () => {
    const requester = new FakeRequester(() => ({ body: '{"password":"p"}' }));
    await operations(requester, { reset: "/v2/redis/{id}/reset" }).reset("a/../b ü");
    assert.equal(requester.sent[0]?.path, "/v2/redis/a%2F..%2Fb%20%C3%BC/reset");
  });

  const unusable: readonly (readonly [title: string, status: number, body: string])[] = [
    ["without a body", 201, ""],
    ["whatever its body", 202, recordText],
    ["whatever its body", 204, ""],
    ["whatever its body", 206, recordText],
    ["without a body", 200, ""],
    ["with HTML", 200, `<html>${canary}</html>`],
    ["with half a record", 200, recordText.slice(0, -1)],
    ["without a known field", 200, `{"ok":true,"new":"${canary}"}`],
    ["with a list", 200, `[${recordText}]`],
    ["with the record of another database", 200, databaseText({ database_id: "other", password: canary })],
  ];
  for (const [title, status, body] of unusable) {
    it(`is unconfirmed by a ${status} ${title}; the error contains nothing of it`, async () => {
      await assert.rejects(operations(new FakeRequester(() => ({ status, body }))).reset("db"), (error) => {
        assert.ok(error instanceof UnconfirmedError);
        assert.deepEqual({ status: error.status, delivery: error.delivery }, { status, delivery: "maybe applied" });
        assert.equal(/record of another database/.test(error.message), body.includes("other"));
        assert.match(error.message, new RegExp(` ${status}, .* may have been changed.* Check the address\\. `));
        assert.ok(!error.message.includes(canary));
        return true;
      });
    });
  }

  for (const status of [200, 201]) {
    it(`is confirmed by a ${status} with a record`, async () => {
      const requester = new FakeRequester(() => ({ status, body: recordText }));
      const { credentials, record } = await operations(requester).reset("db");
      assert.deepEqual({ ...credentials, id: record.databaseId }, { password: canary, id: "db" });
    });
  }

  it("is confirmed by a record whose own id cannot be read", async () => {
    const requester = new FakeRequester(() => ({ body: recordText.replace(`"db"`, "7") }));
    const { credentials, problems } = await operations(requester).reset("db");
    assert.equal(credentials.password, canary);
    assert.deepEqual(problems, ["databaseId: expected a string"]);
  });

  it("explains what the id is if the platform does not know it", async () => {
    for (const [status, isExplained] of [
      [404, true],
      [405, false],
      [403, false],
    ] as const) {
      const facts = { purpose: "do it", method: "POST", url: "https://platform.test/x", consequences };
      const rejection = { happened: "no", advice: "Check the path.", status, inJson: true, words: "no" };
      const requester = new FakeRequester(() => new RejectedError(facts, rejection));
      for (const sent of [operations(requester).reset("db"), operations(requester).read("db")]) {
        const error = await sent.catch((thrown: unknown) => thrown);
        assert.ok(error instanceof RejectedError);
        const which = " For Upstash, the id is the UUID that the console shows, not the name.";
        assert.equal(error.advice, `Check the path.${isExplained ? which : ""}`);
        assert.deepEqual([error.happened, error.status, error.words], ["no", status, "no"]);
      }
    }
  });

  const databasePath = "/v2/redis/database/{id}";
  const readWith = (requester: FakeRequester, options?: Parameters<SecretOperations["read"]>[1]) =>
    operations(requester, { read: databasePath }).read("a/b", options);

  it("reads with one GET that may be repeated, and changes nothing", async () => {
    const requester = new FakeRequester(() => ({ body: databaseText({ database_id: "a/b", password: canary }) }));
    const { credentials } = await readWith(requester);
    assert.deepEqual(credentials, { password: canary });
    await readWith(requester, { hideCredentials: true, deadlineMs: 5 });
    const nothingChanged = "Nothing was changed.";
    const request = {
      method: "GET",
      path: "/v2/redis/database/a%2Fb",
      idempotent: true,
      ownConnection: false,
      deadlineMs: undefined,
      purpose: 'read database "a/b"',
      consequences: { "not sent": nothingChanged, rejected: nothingChanged, "maybe applied": nothingChanged },
    };
    const hidden = { ...request, query: { credentials: "hide" }, deadlineMs: 5 };
    assert.deepEqual(requester.sent, [request, hidden]);
  });

  it("knows the credentials of every response from then on, also of one that cannot be used", async () => {
    for (const { status = 200, id = "a/b" } of [{}, { status: 202 }, { id: "other" }]) {
      const body = databaseText({ database_id: id, password: canary, database_name: "caches" });
      const both = [readWith, (requester: FakeRequester) => operations(requester).reset("a/b")];
      for (const operation of both) {
        const requester = new FakeRequester(() => ({ status, body }));
        await Promise.allSettled([operation(requester)]);
        assert.equal(requester.secrets.redact(`it is ${canary}`), "it is …");
        assert.equal(requester.secrets.redact("caches"), "caches");
      }
    }
  });

  const unreadable: readonly { readonly status: number; readonly body: string; readonly why: RegExp }[] = [
    { status: 200, body: "[]", why: /the response is not the record of a database/ },
    { status: 206, body: databaseText({ database_id: "a/b" }), why: /the response is not the record of a database/ },
    {
      status: 200,
      body: databaseText({ database_id: "other" }),
      why: /the response is the record of another database/,
    },
  ];
  for (const { status, body, why } of unreadable) {
    it(`cannot read a ${status} with ${body.slice(0, 30)}`, async () => {
      await assert.rejects(readWith(new FakeRequester(() => ({ status, body }))), (error) => {
        assert.ok(error instanceof UnreadableError);
        assert.match(error.message, why);
        assert.match(error.message, /Nothing was changed\./);
        return true;
      });
    });
  }
});
