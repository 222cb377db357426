import assert from "node:assert/strict";
import fc from "fast-check";
import { stringify } from "lossless-json";
import { stringify as toYaml } from "yaml";
import { type Platform, readSeed, startPlatform } from "../../../local/platform/index";
import { seedText } from "../../../local/platform/seed";
import { Folder } from "../../support/folder";
import { assertFields } from "../../support/results";
import { basic, queue, resetPassword, send } from "./client";

const folder = new Folder();
after(() => folder.remove());
const fileOf = (text: string, name = "seed.yaml") => folder.write(name, text);

describe("local platform: seed files", () => {
  const audit = { password: "first", resets: 2, generation: 3, lastResetAt: "2026-01-31T12:00:00Z" };
  const given = {
    username: "ops",
    password: "secret",
    queueToken: "t0ken",
    databases: [
      "cache",
      { database_id: "sessions", type: "pro", db_request_limit: 9223372036854775808n },
      { record: { database_id: "audit", state: "suspended" }, ...audit },
    ],
    flowControlKeys: ["orders", { flowControlKey: "emails", rateMax: 3 }],
  };
  // YAML forbids the tabs of the JSON.
  const written = { "seed.yaml": toYaml(given), "seed.json": stringify(given, undefined, "\t") ?? "" };
  for (const [name, text] of Object.entries(written)) {
    it(`load databases, keys and credentials from ${name}`, async () => {
      const platform = await startPlatform(readSeed(fileOf(text, name)));
      assertFields(platform, { username: "ops", password: "secret", queueToken: "t0ken" });
      assert.deepEqual([...platform.databases.keys()], ["cache", "sessions", "audit"]);
      assert.equal(platform.database("sessions").record.type, "pro");
      assert.match((await resetPassword(platform, "sessions")).text, /"db_request_limit":9223372036854775808,/);
      const { record, password, resets, generation, lastResetAt } = platform.database("audit");
      assert.deepEqual(record, { database_id: "audit", state: "suspended" }, "a saved record is used unchanged");
      assert.deepEqual({ password, resets, generation, lastResetAt }, audit);
      await resetPassword(platform, "audit");
      assert.equal(platform.database("audit").generation, 4);
      await platform.reset();
      assert.equal(platform.database("audit").password, "first");
      assert.equal(platform.flowControlKeys.get("emails")?.rateMax, 3);
      await platform.close();
    });
  }

  for (const [text, problem] of Object.entries({
    "databases: [{ record: { database_id: a }, pasword: x }]": /databases\[0\]: .*"pasword"/,
    "databases: [{ record: { database_id: a }, password: 5 }]": /databases\[0\]\.password: .*string/,
    "databases: [{ record: { database_id: a }, generation: 0 }]": /databases\[0\]\.generation: .*>=1/,
    "databases: [{ record: { database_id: a }, lastResetAt: yesterday }]": /databases\[0\]\.lastResetAt: .*UTC/,
    "databases: [{ record: {} }]": /databases\[0\]\.record\.database_id: .*string/,
    "databases: [a, { record: { database_id: a } }]": /databases\[1\]: .*"a"/,
    "databases: [17]": /databases\[0\]: must be an id/,
    "username: 'a:b'": /username: .*colon/,
    "port: 80": /the whole file: .*"port"/,
    "": /the whole file: .*object/,
    "databases: [": /at line 1/,
    // The line itself may contain a password.
    "password: canary\npassword: canary": /not valid YAML at line 2/,
    "a: 1\npassword: |canary": /at line 2/,
    "a: 1\npassword: }canary": /at line 2/,
    "password: *canary": /alias/,
  })) {
    it(`are refused with the file and the field: ${JSON.stringify(text)}`, () => {
      const message = /: seed: .*seed\.yaml: (?!.*canary)/s;
      const expected = { name: "PlatformOptionError", option: "seed", problem, message };
      assert.throws(() => readSeed(fileOf(text)), expected);
    });
  }

  it("are refused by name if they are missing", () => {
    assert.throws(() => readSeed(folder.path("none.yaml")), /none\.yaml: ENOENT/);
  });
});

