import assert from "node:assert/strict";
import { databasePassword } from "../../provider/rotation/kinds/databasePassword";
import { mock } from "node:test";
import { markAccount, startRun } from "../../provider/run";

describe("a run from settings", () => {
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
    assert.throws(
      () => run.platform.operations(databasePassword),
      /Set baseUrl in the arguments of the provider "second"\./,
    );
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
      startRun({ configuration: (key) => settings[key], environment: {} }).options.account("management");
    const settings = { "rekey:baseUrl": "https://Api.example.com/", "rekey:username": "you" };
    assert.equal(accountOf(settings), markAccount("https://api.example.com", "you"));
    assert.equal(accountOf({ ...settings, "rekey:password": "p" }), accountOf(settings));
    assert.equal(accountOf({ ...settings, "rekey:baseUrl": "no URL" }), undefined);
    assert.equal(accountOf({}), undefined);
  });

  it("shows well-formed lines, without the secrets that its platform knows by then", () => {
    const lines: string[] = [];
    const settings: Readonly<Record<string, string>> = { "rekey:password": "plainword" };
    const environment = { PULUMI_ACCESS_TOKEN: "pul-canary" };
    const run = startRun({ configuration: (key) => settings[key], environment, log: (line) => void lines.push(line) });
    run.platform.secrets.add(["learnedlater"]);
    run.within(5).options.log("a plainword, pul-canary and learnedlater \ud800");
    assert.deepEqual(lines, ["a …, … and … \ufffd"]);
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

describe("the mark of an account", () => {
  it("has this form, in each version", () => {
    assert.equal(markAccount("https://api.example.com", "you@example.com"), "1:otDzN2Mg");
  });

  it("differs by address and by user name", () => {
    const marks = [
      markAccount("https://api.example.com", "you"),
      markAccount("https://api.example.com", "me"),
      markAccount("https://api.example.org", "you"),
    ];
    assert.equal(new Set(marks).size, marks.length);
  });
});
