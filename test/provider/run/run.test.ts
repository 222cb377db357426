import assert from "node:assert/strict";
import { mock } from "node:test";
import { poll } from "../../../provider/run/poll";
import { Run, startRun } from "../../../provider/run/run";
import { Settings } from "../../../provider/settings/settings";

interface Times {
  readonly endsAtMs: number;
  readonly doneAtMs?: number;
  readonly early?: number;
  readonly runEndsAtMs?: number;
}

describe("a run of a host process", () => {
  afterEach(() => mock.restoreAll());

  it("has one client", () => {
    const run = startRun(new Settings(() => undefined));
    assert.equal(run.platform, run.platform);
  });

  it("knows the account of the queue by its address, and by its user or else its token", () => {
    const all = { queueUrl: "https://Q.example.com/", queueToken: "t", queueUserId: "u" };
    const accountOf = (settings: Readonly<Record<string, string>>) =>
      startRun(new Settings((name) => settings[name])).options.queueAccount();
    const here = accountOf(all);
    assert.equal(here?.address, "https://q.example.com");
    assert.match(here.account, /^[\w-]{8}$/);
    assert.deepEqual(accountOf({ ...all, queueUrl: "https://q.example.com", queueToken: "other" }), here);
    const { queueUserId, ...byToken } = all;
    const others = [byToken, { ...byToken, queueToken: "t2" }, { ...all, queueUserId: "v" }];
    const accounts = [here, ...others.map(accountOf)].map((one) => one?.account);
    assert.equal(new Set(accounts).size, accounts.length);
    const uuid = "96ad0856-03b1-4ee7-9666-e81abd0349e1";
    const spellings = [uuid, uuid.toUpperCase()].map((id) => accountOf({ ...all, queueUserId: id })?.account);
    assert.equal(spellings[0], spellings[1]);
    const unusable = [{}, { queueUrl: all.queueUrl }, { ...all, queueUrl: "no URL" }, { ...all, queueUserId: ".." }];
    assert.deepEqual(unusable.map(accountOf), [undefined, undefined, undefined, undefined]);
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

describe("a run that repeats an attempt", () => {
  /** The times at which attempts begin. @param early milliseconds by which timers fire too early */
  async function attempts({ endsAtMs, doneAtMs = Infinity, early = 0, runEndsAtMs = Infinity }: Times) {
    const times: number[] = [];
    const end = new AbortController();
    let nowMs = 0;
    const sleep = (milliseconds: number) => {
      nowMs += milliseconds - early;
      if (nowMs >= runEndsAtMs) end.abort();
      return Promise.resolve();
    };
    const { options } = startRun(new Settings(() => undefined));
    const clock = { now: () => new Date(nowMs), elapsedMs: () => nowMs, sleep };
    const run = new Run({ ...options, clock, end: end.signal });
    const act = () => Promise.resolve(void times.push(nowMs));
    await poll(run, { act, isDone: () => nowMs >= doneAtMs, endsAtMs });
    return times;
  }

  it("makes the last one at the end of its time", async () => {
    assert.deepEqual(await attempts({ endsAtMs: 1000 }), [0, 200, 600, 1000]);
    assert.deepEqual(
      await attempts({ endsAtMs: 30_000 }),
      [0, 200, 600, 1400, 3000, 6200, 11_200, 16_200, 21_200, 26_200, 30_000],
    );
    assert.deepEqual(await attempts({ endsAtMs: 600 }), [0, 200, 600]);
  });

  it("makes no second one for a timer that fires a little early", async () => {
    assert.deepEqual(await attempts({ endsAtMs: 1000, early: 0.5 }), [0, 199.5, 599, 999.5]);
  });

  it("makes one without any time, and none once it is done or the run has ended", async () => {
    assert.deepEqual(await attempts({ endsAtMs: -1 }), [0]);
    assert.deepEqual(await attempts({ endsAtMs: 5000, doneAtMs: 200 }), [0, 200]);
    assert.deepEqual(await attempts({ endsAtMs: 5000, runEndsAtMs: 600 }), [0, 200, 600]);
  });
});
