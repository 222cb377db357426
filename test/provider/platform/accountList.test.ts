import assert from "node:assert/strict";
import { listAccount } from "../../../provider/platform/accountList";
import { RejectedError, UnreadableError } from "../../../provider/platform/errors";
import { leftOut } from "../../../provider/platform/redact";
import { databasePassword } from "../../../provider/rotation/kinds/databasePassword";
import { vectorToken } from "../../../provider/rotation/kinds/indexToken";
import { clientOf, withRealSockets } from "./realSockets";
import { FakeRequester } from "../../support/fakeRequester";

const canary = "canary-password";
const list = { path: "/v2/redis/databases", advice: "Check the list." };
const one = { database_id: "db-1", database_name: "sessions", state: "active", creation_time: 1_752_451_200 };
const listing = (body: unknown, status = 200) => {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return new FakeRequester(() => ({ status, body: text }));
};
const listOf = (requester: FakeRequester) => listAccount(requester, databasePassword, list);

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
      requester.sent.map(({ method, path, query, idempotent }) => ({ method, path, query, idempotent })),
      [{ method: "GET", path: list.path, query: undefined, idempotent: true }],
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
      assert.equal(requester.secrets.quote(`no ${canary}`), leftOut);
    }
  });

  const size = 16 * 1024 * 1024;
  const filled = (entry: string) =>
    `[${Array(Math.floor(size / (entry.length + 1)))
      .fill(entry)
      .join()}]`;
  const manyFields = Array.from({ length: 1_000_000 }, (_, nth) => `"k${nth}":1`).join();
  const huge: Readonly<Record<string, string>> = {
    numbers: filled("1"),
    objects: filled("{}"),
    "objects after an entry": `[{"database_id":"a"},${filled("{ }").slice(1)}`,
    "credentials in one entry": `[{"a":${filled('{"token":"x"}')}}]`,
    "fields of one entry": `[{${manyFields}}]`,
    brackets: "[".repeat(size),
    "an unfinished text": `["${"a".repeat(size)}`,
  };
  for (const [what, body] of Object.entries(huge)) {
    it(`stops at the first entry that cannot be used, within a second of processor time: 16 MiB of ${what}`, async () => {
      const before = process.cpuUsage();
      await assert.rejects(listOf(listing(body)), UnreadableError);
      const { user, system } = process.cpuUsage(before);
      assert.ok(user + system < 1_000_000, `${(user + system) / 1000} ms`);
    });
  }

  const depth = 5_000;
  const unusable: Readonly<Record<string, { body: unknown; status?: number; says: RegExp }>> = {
    "text that is not JSON": { body: `<html>${canary}</html>`, says: /is not a list, as JSON, of databases/ },
    "half a list": { body: JSON.stringify([one]).slice(0, -2), says: /is not a list/ },
    nothing: { body: "", says: /is not a list/ },
    "an object around a part of the list": { body: { databases: [one], cursor: canary }, says: /is not a list/ },
    "a part of the content": { body: [one], status: 206, says: /has status 206, and not 200/ },
    "an entry that is not an object": { body: [one, canary], says: /entry \(number 2\): it is not an object/ },
    "an entry that is null": { body: [one, null], says: /entry \(number 2\): it is not an object/ },
    "an entry without an id": { body: [one, { password: canary }], says: /entry \(number 2\): it has no databaseId/ },
    "an id of null": { body: [{ ...one, database_id: null }], says: /entry \(number 1\): it has no databaseId/ },
    "an id that is a number": { body: [{ ...one, database_id: 7 }], says: /databaseId: expected a string/ },
    "an empty id": { body: [{ ...one, database_id: "" }], says: /its databaseId must not be empty/ },
    "an id that no path can contain": {
      body: [{ ...one, database_id: ".." }],
      says: /its databaseId must not be "\.\."/,
    },
    "an id that is not well-formed": {
      body: '[{"database_id":"a\\ud800"}]',
      says: /databaseId: not well-formed Unicode/,
    },
    "an id that Pulumi reserves": {
      body: [{ database_id: "04da6b54-80e4-46f7-96ec-b56ff0331ba9" }],
      says: /databaseId: a value that Pulumi reserves/,
    },
    "an id twice": {
      body: [one, { database_id: "db-2" }, { ...one, state: canary }],
      says: /contains the same databaseId twice \(entries 1 and 3\)/,
    },
    "an entry with two ids": {
      body: '[{"database_id":"db-1","database_id":"db-2"}]',
      says: /databaseId: sent twice/,
    },
    "an entry with two spellings of its id": {
      body: [{ database_id: "db-1", databaseId: "db-2" }],
      says: /databaseId: sent twice/,
    },
    "a field of another type": { body: [{ ...one, state: { is: canary } }], says: /state: expected a string/ },
    "a time that loses digits": {
      body: '[{"database_id":"a","creation_time":9223372036854775808}]',
      says: /creationTime: larger than a number can represent/,
    },
    "an entry that is nested too deeply": {
      body: `[${"[".repeat(depth)}${"]".repeat(depth)}]`,
      says: /entry \(number 1\): it is not an object/,
    },
  };
  for (const [what, { body, status, says }] of Object.entries(unusable)) {
    it(`is an error, never a part of the list: ${what}`, async () => {
      await assert.rejects(listOf(listing(body, status)), (error) => {
        assert.ok(error instanceof UnreadableError);
        assert.match(error.message, says);
        assert.match(error.message, /^Could not list the databases: .* Nothing was changed\. Check the list\. \[/);
        assert.ok(!error.message.includes("canary"), error.message);
        return true;
      });
    });
  }

  it("ignores what is nested too deeply in a field that is not shown", async () => {
    const deep = `[{"database_id":"db-1","future":${"[".repeat(depth)}${"]".repeat(depth)}}]`;
    assert.deepEqual(await listOf(listing(deep)), [{ databaseId: "db-1" }]);
  });

  describe("over a socket", () => {
    const { startServer } = withRealSockets();

    it("of thousands of databases is read, and one that is too large is an error", async () => {
      const entries = Array.from({ length: 20_000 }, (_, index) => ({
        database_id: `db-${index}`,
        password: `p-${index}`,
      }));
      const bodies = [JSON.stringify(entries), `["${"x".repeat(17 * 1024 * 1024)}"]`];
      const server = await startServer({ bodyOf: () => bodies.shift() ?? "" });
      const client = clientOf(server.url, { databaseListPath: list.path });
      assert.equal((await client.list(databasePassword)).length, entries.length);
      await assert.rejects(
        client.list(databasePassword),
        /list the databases: the response was too large .* Nothing was/,
      );
    });

    it("that does not exist names the settings of its path, or the address", async () => {
      const server = await startServer({ behaviour: ({ answer }) => answer(404) });
      const client = clientOf(server.url, { databaseListPath: list.path });
      for (const { kind, advice } of [
        { kind: databasePassword, advice: "Check rekey:baseUrl and rekey:databaseListPath." },
        { kind: vectorToken, advice: "Check rekey:baseUrl." },
      ]) {
        await assert.rejects(client.list(kind), (error) => {
          assert.ok(error instanceof RejectedError);
          assert.match(error.happened, /responded with 404.*; it may not have this operation$/);
          assert.equal(error.advice, `${advice} The API key may be of another team.`);
          return true;
        });
      }
    });

    it("without a path is an error that names the setting", async () => {
      const listed = clientOf("http://127.0.0.1:1").list(databasePassword);
      await assert.rejects(listed, /rekey:databaseListPath is not set/);
    });
  });
});
