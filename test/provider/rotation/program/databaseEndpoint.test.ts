import assert from "node:assert/strict";
import fc from "fast-check";
import { type ClientEndpoint } from "../../../../provider/domain/endpoint";
import { InputError } from "../../../../provider/domain/errors";
import { endpointOf, plainTextProblem, usernameFor } from "../../../../provider/rotation/program/databaseEndpoint";
import { type FoundSetting } from "../../../../provider/settings/table";
import { fieldsIn, tableOf } from "../tables";

const preset: FoundSetting = { value: "{endpoint}.upstash.io", source: "preset" };
const settingIn = (cell: string): FoundSetting | undefined =>
  cell === "" ? undefined : cell === "preset" ? preset : { value: cell, source: "configuration" };

describe("databaseEndpoint", () => {
  /** A record is the usual one with other fields, unless it has only those of the cell. */
  const resolve = (record: string, given: string, setting: string): ClientEndpoint => {
    const fields = fieldsIn(record.replace(/^(only|none)/, ""));
    const usual = record.startsWith("only") ? {} : { endpoint: "cache.example.com", port: 6379, tls: true };
    const database = { databaseId: "db-1", ...(record !== "none" && { record: { ...usual, ...fields } }) };
    return endpointOf(database, fieldsIn(given), settingIn(setting));
  };

  const endpoints = tableOf(
    ["title", "record", "given", "setting", "expected"],
    `
    is that of the record                                |                                 |                  |                 | cache.example.com 6379 TLS
    has the given host and port                          |                                 | host: h, port: 1 |                 | h 1 TLS
    uses TLS even if the record does not                 | tls: false                      |                  |                 | cache.example.com 6379 TLS
    has no TLS on a loopback host if the record has none | endpoint: 127.0.0.1, tls: false |                  |                 | 127.0.0.1 6379
    has TLS on a loopback host if that is asked for      | endpoint: 127.0.0.1, tls: false | tls: true        |                 | 127.0.0.1 6379 TLS
    is not encrypted on a loopback host by default       | only port: 1                    | host: "[::1]"    |                 | ::1 1
    has the host of rekey:databaseHost                   |                                 |                  | {id}.{endpoint} | db-1.cache.example.com 6379 TLS
    prefers the given host to a full name of the preset  |                                 | host: "x-{id}"   | preset          | x-db-1 6379 TLS
    is completed by the preset                           | endpoint: merry-cat-1           |                  | preset          | merry-cat-1.upstash.io 6379 TLS
    is not completed if it is a full name                |                                 |                  | preset          | cache.example.com 6379 TLS
    needs no record if host and port are given           | only                            | host: h, port: 2 |                 | h 2 TLS
    `,
  );
  for (const { title, record, given, setting, expected } of endpoints) {
    it(title, () => {
      const { host, port, tls } = resolve(record, given, setting);
      assert.equal(`${host} ${port}${tls ? " TLS" : ""}`, expected);
    });
  }

  const refused = tableOf(
    ["record", "given", "reason"],
    `
    none              |            | ^host is unknown for database "db-1": the platform has not shown its record\\.
    none              | host: h    | ^port is unknown for database "db-1": the platform has not shown
    only port: 1      |            | ^host is unknown for database "db-1": the platform's record has none
    endpoint: ""      |            | ^host is unknown
    only endpoint: h  |            | ^port is unknown for database "db-1": the platform's record has none
    port: 0           |            | ^port must be a whole number from 1 to 65535
    endpoint: evil/@x |            | ^host must be a host name
    tls: true         | tls: false | ^tls must not be false unless host is this machine: .*plain text
    `,
  );
  for (const { record, given, reason } of refused) {
    it(`is refused for the record ${record} and the connection { ${given} }`, () => {
      const isRefused = (error: unknown) => error instanceof InputError && new RegExp(reason).test(error.message);
      assert.throws(() => resolve(record, given, ""), isRefused);
    });
  }

  const plain = tableOf(
    ["title", "given", "setting", "isRefused"],
    `
    nothing                                       |                                      |                        | no
    TLS by default                                | host: db.example.com                 |                        | no
    without a host                                | tls: false                           |                        | no
    a host of the record                          | tls: false, host: "{endpoint}"       | {endpoint}.example.com | no
    another host                                  | tls: false, host: db.example.com     |                        | yes
    another host with the id                      | tls: false, host: "{id}.example.com" |                        | yes
    a setting                                     | tls: false                           | {endpoint}.example.com | yes
    the preset, which completes a short slug only | tls: false                           | preset                 | no
    `,
  );
  for (const { title, given, setting, isRefused } of plain) {
    it(`is ${isRefused === "yes" ? "" : "not "}refused before the database is known: ${title}`, () => {
      const problem = plainTextProblem(fieldsIn(given), settingIn(setting)) ?? "";
      assert.equal(/plain text/.test(problem), isRefused === "yes");
    });
  }

  it("is never without TLS on another machine", () => {
    const remote = ["10.0.0.1", "127.evil.test", "127.0.0.1.evil.test", "localhost.evil.test", "db"];
    const bit = fc.option(fc.boolean(), { nil: undefined });
    const text = fc.constantFrom("localhost", "127.0.0.1", "::1", "LOCALHOST", ...remote);
    fc.assert(
      fc.property(text, bit, bit, (host, given, recorded) => {
        const record = { endpoint: host, port: 1, ...(recorded !== undefined && { tls: recorded }) };
        try {
          const made = endpointOf({ databaseId: "db-1", record }, { tls: given }, undefined);
          assert.ok(made.tls || ["localhost", "127.0.0.1", "::1"].includes(made.host.toLowerCase()));
        } catch (error) {
          assert.ok(error instanceof InputError);
        }
      }),
    );
  });

  it("has the id in the username, and both in the host, as they are written", () => {
    for (const databaseId of ["$&", "$`", "$$", "{id}", "{endpoint}"]) {
      assert.equal(usernameFor(databaseId, "u-{id}-{id}"), `u-${databaseId}-${databaseId}`);
    }
    const hostOf = (databaseId: string, endpoint: string) =>
      endpointOf({ databaseId, record: { endpoint, port: 1 } }, { host: "x-{id}.{endpoint}" }, undefined).host;
    assert.equal(hostOf("db", "e"), "x-db.e");
    for (const { id, endpoint } of tableOf(["id", "endpoint"], "$` | e\ndb | $`\ndb | {id}")) {
      assert.throws(() => hostOf(id, endpoint), /host must be a host name/, `${id} ${endpoint}`);
    }
  });
});
