import assert from "node:assert/strict";
import fc from "fast-check";
import { restAddressOf } from "../../../../provider/domain/endpoint";
import { databasePassword } from "../../../../provider/domain/secretKind";
import { saltedMark } from "../../../../provider/rotation/memory/marks";
import { type Access, type AccessCredential } from "../../../../provider/rotation/program/access";
import { usernameFor } from "../../../../provider/rotation/program/databaseEndpoint";
import { connectionUrl, urlsOf } from "../../../../provider/rotation/program/urls";
import { type Run } from "../../../../provider/run/run";
import { isLost, resetSecret, RotatedSecret } from "../../../support/rotatedSecret";
import { credentialsOf, tableOf } from "../tables";

describe("clientOutputs: the URLs", () => {
  it("are those of a REST interface over HTTPS, at the port of HTTPS unless another is given", async () => {
    const at = async (endpoint: string, credentials: string, host?: string, preset?: string) => {
      const connection = { port: 6380, ...(host !== undefined && { host }) };
      const { state } = await resetSecret({ connection }, credentialsOf(credentials), { record: { endpoint } });
      const databaseHost = preset && { value: preset, source: "preset" };
      const run = { options: { settings: { databaseHost } } } as unknown as Run;
      return urlsOf({ kind: databasePassword, id: "db-1" }, state, run);
    };
    assert.equal((await at("db.example.com", "r1")).restUrl, "https://db.example.com");
    const completed = await at("merry-cat-1", "r1", undefined, "{endpoint}.upstash.io");
    assert.equal(completed.restUrl, "https://merry-cat-1.upstash.io");
    assert.equal((await at("db.example.com", "r1", "x-{id}")).restUrl, "https://x-db-1");
    assert.deepEqual(await at("db.example.com", ""), { connectionUrl: undefined, restUrl: undefined });
    assert.equal(restAddressOf({ host: "::1", port: 8079, tls: false }), "http://[::1]:8079");
    assert.equal(restAddressOf({ host: "cache.example.com", port: 443, tls: true }), "https://cache.example.com:443");
  });

  it("give a client the same credentials", () => {
    const endpoint = { host: "db.example.com", port: 6380, tls: true };
    assert.equal(usernameFor("db", undefined), "default");
    assert.equal(connectionUrl({ ...endpoint, tls: false }, "u", "p"), "redis://u:p@db.example.com:6380");
    assert.equal(connectionUrl({ ...endpoint, host: "::1" }, "u", "p"), "rediss://u:p@[::1]:6380");
    const words = fc.string({ unit: "binary", minLength: 1 });
    fc.assert(
      fc.property(words, words, (username, password) => {
        const url = new URL(connectionUrl(endpoint, username, password));
        assert.deepEqual([url.username, url.password].map(decodeURIComponent), [username, password]);
        const { host, pathname, search, hash } = url;
        assert.deepEqual([host, pathname, search, hash], ["db.example.com:6380", "", "", ""]);
      }),
    );
  });
});

describe("clientOutputs: access", () => {
  /** An `up`, and the current credential and what must be refused then: one without its value in brackets. */
  const columns = ["version", "username", "shows", "responds", "after", "expected"] as const;
  const scenarios = {
    "has the credential that the last reset has replaced, as a mark, and the user of each": `
      1 | old-{id} |  | p1 |  | old-db:p1 none
      2 | new      |  | p2 |  | new:p2 old-db:(p1)
      2 | newer    |  |    |  | newer:p2 old-db:(p1)
      3 |          |  | p3 |  | default:p3 newer:(p2)`,
    "has neither while a reset is not confirmed, and both after a read has shown its result": `
      1 |          |    | p1   |  | default:p1 none
      2 |          | p1 | lost |  | none none
      2 |          | p2 |      |  | default:p2 default:(p1)`,
    "has what someone else has replaced, and nothing if that is not known": `
      1 |          |    | p1 |  | default:p1 none
      1 |          | p2 |    |  | default:p2 default:(p1)
      2 |          |    |    |  | none default:(p2)
      2 |          | p3 |    |  | default:p3 default:(p2)
      3 |          |    |    |  | none default:(p3)
      4 |          |    | p5 |  | default:p5 none`,
    "has REST tokens if no password is known": `
      1 | ops      |    | r1 |  | default:r1 none
      2 | ops      |    | r2 |  | default:r2 default:(r1)`,
    "has only marks of what is not saved, and of the first reset what was read before it": `
      hidden | ops | p0 | p1 | p1 | ops:(p1) ops:(p0)`,
  };
  const values = ["p0", "p1", "p2", "p3", "p5", "r1", "r2"];

  for (const [title, text] of Object.entries(scenarios)) {
    it(title, async () => {
      const secret = new RotatedSecret();
      for (const { version, username, responds, expected, ...row } of tableOf(columns, text)) {
        const form = version === "hidden" ? { saveCredentials: false } : { version };
        const after = credentialsOf(row.after || row.shows);
        const reads = row.shows === "" ? {} : { shows: credentialsOf(row.shows), showsAfter: after };
        const does = { ...reads, responds: responds === "lost" ? isLost : credentialsOf(responds) };
        await secret.up({ ...form, ...(username && { connection: { username } }) }, does);
        if (row.shows) await secret.refresh({ shows: after });
        const { salt, current, former } = JSON.parse(String(secret.outputs?.["access"])) as Access;
        const shown = ({ username: user = "default", value, mark }: AccessCredential) =>
          `${user}:${value ?? `(${values.find((one) => saltedMark(salt, one) === mark)})`}`;
        assert.equal([current, former].map((one) => (one ? shown(one) : "none")).join(" "), expected);
      }
    });
  }
});
