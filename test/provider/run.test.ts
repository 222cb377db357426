import assert from "node:assert/strict";
import { mock } from "node:test";
import { databasePassword, signingKeys, type SecretKind } from "../../provider/platform/secretKind";
import { startRun } from "../../provider/run";
import { Settings } from "../../provider/settings/settings";

type Written = Readonly<Record<string, string>>;

describe("a run of a host process", () => {
  afterEach(() => mock.restoreAll());

  it("has one client", () => {
    const run = startRun(new Settings(() => undefined));
    assert.equal(run.platform, run.platform);
  });

  it("knows the place of a secret by address and account, and names the address of one that has no id", () => {
    const all = { baseUrl: "https://Api.example.com/", queueUrl: "https://q.example.com", username: "you" };
    const placeOf = (kind: SecretKind, settings: Written) =>
      startRun(new Settings((name) => settings[name])).options.place(kind);
    const here = placeOf(databasePassword, all);
    assert.deepEqual(Object.keys(here ?? {}), ["account"]);
    assert.deepEqual(placeOf(databasePassword, { ...all, baseUrl: "https://api.example.com", password: "p" }), here);
    const others = [{ username: "me" }, { baseUrl: "https://api.example.org" }];
    for (const other of others) assert.notDeepEqual(placeOf(databasePassword, { ...all, ...other }), here);
    for (const none of [{}, { ...all, baseUrl: "no URL" }]) assert.equal(placeOf(databasePassword, none), undefined);
    const keys = placeOf(signingKeys, all);
    assert.equal(keys?.address, all.queueUrl);
    assert.notEqual(placeOf(signingKeys, { ...all, queueUserId: "u" })?.account, keys?.account);
    const uuid = "96ad0856-03b1-4ee7-9666-e81abd0349e1";
    const spellings = [uuid, uuid.toUpperCase()].map(
      (id) => placeOf(signingKeys, { ...all, queueUserId: id })?.account,
    );
    assert.equal(spellings[0], spellings[1]);
  });

  it("shows well-formed lines, without the secrets that its platform knows by then, until it ends", () => {
    const printed = mock.method(console, "error", () => undefined);
    const end = new AbortController();
    const environment = { PULUMI_ACCESS_TOKEN: "pul-canary" };
    const run = startRun(new Settings(() => "plainword", environment), { end: end.signal });
    run.platform.secrets.add(["learnedlater"]);
    run.during({ limitMs: 5 }).options.log("a plainword, pul-canary and learnedlater \ud800");
    end.abort();
    run.options.log("another");
    assert.deepEqual(
      printed.mock.calls.map(({ arguments: [line] }) => String(line)),
      ["a …, … and … \ufffd"],
    );
  });
});
