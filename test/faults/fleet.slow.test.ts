import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { type Fault } from "../../local/index";
import { type State } from "../support/engine";
import { fixture, onEngines } from "../support/onEngines";
import { type FleetDatabaseState } from "../../provider/rotation/fleet";

const count = 1_000;
const ids = Array.from({ length: count }, (_, nth) => `db-${nth}`);

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

function databasesIn(state: State): readonly FleetDatabaseState[] {
  const outputs = state.deployment.resources?.map(({ outputs }) => outputs) ?? [];
  return outputs.flatMap((one) => (one?.["rotations"] as FleetDatabaseState[] | undefined) ?? []);
}

const program = (versions: Readonly<Record<string, number>>) => `
const { PasswordRotationFleet } = require("pulumi-rekey");
const versions = ${JSON.stringify(versions)};
const databases = Object.fromEntries(
  ${JSON.stringify(ids)}.map((databaseId) => [databaseId, { databaseId, version: versions[databaseId] }]),
);
const fleet = new PasswordRotationFleet("caches", { databases, version: 1 });
exports.passwords = fleet.credentials.apply((all) => Object.entries(all).map(([id, { password }]) => [id, password]));
`;

onEngines("faults: a fleet of 1,000, three in ten requests fail in all ways", (engine) => {
  const versions: Record<string, number> = {};

  it("is as wanted after five ups, and no database is reset more often than the rules allow", async () => {
    const { platform, project, stack } = await fixture(engine, program({}), {
      databases: ids,
      credentials: "always",
    });
    for (const id of ids) {
      const path = `/v2/keyvalue/reset-password/${id}`;
      for (let nth = 0; nth < mostRequests; nth++) platform.failNext({ ...fateOf(id, nth), path });
    }
    let up = await stack.up();
    for (let nth = 2; nth <= 5 && !up.succeeded; nth++) {
      assert.match(up.printed, /databases failed:/);
      // After three unconfirmed resets in a row, an operator must request the next one.
      const unsure = databasesIn(await stack.exportState()).filter(({ unconfirmedResets }) => unconfirmedResets === 3);
      for (const { databaseId } of unsure) versions[databaseId] = 2;
      project.rewrite(program(versions));
      up = await stack.up();
    }
    assert.equal(up.succeeded, true, up.printed.slice(0, 3_000));
    const passwords = new Map(up.outputs["passwords"]?.value as [string, string][]);
    for (const id of ids) {
      assert.equal(passwords.get(id), platform.database(id).password, id);
      // Each request but the last one failed; after the one that succeeded there was none.
      const sent = platform.requests.filter(({ path }) => path.endsWith(`/${id}`)).length;
      let needed = 1;
      while (fateOf(id, needed - 1)) needed++;
      assert.equal(sent, needed, id);
    }
  }).timeout(1_800_000);
});
