import assert from "node:assert/strict";
import { mock } from "node:test";
import { RefusedError } from "../../../provider/platform/errors";
import { passwordRotation } from "../../../provider/rotation/passwordRotation";
import { markAccount, startRun } from "../../../provider/run";
import { asShown } from "../../support/asShown";
import { FakeRun, notSent, rejected, unconfirmed } from "../../support/fakeRun";

const { apply } = asShown(passwordRotation);
const v1 = { databaseId: "db", version: 1 };

describe("rotation: resets in one run", () => {
  let fake: FakeRun;
  beforeEach(() => (fake = new FakeRun()));

  it("return the same outputs to a repeated call, which sends nothing", async () => {
    const run = fake.start();
    const [first, second] = await Promise.all([apply(undefined, v1, run), apply(undefined, v1, run)]);
    assert.deepEqual(second, first);
    assert.deepEqual(await apply(undefined, { ...v1, version: 1 }, run), first);
    assert.deepEqual(fake.resets, ["db"]);
  });

  it("return the same unconfirmed result to a repeated call, which sends nothing", async () => {
    const run = fake.start();
    fake.answer = unconfirmed;
    const first = await apply(undefined, v1, run);
    fake.answer = () => ({ record: { port: 1 } });
    assert.deepEqual(await apply(undefined, v1, run), first);
    assert.deepEqual(await apply(first.outputs, v1, run), first);
    assert.deepEqual(fake.resets, ["db"]);
  });

  it("are sent again after a failure, which all waiting callers get", async () => {
    const run = fake.start();
    for (const error of [notSent(), rejected()]) {
      fake.answer = () => error;
      const both = await Promise.allSettled([apply(undefined, v1, run), apply(undefined, v1, run)]);
      assert.deepEqual(both, Array(2).fill({ status: "rejected", reason: error }));
    }
    fake.answer = () => ({ record: { port: 1 } });
    assert.equal((await apply(undefined, v1, run)).outputs.rotationCount, 1);
    assert.deepEqual(fake.resets, ["db", "db", "db"]);
  });

  it("are separate for another trigger, another database and another run", async () => {
    const run = fake.start();
    await apply(undefined, v1, run);
    await apply(undefined, { ...v1, version: 2 }, run);
    await apply(undefined, { ...v1, databaseId: "db2" }, run);
    await apply(undefined, v1, fake.start());
    assert.deepEqual(fake.resets, ["db", "db", "db2", "db"]);
  });

  it("are refused, without a request, after the limit of the run", async () => {
    fake.maxResets = 2;
    const run = fake.start();
    const ids = ["a", "b", "c", "d"];
    const results = await Promise.allSettled(ids.map((databaseId) => apply(undefined, { databaseId }, run)));
    assert.equal(results.map(({ status }) => status).join(), "fulfilled,fulfilled,rejected,rejected");
    const [, , refused] = results;
    assert.ok(refused?.status === "rejected" && refused.reason instanceof RefusedError);
    assert.match(refused.reason.message, /"c" was not reset.* 2 resets.*rekey:maxResetsPerRun.*REKEY_RESET_LIMIT/s);
    assert.deepEqual(fake.resets, ["a", "b"]);
  });

  it("count if unconfirmed, but not if rejected", async () => {
    fake.maxResets = 1;
    const run = fake.start();
    fake.answer = rejected;
    await assert.rejects(apply(undefined, v1, run), /Unchanged/);
    fake.answer = unconfirmed;
    await apply(undefined, v1, run);
    await assert.rejects(apply(undefined, { ...v1, databaseId: "db2" }, run), RefusedError);
    assert.deepEqual(fake.resets, ["db", "db"]);
  });

  it("do not include adoptions, which pass even if no reset may be sent", async () => {
    fake.maxResets = 0;
    const { outputs } = await apply(undefined, { ...v1, initialRotation: false }, fake.start());
    assert.equal(outputs.outcome, "adopted");
    await assert.rejects(apply(undefined, v1, fake.start()), /already sent 0 resets/);
  });
});

describe("rotation: a run from settings", () => {
  afterEach(() => mock.restoreAll());

  it("reads the configuration when it is first needed, and has one client", () => {
    const configuration: Record<string, string> = { "rekey:maxResetsPerRun": "3" };
    const read = mock.fn((key: string) => configuration[key]);
    const run = startRun({ configuration: read });
    const { options } = run;
    assert.equal(read.mock.callCount(), 0);
    assert.deepEqual([options.maxResets(), options.maxResets()], [3, 3]);
    const { platform } = run;
    assert.ok(platform);
    assert.equal(run.platform, platform);
    assert.equal(read.mock.calls.filter(({ arguments: [key] }) => key === "rekey:password").length, 1);
  });

  it("reads the given environment, and names the given provider in its advice", () => {
    const environment = { REKEY_MAX_RESETS_PER_RUN: "4", REKEY_DEADLINE_SECONDS: "90" };
    const logged: string[] = [];
    const sources = { environment, provider: "second", log: (line: string) => void logged.push(line) };
    const run = startRun({ configuration: () => undefined, ...sources });
    const { options } = run;
    assert.equal(options.maxResets(), 4);
    assert.equal(options.deadlineMs(), 90_000);
    assert.throws(() => run.platform.databases, /Set baseUrl in the arguments of the provider "second"\./);
    options.log("a line");
    assert.deepEqual(logged, ["a line"]);
    assert.equal(options.databaseHost(), undefined);
    const hostFrom = (value: string) => startRun({ configuration: () => value }).options.databaseHost;
    const databaseHost = hostFrom("db.example.com");
    assert.deepEqual(databaseHost(), { value: "db.example.com", source: "configuration" });
    assert.throws(hostFrom("a b"), /rekey:databaseHost must be/);
  });

  it("has the mark of the account, if its settings can be used", () => {
    const accountOf = (settings: Record<string, string>) =>
      startRun({ configuration: (key) => settings[key], environment: {} }).options.account();
    const settings = { "rekey:baseUrl": "https://Api.example.com/", "rekey:username": "you" };
    assert.equal(accountOf(settings), markAccount("https://api.example.com", "you"));
    assert.equal(accountOf({ ...settings, "rekey:password": "p" }), accountOf(settings));
    assert.equal(accountOf({ ...settings, "rekey:baseUrl": "no URL" }), undefined);
    assert.equal(accountOf({}), undefined);
  });

  it("has the time of the machine, and logs to standard error", () => {
    const { options } = startRun({ configuration: () => undefined });
    const logged = mock.method(console, "error", () => undefined);
    options.log("a line");
    assert.deepEqual(logged.mock.calls[0]?.arguments, ["a line"]);
    assert.ok(options.clock.now() instanceof Date);
    assert.equal(typeof options.clock.elapsedMs(), "number");
    assert.equal(typeof options.clock.sleep, "function");
  });
});
