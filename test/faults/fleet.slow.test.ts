import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { PasswordRotationFleet } from "pulumi-rekey";
import { type Fault } from "../../local/platform/index";
import { type Memory } from "../../provider/rotation/memory/memory";
import { type Result } from "../e2e/engineStack";
import { closePlatforms, TestStack } from "../e2e/memory";

const ids = Array.from({ length: 1_000 }, (_, nth) => `db-${nth}`);

/** The fault table's responses to a reset. Connection faults are tested one by one. */
const ways: readonly Omit<Fault, "path">[] = [
  ...[400, 401, 403, 404, 409, 422, 301, 302, 307, 308].map((status) => ({ status })),
  ...[303, 408, 500, 502, 503, 504].map((status) => ({ status })),
  { status: 429, headers: { "retry-after": "0" } },
  { status: 429, headers: { "retry-after": "-1" } },
  { dropConnection: "before-apply" },
  { dropConnection: "after-apply" },
  { status: 200, body: "" },
  { status: 200, body: "<html>" },
  { status: 200, body: `{"database_id": "db-` },
  { status: 200, body: { database_id: "another" } },
  { status: 202, body: {} },
  { status: 200, body: { port: "many", region: "global" } },
];

/** A number from 0 to 1 that is always the same for the same text. */
function chance(text: string): number {
  return createHash("sha256").update(text).digest().readUInt32BE() / 2 ** 32;
}

/** What a database's nth request meets: three in ten fail. */
function fateOf(id: string, nth: number): (typeof ways)[number] | undefined {
  if (chance(`7 fails ${id} ${nth}`) >= 0.3) return undefined;
  return ways[Math.floor(chance(`7 how ${id} ${nth}`) * ways.length)];
}

/** More than five ups can send to one database. */
const mostRequests = 16;

describe("faults: a fleet of 1,000, three in ten requests fail in all ways", () => {
  after(closePlatforms);
  const versions: Record<string, number> = {};
  const program = () => {
    const entries = ids.map((databaseId) => [databaseId, { databaseId, version: versions[databaseId] }] as const);
    const { credentials } = new PasswordRotationFleet("caches", { databases: Object.fromEntries(entries), version: 1 });
    return { credentials };
  };

  it("is as wanted after five ups, and no database is reset more often than the rules allow", async () => {
    const stack = await TestStack.start(program, { databases: ids, credentials: "always" });
    const { platform } = stack;
    for (const id of ids) {
      const path = `/v2/keyvalue/reset-password/${id}`;
      for (let nth = 0; nth < mostRequests; nth++) platform.failNext({ ...fateOf(id, nth), path });
    }
    let result: Result | undefined;
    for (let ups = 0; !result?.succeeded; ups++) {
      assert.ok(ups < 5, "five ups");
      result = await stack.up();
      if (!result.succeeded) assert.match(result.printed, /databases failed:/);
      // After three unconfirmed resets in a row, an operator must request the next one.
      const { databases } = JSON.parse(String(stack.saved("caches")?.["memory"])) as {
        databases: Record<string, Memory>;
      };
      for (const [id, { attempt }] of Object.entries(databases)) if (attempt?.count === 3) versions[id] = 2;
    }
    const credentials = result.outputs["credentials"]?.value as Record<string, { password: string }>;
    for (const id of ids) {
      assert.equal(credentials[id]?.password, platform.database(id).password, id);
      // Each request but the last one failed; after the one that succeeded there was none.
      const sent = platform.requests.filter(({ path }) => path.endsWith(`/${id}`)).length;
      let needed = 1;
      while (fateOf(id, needed - 1)) needed++;
      assert.equal(sent, needed, id);
    }
  }).timeout(1_800_000);
});
