import assert from "node:assert/strict";
import fc from "fast-check";
import { InputError } from "../../../provider/platform/errors";
import { type ClientEndpoint, restAddressOf } from "../../../provider/platform/endpoint";
import { type Connection } from "../../../provider/rotation/memory";
import { type FoundSetting } from "../../../provider/settings/table";
import {
  connectionProblem,
  connectionUrl,
  databaseUrls,
  endpointOf,
  usernameFor,
} from "../../../provider/rotation/access";

const record = { endpoint: "cache.example.com", port: 6379, tls: true };
const local = { endpoint: "127.0.0.1", port: 6379, tls: false };
const slug = { endpoint: "merry-cat-1", port: 6379, tls: true };
const set = (value: string): FoundSetting => ({ value, source: "configuration" });
const preset: FoundSetting = { value: "{endpoint}.upstash.io", source: "preset" };

interface Case {
  readonly record?: { endpoint?: string; port?: number; tls?: boolean } | null;
  readonly given?: Connection;
  readonly setting?: FoundSetting;
}
const resolve = ({ record: known = record, given = {}, setting }: Case) =>
  endpointOf({ databaseId: "db-1", ...(known && { record: known }) }, given, setting);
const ofRecord: ClientEndpoint = { host: "cache.example.com", port: 6379, tls: true };