const text = fc.string({ unit: "binary", minLength: 1, maxLength: 20 });
const keyName = fc.stringMatching(/^[A-Za-z0-9_.-]{1,20}$/);
const count = fc.nat();
const fields = fc.dictionary(text, fc.oneof(fc.jsonValue(), fc.bigInt()), { maxKeys: 5 });
const id = fc.record({ database_id: text });
const record = fc.tuple(fields, id).map(([more, given]) => ({ ...more, ...given }));
const database = fc.oneof(
  text,
  record,
  fc.record(
    {
      record,
      password: text,
      restToken: text,
      resets: count,
      generation: fc.integer({ min: 1 }),
      lastResetAt: fc.date({ noInvalidDate: true, min: new Date(0), max: new Date(4e12) }).map((d) => d.toISOString()),
    },
    { requiredKeys: ["record"] },
  ),
);
const seed = fc.record({
  databases: fc.uniqueArray(database, {
    maxLength: 4,
    selector: (given) =>
      typeof given === "string" ? given : "database_id" in given ? given.database_id : given.record.database_id,
  }),
  flowControlKeys: fc.uniqueArray(
    fc.record({ flowControlKey: keyName, rateMax: count, rateCount: count }, { requiredKeys: ["flowControlKey"] }),
    { maxLength: 3, selector: ({ flowControlKey }) => flowControlKey },
  ),
});

/** The databases, without the port, which differs between the platforms. */
const databasesOf = ({ databases }: Platform) =>
  [...databases.values()].map((database) => ({ ...database, record: { ...database.record, port: undefined } }));

describe("local platform: its state, saved and loaded", () => {
  for (const name of ["state.json", "state.yaml"]) {
    it(`gives the same platform again through ${name}`, async function () {
      await fc.assert(
        fc.asyncProperty(seed, count, async (given, chosen) => {
          const first = await startPlatform(given);
          const ids = [...first.databases.keys()];
          if (ids.length > 0) assert.equal((await resetPassword(first, ids[chosen % ids.length])).status, 200);
          const again = await startPlatform(readSeed(fileOf(seedText(first.state(), name), name)));
          // As they would be sent: an integer that was a number may be a bigint now.
          assert.equal(stringify(databasesOf(again)), stringify(databasesOf(first)));
          assert.equal(stringify(again.state()), stringify(first.state()));
          await Promise.all([first.close(), again.close()]);
        }),
        { numRuns: 50 },
      );
    });
  }

  it("keeps changed fields of a record", async () => {
    const first = await startPlatform({ databases: ["one"] });
    first.changeRecord("one", { type: "pro", state: undefined });
    const again = await startPlatform(first.state());
    const { type, state } = again.database("one").record;
    assert.deepEqual({ type, state }, { type: "pro", state: undefined });
    await Promise.all([first.close(), again.close()]);
  });

  it("keeps a key's counters as numbers, without the messages that wait", async () => {
    const limits = { flowControlKey: "orders", rateMax: 1, ratePeriod: 604_800 };
    const first = await startPlatform({ flowControlKeys: [{ ...limits, rateCount: 1 }] });
    const headers = { "Upstash-Flow-Control-Key": "orders", "Upstash-Flow-Control-Value": "rate=1, period=7d" };
    assert.equal((await queue(first, "POST", "/publish/http://127.0.0.1:9/", { headers })).status, 201);
    const saved = first.state();
    await first.close();
    const again = await startPlatform(saved);
    assert.equal(again.flowControlKeys.get("orders")?.waitListSize, 1);
    await queue(again, "POST", "/flowControl/orders/reset");
    assert.equal(again.flowControlKeys.get("orders")?.waitListSize, 1);
    await again.close();
  });
});

describe("local platform: inspection", () => {
  let platform: Platform;
  beforeEach(async () => (platform = await startPlatform({ databases: ["one", "two"] })));
  afterEach(() => platform.close());
  const get = (path: string) => send(platform, "GET", path, basic(platform));

  it("returns how often and when each database was reset, and no password", async () => {
    await resetPassword(platform, "one");
    await resetPassword(platform, "one");
    const { body, text } = await get("/local/databases");
    const { lastResetAt, password } = platform.database("one");
    assert.deepEqual(body, [
      { id: "one", resets: 2, generation: 3, lastResetAt },
      { id: "two", resets: 0, generation: 1 },
    ]);
    assert.ok(Math.abs(Date.parse(lastResetAt ?? "") - Date.now()) < 60_000);
    assert.ok(!text.includes(password));
  });

  it("returns the whole state, with the passwords that are valid now", async () => {
    await resetPassword(platform, "one");
    const { text } = await get("/local/state");
    assert.deepEqual(JSON.parse(text), JSON.parse(stringify(platform.state()) ?? ""));
    for (const id of ["one", "two"]) assert.ok(text.includes(platform.database(id).password));
  });
});
