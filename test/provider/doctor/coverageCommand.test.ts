import assert from "node:assert/strict";
import { environmentOf } from "../../support/project";
import { databasePath } from "../../support/resources";
import { Fixture } from "./fixture";

const listPath = "/v2/redis/databases";
const old = Date.parse("2025-07-14T00:00:00Z") / 1000;
const encrypted = { "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", ciphertext: "v1:x" };

describe("pulumi-rekey doctor --coverage", function () {
  if (process.platform === "win32") {
    return void it.skip("skipped: there is no POSIX shell for the stand-in of the pulumi CLI");
  }
  let fixture: Fixture;
  before(async () => {
    const databases = ["db-reset", "db-manual"].map((database_id) => {
      return { database_id, database_name: `cache ${database_id}`, creation_time: old };
    });
    const password = "canary-password";
    // Names come from elsewhere.
    const named = { database_id: "db-named", database_name: password, creation_time: Math.floor(Date.now() / 1000) };
    fixture = await Fixture.start({ databases: [...databases, named], password });
    const type = "pulumi-nodejs:dynamic/rekey:PasswordRotation";
    const outputs = { rotatedAt: new Date().toISOString(), password: encrypted };
    const resource = { urn: `urn:pulumi:dev::program::${type}::reset`, type, id: "db-reset", outputs };
    fixture.bin.write("state.json", JSON.stringify({ version: 3, deployment: { resources: [resource] } }));
    fixture.configure({ "rekey:databaseListPath": listPath, "rekey:databasePath": databasePath });
  });
  after(() => fixture.stop());

  const doctor = (args: readonly string[], more: NodeJS.ProcessEnv = {}) =>
    fixture.doctor(["--coverage", ...args], { ...environmentOf(fixture.platform), ...more });

  it("lists each secret of the account, and what the state knows of it", async () => {
    const { code, output, sent } = await doctor([]);
    assert.equal(code, 0, output);
    assert.deepEqual(
      sent.sort(),
      ["GET /v2/keys", "GET /v2/qstash/users", `GET ${listPath}`, "GET /v2/search", "GET /v2/vector/index"].sort(),
    );
    for (const row of [
      String.raw`database +db-reset +cache db-reset +20\S+Z +PasswordRotation "reset"`,
      "database +db-manual +cache db-manual +created 2025-07-14T00:00:00Z +-",
      "vector index +idx-vectors +idx-vectors +created 2025-07-14T00:00:00Z +-",
      "search index +idx-search +idx-search +created 2025-07-14T00:00:00Z +-",
      "queue user +00000000-0000-4000-8000-000000000001 +eu-central-1 +created 2025-07-14T00:00:00Z +-",
      "signing keys +signing-keys +- +unknown +-",
    ]) {
      assert.match(output, new RegExp(`^${row}$`, "m"));
    }
    assert.match(output, /^Compared with the state of the stack dev\.$/m);
  });

  it("exits with 1 if a secret is older than a date, of unknown age, or could not be listed", async () => {
    fixture.platform.failNext({ path: /search/, status: 404, body: {} });
    const { code, output } = await doctor(["--since", "2026-04-19", "--json"], { REKEY_QUEUE_TOKEN: "" });
    const { secrets, notes } = JSON.parse(output) as { secrets: { id: string; age: string }[]; notes: string[] };
    const ages = Object.fromEntries(secrets.map(({ id, age }) => [id, age]));
    assert.deepEqual([code, ages["db-reset"], ages["db-manual"]], [1, "newer", "older"]);
    const unlisted = notes.join("\n");
    assert.match(unlisted, /^Not listed: search indexes, because the platform responded with 404\. Check/m);
    assert.match(unlisted, /^Not listed: signing keys, because rekey:queueToken is not set\. Run `pulumi config/m);
  });

  it("lists the account if the state cannot be read, and prints why", async () => {
    const settings = { REKEY_DATABASE_PATH: databasePath, REKEY_DATABASE_LIST_PATH: listPath };
    const { output } = await doctor([], { ...settings, PATH: "" });
    assert.match(output, /^The state was not read: there is no pulumi CLI on PATH\.$/m);
    assert.match(output, /^database +db-reset +cache db-reset +created 2025-07-14T00:00:00Z$/m);
  });
});