describe("rotation: the endpoint of a database", () => {
  const endpoints: Readonly<Record<string, Case & { expected: Partial<ClientEndpoint> }>> = {
    "is that of the record": { expected: {} },
    "has the given host and port": { given: { host: "h", port: 1 }, expected: { host: "h", port: 1 } },
    "uses TLS even if the record does not": { record: { ...record, tls: false }, expected: { tls: true } },
    "has no TLS on a loopback host if the record has none": {
      record: local,
      expected: { host: "127.0.0.1", tls: false },
    },
    "has TLS on a loopback host if that is asked for": {
      record: local,
      given: { tls: true },
      expected: { host: "127.0.0.1" },
    },
    "is not encrypted on a loopback host by default": {
      given: { host: "[::1]" },
      record: { port: 1 },
      expected: { host: "::1", port: 1, tls: false },
    },
    "has the host of rekey:databaseHost": {
      setting: set("{id}.{endpoint}"),
      expected: { host: "db-1.cache.example.com" },
    },
    "prefers the given host to a full name with the preset": {
      given: { host: "x-{id}" },
      setting: preset,
      expected: { host: "x-db-1" },
    },
    "is completed by the preset": { record: slug, setting: preset, expected: { host: "merry-cat-1.upstash.io" } },
    "is not completed if it is a full name": { setting: preset, expected: {} },
    "needs no record if host and port are given": {
      record: {},
      given: { host: "h", port: 2 },
      expected: { host: "h", port: 2 },
    },
  };
  for (const [title, { expected, ...one }] of Object.entries(endpoints)) {
    it(title, () => assert.deepEqual(resolve(one), { ...ofRecord, ...expected }));
  }

  const refused: readonly (Case & { reason: RegExp })[] = [
    { record: null, reason: /^host is unknown for database "db-1": the platform has not shown its record\./ },
    { record: null, given: { host: "h" }, reason: /^port is unknown for database "db-1": the platform has not shown/ },
    { record: { port: 1 }, reason: /^host is unknown for database "db-1": the platform's record has none/ },
    { record: { endpoint: "", port: 1 }, reason: /^host is unknown/ },
    { record: { endpoint: "h" }, reason: /^port is unknown for database "db-1": the platform's record has none/ },
    { record: { ...record, port: 0 }, reason: /^port must be a whole number from 1 to 65535/ },
    { record: { ...record, endpoint: "evil/@x" }, reason: /^host must be a host name/ },
    { given: { tls: false }, reason: /^tls must not be false unless host is this machine: .*plain text/ },
  ];
  for (const { reason, ...one } of refused) {
    it(`refuses ${JSON.stringify(one)}`, () => {
      assert.throws(
        () => resolve(one),
        (error: unknown) => error instanceof InputError && reason.test(error.message),
      );
    });
  }

  it("is checked before the database is known, as far as it can be", () => {
    const wrong = [{ hots: "a" }, { host: "a:1" }, { port: 0 }, { tls: "yes" }, { username: 1 }, "host", [1]];
    for (const given of wrong) assert.notEqual(connectionProblem(given), undefined, JSON.stringify(given));
    const right = [{}, { host: null }, { host: "{id}.{endpoint}", port: 1, tls: true, username: "u" }, { tls: false }];
    for (const given of right) assert.equal(connectionProblem(given), undefined, JSON.stringify(given));
    assert.match(connectionProblem({ tls: false, host: "db.example.com" }) ?? "", /plain text/);
    assert.match(connectionProblem({ tls: false, host: "{id}.example.com" }) ?? "", /plain text/);
    const setting = { value: "{endpoint}.example.com", source: "configuration" } as const;
    assert.match(connectionProblem({ tls: false }, setting) ?? "", /plain text/);
    // A preset completes a short slug only.
    assert.equal(connectionProblem({ tls: false }, { ...setting, source: "preset" }), undefined);
    assert.equal(connectionProblem({ tls: false, host: "{endpoint}" }, setting), undefined);
  });

  it("is never without TLS on another machine", () => {
    const remote = ["10.0.0.1", "127.evil.test", "127.0.0.1.evil.test", "localhost.evil.test", "db"];
    const bit = fc.option(fc.boolean(), { nil: undefined });
    const text = fc.constantFrom("localhost", "127.0.0.1", "::1", "LOCALHOST", ...remote);
    fc.assert(
      fc.property(text, bit, bit, (host, given, recorded) => {
        const tls = recorded === undefined ? {} : { tls: recorded };
        try {
          const made = resolve({ record: { endpoint: host, port: 1, ...tls }, given: { tls: given } });
          assert.ok(made.tls || ["localhost", "127.0.0.1", "::1"].includes(made.host.toLowerCase()));
        } catch (error) {
          assert.ok(error instanceof InputError);
        }
      }),
    );
  });

  it("has a REST interface over HTTPS, at the port of HTTPS unless another is given", () => {
    const at = (endpoint: object, host?: string, setting?: FoundSetting) =>
      databaseUrls({ databaseId: "db-1", record: endpoint }, { host, port: 6380 }, { restToken: "t" }, () => setting)
        .restUrl;
    assert.equal(at({ endpoint: "db.example.com" }), "https://db.example.com");
    assert.equal(at({ endpoint: "merry-cat-1" }, undefined, preset), "https://merry-cat-1.upstash.io");
    assert.equal(at({ endpoint: "db.example.com" }, "x-{id}"), "https://x-db-1");
    const none = { connectionUrl: undefined, restUrl: undefined };
    assert.deepEqual(
      databaseUrls({ databaseId: "db-1", record }, {}, {}, () => undefined),
      none,
    );
    assert.equal(restAddressOf({ host: "::1", port: 8079, tls: false }), "http://[::1]:8079");
    assert.equal(restAddressOf({ ...ofRecord, port: 443 }), "https://cache.example.com:443");
  });

  it("gives a URL from which a client reads the same credentials", () => {
    const endpoint = { host: "db.example.com", port: 6380, tls: true };
    assert.equal(usernameFor({ databaseId: "db" }, {}), "default");
    assert.equal(connectionUrl({ ...endpoint, tls: false }, "u", "p"), "redis://u:p@db.example.com:6380");
    assert.equal(connectionUrl({ ...endpoint, host: "::1" }, "u", "p"), "rediss://u:p@[::1]:6380");
    const words = fc.string({ unit: "binary", minLength: 1 });
    fc.assert(
      fc.property(words, words, (username, password) => {
        const url = new URL(connectionUrl(endpoint, username, password));
        assert.deepEqual([url.username, url.password].map(decodeURIComponent), [username, password]);
        assert.deepEqual(
          { hostname: url.hostname, port: url.port, pathname: url.pathname, search: url.search, hash: url.hash },
          { hostname: endpoint.host, port: "6380", pathname: "", search: "", hash: "" },
        );
      }),
    );
  });

  it("has the id in the username as it is written", () => {
    for (const databaseId of ["$&", "$`", "$$", "{id}", "{endpoint}"]) {
      assert.equal(usernameFor({ databaseId }, { username: "u-{id}-{id}" }), `u-${databaseId}-${databaseId}`);
    }
  });

  it("has the id and the endpoint in the host as they are written", () => {
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
});
