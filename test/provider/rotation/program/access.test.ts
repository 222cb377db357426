import assert from "node:assert/strict";
import fc from "fast-check";
import { InputError } from "../../../../provider/domain/errors";
import { type ClientEndpoint, restAddressOf } from "../../../../provider/domain/endpoint";
import { type Connection } from "../../../../provider/rotation/memory/memory";
import { type Credentials } from "../../../../provider/records/fields";
import { databasePassword } from "../../../../provider/domain/secretKind";
import { type Run } from "../../../../provider/run/run";
import { isLost, type PlatformDoes, resetSecret, RotatedSecret } from "../../../support/rotatedSecret";
import { type Properties } from "../../../support/wire";
import { type FoundSetting } from "../../../../provider/settings/table";
import { type Access, type AccessCredential } from "../../../../provider/rotation/program/access";
import { connectionUrl, urlsOf } from "../../../../provider/rotation/program/urls";
import { endpointOf, plainTextProblem, usernameFor } from "../../../../provider/rotation/program/databaseEndpoint";
import { saltedMark } from "../../../../provider/rotation/memory/marks";

const record = { endpoint: "cache.example.com", port: 6379, tls: true };
const local = { endpoint: "127.0.0.1", port: 6379, tls: false };
const slug = { endpoint: "merry-cat-1", port: 6379, tls: true };
const set = (value: string): FoundSetting => ({ value, source: "configuration" });
const preset: FoundSetting = { value: "{endpoint}.upstash.io", source: "preset" };

const runWith = (databaseHost?: FoundSetting) => ({ options: { settings: { databaseHost } } }) as unknown as Run;

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

  const external: FoundSetting = set("{endpoint}.example.com");
  const plain: readonly [given: Connection, setting: FoundSetting | undefined, isRefused: boolean][] = [
    [{}, undefined, false],
    [{ host: "db.example.com" }, undefined, false],
    [{ tls: false }, undefined, false],
    [{ tls: false, host: "{endpoint}" }, external, false],
    [{ tls: false, host: "db.example.com" }, undefined, true],
    [{ tls: false, host: "{id}.example.com" }, undefined, true],
    [{ tls: false }, external, true],
    // A preset completes a short slug only.
    [{ tls: false }, { ...external, source: "preset" }, false],
  ];
  for (const [given, setting, isRefused] of plain) {
    it(`${JSON.stringify([given, setting])} is ${isRefused ? "" : "not "}refused before the database is known`, () => {
      assert.equal(/plain text/.test(plainTextProblem(given, setting) ?? ""), isRefused);
    });
  }

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

  it("has a REST interface over HTTPS, at the port of HTTPS unless another is given", async () => {
    const at = async (endpoint: Properties, credentials: Credentials, host?: string, setting?: FoundSetting) => {
      const connection = { port: 6380, ...(host !== undefined && { host }) };
      const { state } = await resetSecret({ connection }, credentials, { record: endpoint });
      return urlsOf({ kind: databasePassword, id: "db-1" }, state, runWith(setting));
    };
    const token = { restToken: "t" };
    assert.equal((await at({ endpoint: "db.example.com" }, token)).restUrl, "https://db.example.com");
    assert.equal(
      (await at({ endpoint: "merry-cat-1" }, token, undefined, preset)).restUrl,
      "https://merry-cat-1.upstash.io",
    );
    assert.equal((await at({ endpoint: "db.example.com" }, token, "x-{id}")).restUrl, "https://x-db-1");
    assert.deepEqual(await at(record, {}), { connectionUrl: undefined, restUrl: undefined });
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

describe("rotation: its output access", () => {
  interface Step extends PlatformDoes {
    readonly version?: number;
    readonly username?: string;
    readonly saveCredentials?: false;
    /** The current credential and what must be refused, each as `user:password`; one without its value in brackets. */
    readonly expected: string;
  }
  const scenarios: Readonly<Record<string, readonly Step[]>> = {
    "has the credential that the last reset has replaced, as a mark, and the user of each": [
      { responds: { password: "p1" }, username: "old-{id}", expected: "old-db:p1 none" },
      { version: 2, responds: { password: "p2" }, username: "new", expected: "new:p2 old-db:(p1)" },
      { version: 2, username: "newer", expected: "newer:p2 old-db:(p1)" },
      { version: 3, responds: { password: "p3" }, expected: "default:p3 newer:(p2)" },
    ],
    "has only marks of what is not saved, and of the first reset what was read before it": [
      {
        saveCredentials: false,
        username: "ops",
        shows: { password: "p0" },
        showsAfter: { password: "p1" },
        responds: { password: "p1" },
        expected: "ops:(p1) ops:(p0)",
      },
    ],
    "has neither while a reset is not confirmed, and both after a read has shown its result": [
      { responds: { password: "p1" }, expected: "default:p1 none" },
      { version: 2, shows: { password: "p1" }, responds: isLost, expected: "none none" },
      { version: 2, shows: { password: "p2" }, expected: "default:p2 default:(p1)" },
    ],
    "has what someone else has replaced, and nothing if that is not known": [
      { responds: { password: "p1" }, expected: "default:p1 none" },
      { version: 1, shows: { password: "p2" }, expected: "default:p2 default:(p1)" },
      { version: 2, responds: {}, expected: "none default:(p2)" },
      { version: 2, shows: { password: "p3" }, expected: "default:p3 default:(p2)" },
      { version: 3, responds: {}, expected: "none default:(p3)" },
      { version: 4, responds: { password: "p5" }, expected: "default:p5 none" },
    ],
    "compares REST tokens if no password is known": [
      { responds: { restToken: "r1" }, username: "ops", expected: "default:r1 none" },
      { version: 2, responds: { restToken: "r2" }, username: "ops", expected: "default:r2 default:(r1)" },
    ],
  };
  const values = ["p0", "p1", "p2", "p3", "p4", "p5", "r1", "r2"];

  for (const [title, steps] of Object.entries(scenarios)) {
    it(title, async () => {
      const secret = new RotatedSecret();
      for (const { version = 1, username, saveCredentials, expected, ...does } of steps) {
        await secret.up({ version, saveCredentials, ...(username && { connection: { username } }) }, does);
        const { shows, showsAfter = shows } = does;
        if (showsAfter && typeof showsAfter !== "function") await secret.refresh({ shows: showsAfter });
        const { salt, current, former } = JSON.parse(String(secret.outputs?.["access"])) as Access;
        const shown = ({ username: user = "default", value, mark }: AccessCredential) =>
          `${user}:${value ?? `(${values.find((one) => saltedMark(salt, one) === mark)})`}`;
        const both = [current, former].map((one) => (one ? shown(one) : "none"));
        assert.equal(both.join(" "), expected);
      }
    });
  }
});
