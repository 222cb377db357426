import assert from "node:assert/strict";
import { listAccount, showsEmptyToken } from "../../../provider/platform/accountList";
import { RequestError } from "../../../provider/domain/errors";
import { databasePassword, queueToken, vectorToken } from "../../../provider/domain/secretKind";
import { FakeRequester } from "../../support/fakeRequester";

const canary = "canary-password";
const path = "/v2/redis/databases";
const one = { database_id: "db-1", database_name: "sessions", state: "active", creation_time: 1_752_451_200 };
const listing = (body: unknown, status = 200) => {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return new FakeRequester(() => ({ status, body: text }));
};
const listOf = (requester: FakeRequester) => listAccount(requester, databasePassword, path);

describe("platform: the list of an account", () => {
  it("sends one GET, which may be repeated, and reads only the fields that a list shows", async () => {
    const more = { region: "global", primary_region: "eu-west-1", read_regions: ["us-east-1"], port: 6379, other: 1 };
    const requester = listing([{ ...one, ...more, password: canary, rest_token: "t" }, { databaseId: "db-2" }]);
    assert.deepEqual(await listOf(requester), [
      {
        databaseId: "db-1",
        databaseName: "sessions",
        state: "active",
        region: "global",
        primaryRegion: "eu-west-1",
        readRegions: ["us-east-1"],
        creationTime: 1_752_451_200,
      },
      { databaseId: "db-2" },
    ]);
    assert.deepEqual(
      requester.sent.map(({ method, path, query }) => ({ method, path, query })),
      [{ method: "GET", path, query: undefined }],
    );
  });

  it("may be empty, and leaves out a field that is null", async () => {
    for (const empty of [[], null]) assert.deepEqual(await listOf(listing(empty)), [], "servers in Go send null");
    assert.deepEqual(await listOf(listing([{ ...one, database_name: null }])), [
      { databaseId: "db-1", state: "active", creationTime: 1_752_451_200 },
    ]);
  });

  it("lets no later message show a credential of the list, however deep it is", async () => {
    for (const more of [{ password: canary }, { more: [{ rest_token: canary }] }]) {
      const requester = listing([{ ...one, ...more }]);
      await listOf(requester);
      assert.equal(requester.secrets.redact(`no ${canary}`), "no …");
    }
  });

  it("shows whether an API key sees empty tokens only, as one does that is read-only", async () => {
    const shows = (body: unknown) => showsEmptyToken(listing(body), queueToken, "/v2/qstash/users");
    const user = { id: "u1", token: "" };
    assert.deepEqual(await Promise.all([[user], [{ id: "u2" }, user]].map(shows)), [true, true]);
    assert.deepEqual(await Promise.all([[], [{ id: "u1" }], [{ ...user, token: "t" }], [""]].map(shows)), [
      false,
      false,
      false,
      false,
    ]);
  });

  /** A quarter of what is read: longer ones would take the test more than what they show is worth. */
  const size = 4 * 1024 * 1024;
  const filled = (entry: string) =>
    `[${Array<string>(Math.floor(size / (entry.length + 1)))
      .fill(entry)
      .join()}]`;
  const huge: Readonly<Record<string, string>> = {
    numbers: filled("1"),
    "objects after an entry": `[{"database_id":"a"},${filled("{ }").slice(1)}`,
    "credentials in one entry": `[{"a":${filled('{"token":"x"}')}}]`,
    "fields of one entry": `[{${Array.from({ length: 250_000 }, (_, nth) => `"k${nth}":1`).join()}}]`,
    brackets: "[".repeat(size),
  };
  for (const [what, body] of Object.entries(huge)) {
    it(`is an error after seconds at most, not a hang: 4 MiB of ${what}`, async () => {
      const before = process.cpuUsage();
      await assert.rejects(listOf(listing(body)), RequestError);
      const { user, system } = process.cpuUsage(before);
      assert.ok(user + system < 30_000_000, `${(user + system) / 1000} ms`);
    });
  }

  const nested = `${"[".repeat(5_000)}${"]".repeat(5_000)}`;
  /** A body, and what is said of it. */
  const unusable: Readonly<Record<string, readonly [body: unknown, says: RegExp]>> = {
    "text that is not JSON": [`<html>${canary}</html>`, /is not JSON/],
    "half a list": [JSON.stringify([one]).slice(0, -2), /is not JSON/],
    "an object around a part of the list": [{ databases: [one], cursor: canary }, /is not a list of databases/],
    "an entry that is not an object": [[one, canary], /\(entry 2: it is not an object\)/],
    "an entry that is nested too deeply": [`[${nested}]`, /\(entry 1: it is not an object\)/],
    "an entry without an id": [[one, { password: canary }], /\(entry 2: it has no databaseId\)/],
    "an id that is a number": [[{ ...one, database_id: 7 }], /databaseId: expected a string/],
    "a field of another type": [[{ ...one, state: { is: canary } }], /state: expected a string/],
    "a time that loses digits": [
      '[{"database_id":"a","creation_time":9223372036854775808}]',
      /creationTime: larger than a number can represent/,
    ],
  };
  it("is an error, never a part of the list", async () => {
    for (const [what, [body, says]] of Object.entries(unusable)) {
      await assert.rejects(listOf(listing(body)), ({ message, delivery }: RequestError) => {
        assert.match(message, says, what);
        assert.match(message, /^Could not list the databases: .* Nothing was changed\. Check rekey:databaseListPath /);
        assert.equal(delivery, "responded");
        assert.ok(!message.includes("canary"), message);
        return true;
      });
    }
  });

  it("names no setting of databases in the error for indexes", async () => {
    const listed = listAccount(listing("<html>"), vectorToken, "/v2/vector/index");
    await assert.rejects(listed, /^RequestError: Could not list the vector indexes: .* Check rekey:baseUrl\./);
  });

  it("is an error if it is a part of the content, and ignores what is nested too deeply in a field that is not shown", async () => {
    await assert.rejects(listOf(listing([one], 206)), /206, but the response does not have status 200/);
    assert.deepEqual(await listOf(listing(`[{"database_id":"db-1","future":${nested}}]`)), [{ databaseId: "db-1" }]);
  });
});
