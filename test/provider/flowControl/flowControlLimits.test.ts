import assert from "node:assert/strict";
import { type Platform, startPlatform } from "../../../local/platform/index";
import {
  flowControlLimits,
  type FlowControlLimitsInputs,
  type FlowControlLimitsOutputs,
} from "../../../provider/flowControl/flowControlLimits";
import { type Limits, operationsFor } from "../../../provider/flowControl/limitOperations";
import { type KeyOperation } from "../../../provider/platform/flowControl";
import { type Run, startRun } from "../../../provider/run/run";
import { Settings } from "../../../provider/settings/settings";
import { type SettingName } from "../../../provider/settings/table";
import { asShown } from "../../support/fakeRun";
import { assertFields } from "../../support/results";
import { unknown } from "../../support/wire";

const limits = asShown(flowControlLimits);
const key = { flowControlKey: "orders" };
const whole = { ...key, parallelism: 10, rate: 100, period: "1m", paused: false };
const written = ({ action, query }: KeyOperation) =>
  Object.keys(query).length === 0 ? action : `${action}?${new URLSearchParams(query).toString()}`;

describe("FlowControlLimits: what is sent", () => {
  const all: Limits = { parallelism: 10, rate: 100, period: 60, paused: true };
  const open = { paused: false };
  const rows: Readonly<Record<string, { shown?: object; former?: Limits; declared: Limits; sent: string[] }>> = {
    "all of a new key, paused first": { declared: all, sent: ["pause", "pin?parallelism=10&rate=100&period=60"] },
    "nothing that is shown already": { shown: all, declared: all, sent: [] },
    "one limit without the other": {
      shown: all,
      former: all,
      declared: { ...all, parallelism: 3 },
      sent: ["pin?parallelism=3"],
    },
    "a rate with its period": { shown: all, declared: { ...all, period: 30 }, sent: ["pin?rate=100&period=30"] },
    "an unpin of what was declared, and resume last": {
      shown: all,
      former: all,
      declared: { parallelism: 4, paused: false },
      sent: ["pin?parallelism=4", "unpin?rate=true", "resume"],
    },
    "no unpin of what was not declared": { shown: all, declared: { parallelism: 10 }, sent: [] },
    "no unpin of what is not pinned": { former: all, declared: { parallelism: 10 }, sent: ["pin?parallelism=10"] },
    "no resume of a key whose paused is left out": {
      shown: all,
      former: all,
      declared: { ...all, paused: undefined },
      sent: [],
    },
  };
  for (const [what, { shown = {}, former = {}, declared, sent }] of Object.entries(rows)) {
    it(what, () => {
      assert.deepEqual(operationsFor([{ ...open, ...shown }], former, declared).map(written), sent);
    });
  }
});

describe("FlowControlLimits: the check", () => {
  it("refuses what cannot be sent", () => {
    for (const [property, inputs] of [
      ["parallelism", { parallelism: 0 }],
      ["rate", { rate: 1.5 }],
      ["period", { parallelism: 1, period: 60 }],
      ["period", { rate: 1, period: "8d" }],
      ["period", { rate: 1, period: 0.5 }],
      ["period", { rate: 1, period: "canary" }],
      ["paused", { paused: "yes" as never }],
      ["rateMax", { paused: true, rateMax: 1 }],
      ["flowControlKey", {}],
      ["flowControlKey", { parallelism: null, rate: undefined }],
    ] as const) {
      const [problem = ""] = limits.check({ ...key, ...inputs });
      assert.match(problem, new RegExp(`^${property} `), JSON.stringify(inputs));
      assert.doesNotMatch(problem, /canary/);
    }
  });

  it("accepts periods as durations and seconds, and what is not known yet", () => {
    const rows = ["30s", "PT1H", "7d", 604_800].map((period) => ({ period, rate: 1 }));
    for (const inputs of [
      ...rows,
      { paused: false },
      { parallelism: unknown as never },
      { period: 1, rate: unknown as never },
    ]) {
      assert.deepEqual(limits.check({ ...key, ...inputs }), []);
    }
  });

  it("claims the key", () => {
    const { settings } = startRun(new Settings(() => undefined)).options;
    const claimed = (inputs: FlowControlLimitsInputs) =>
      flowControlLimits.claims?.(inputs, settings).map((one) => one.subject);
    assert.deepEqual(claimed(whole), ['flow-control key "orders"']);
    assert.deepEqual(claimed({ ...whole, flowControlKey: unknown }), []);
  });
});

describe("FlowControlLimits: the plan", () => {
  const declared = { rate: 50, period: 1, paused: true };
  const saved = { ...key, ...declared, declared };
  const rows: Readonly<Record<string, readonly [inputs: object, notice: string | undefined | false]>> = {
    "the same limits": [{ rate: 50, period: 1, paused: true }, false],
    "the same limits, written differently": [{ rate: 50, period: "1s", paused: true, parallelism: null }, false],
    "another rate, and a resume": [
      { rate: 100, period: "1m", paused: false },
      "pin rate 100 per 60 s (now 50 per 1 s), resume. A pin resets the key's counters.",
    ],
    "a first parallelism": [
      { rate: 50, paused: true, parallelism: 1 },
      "pin parallelism 1 (now not pinned). A pin resets the key's counters.",
    ],
    "a resume": [{ rate: 50, paused: false }, "resume."],
    "paused that is left out": [{ rate: 50 }, "stays paused, because paused is no longer declared."],
    "a rate that is left out": [{ paused: true }, "unpin rate."],
    "a rate that is not known yet": [{ rate: unknown, paused: true }, undefined],
  };
  for (const [what, [inputs, says]] of Object.entries(rows)) {
    it(`is for ${what}: ${says === false ? "nothing" : says}`, () => {
      const notice = says ? `Flow-control key "orders": ${says}` : undefined;
      assert.deepEqual(limits.plan(saved, { ...key, ...inputs }), {
        changes: says !== false,
        ...(notice && { notice }),
      });
    });
  }
});

describe("FlowControlLimits", () => {
  let platform: Platform;
  let run: Run;
  const changes = () =>
    platform.requests.filter(({ method }) => method === "POST").map(({ path }) => path.replace(/.*\/orders\//, ""));
  const up = async (inputs: FlowControlLimitsInputs, saved?: FlowControlLimitsOutputs) => {
    const applied = await limits.apply(saved, inputs, run);
    if (applied.failure) throw applied.failure;
    return applied.outputs;
  };
  before(async () => (platform = await startPlatform()));
  beforeEach(async () => {
    await platform.reset();
    nextRun();
  });
  after(() => platform.close());
  /** Each run of an engine has a session of its own. */
  function nextRun(): void {
    const { url, queueToken } = platform;
    const settings: Partial<Record<SettingName, string>> = { queueUrl: url, queueToken };
    run = startRun(new Settings((name) => settings[name])).during({ permission: "resets" });
  }
  const byHand = (operation: KeyOperation) =>
    run.platform.flowControl.change("orders", operation, { unchanged: "", unknown: "" });

  it("sees drift at refresh; a key that does not exist is not pinned; a pin without a maximum is 0", async () => {
    const saved = await up(whole);
    platform.setFlowControlKey({ ...key, parallelismMax: 99, isPinnedParallelism: true });
    const { outputs } = await limits.refresh(saved, run);
    assertFields(outputs, { parallelism: 99, rate: undefined, declared: saved.declared });
    const gone = await limits.refresh({ ...saved, flowControlKey: "no-such-key" }, run);
    assertFields(gone.outputs, { parallelism: undefined, declared: saved.declared });
    platform.failNext({ method: "GET", body: { ...key, isPinnedParallelism: true, isPinnedRate: true } });
    assertFields((await limits.refresh(saved, run)).outputs, { parallelism: 0, rate: 0, period: 1 });
    platform.failNext({ method: "GET", status: 403 });
    const failed = await limits.refresh(saved, run);
    assert.equal(failed.outputs, saved);
    assert.match(failed.warning ?? "", /The saved state is unchanged\.$/);
  });

  it("sends nothing that no preview has announced, and the next one announces it; a new resource sends all", async () => {
    const saved = await up(whole);
    await byHand({ action: "unpin", query: { rate: "true" } });
    await byHand({ action: "pause", query: {} });
    const desired = { ...whole, parallelism: 3 };
    const { outputs, warning } = await limits.apply(saved, desired, run);
    const left = "pin rate 100 per 60 s (now not pinned), resume.";
    assert.match(warning ?? "", /^Flow-control key "orders" differs from the saved state\. No preview has announced/);
    assert.ok(warning?.includes(`the next \`up\` changes it: ${left}`), warning);
    assertFields(outputs, { parallelism: 3, rate: undefined, paused: true });
    const notice = `Flow-control key "orders": ${left} A pin resets the key's counters.`;
    assert.equal(limits.plan(outputs, desired, run).notice, notice);
    // What has the announced value already is not sent.
    await up({ ...desired, rate: 7 }, { ...outputs, parallelism: 9, paused: false });
    await up(whole);
    assert.deepEqual(changes().slice(3), [
      "pin?parallelism=3",
      "pin?rate=7&period=60",
      "pin?parallelism=10&rate=100&period=60",
      "resume",
    ]);
  });

  it("saves what was applied before a request failed, owns what is not unpinned, and finishes with the next run", async () => {
    const saved = await up({ ...whole, paused: true });
    platform.failNext({ path: /\/resume/, status: 403 });
    const desired = { ...key, parallelism: 3, paused: false };
    const { outputs, failure } = await limits.apply(saved, desired, run);
    assert.match(failure?.message ?? "", /Already applied: pin, unpin\. Nothing else was changed\. /);
    assertFields(outputs, { parallelism: 3, rate: undefined, paused: true });
    assert.equal(outputs.declared.rate, 100);
    assert.equal(limits.plan(outputs, desired, run).notice, 'Flow-control key "orders": resume.');
  });

  it("waits until the platform shows the change, and saves it also if the key cannot be read then", async () => {
    platform.failNext({ method: "GET", times: 3, body: { ...key, rateMax: 1 } });
    const saved = await up(whole);
    const pinned = { isPinnedParallelism: true, isPinnedRate: true };
    const stale = { ...key, parallelismMax: 10, rateMax: 100, ratePeriod: 60, ...pinned };
    platform.failNext({ method: "GET", times: 3, body: stale });
    assert.equal((await up({ ...key, rate: 100, period: 60 }, saved)).parallelism, undefined);
    await platform.reset();
    platform.failNext({ method: "GET", body: key });
    platform.failNext({ method: "GET", status: 403 });
    const { outputs, failure } = await limits.apply(undefined, whole, run);
    const unread = /confirmed the change .*, but the key could not be read: .* 403.*REKEY_NOT_SHOWN/;
    assert.match(failure?.message ?? "", unread);
    assertFields(outputs, { parallelism: 10, rate: 100, period: 60, paused: false });
  });

  it("is imported with one read, and sends nothing even if another client changes it meanwhile", async () => {
    const record = { ...key, isPinnedRate: true, rateMax: 5, ratePeriod: 60 };
    platform.setFlowControlKey({ ...record, rateMax: 7 });
    platform.failNext({ method: "GET", body: record });
    const declared = { rate: 5, period: 60, paused: false };
    const { inputs, outputs } = (await flowControlLimits.import?.("orders", run)) ?? {};
    assert.deepEqual(
      { inputs, outputs },
      { inputs: { ...key, ...declared }, outputs: { ...key, ...declared, declared } },
    );
    assert.equal(platform.requests.length, 1);
  });

  describe("when it is removed", () => {
    const keeps = /"orders" keeps its limits/;

    it("unpins what is declared, not what was pinned elsewhere, and leaves a paused key paused", async () => {
      const saved = await up({ ...key, rate: 5, paused: true });
      await byHand({ action: "pin", query: { parallelism: "7" } });
      nextRun();
      const said = await limits.remove(saved, run);
      assert.match(said ?? "", /"orders" stays paused: .*`POST \/v2\/flowControl\/orders\/resume`/);
      assert.deepEqual(changes().slice(3), ["unpin?rate=true"]);
      assertFields((await limits.refresh(saved, run)).outputs, { parallelism: 7, rate: undefined, paused: true });
    });

    it("unpins what a destroy only checks before it", async () => {
      const saved = await up(whole);
      nextRun();
      assert.deepEqual(limits.check(whole, run), []);
      const says = /^Flow-control key "orders": unpinned parallelism and rate\. .* there to pin them again\.$/;
      assert.match((await limits.remove(saved, run)) ?? "", says);
      assert.deepEqual(changes().slice(1), ["unpin?parallelism=true&rate=true"]);
    });

    it("under a former name unpins only what the program no longer declares", async () => {
      const former = await up(whole);
      // It is created again first, or was left in the state by the run of the rename.
      assert.match((await limits.remove(former, run)) ?? "", keeps);
      nextRun();
      assert.equal(limits.plan(former, whole, run).changes, false);
      assert.match((await limits.remove(former, run)) ?? "", keeps);
      assert.equal(changes().length, 1);
      nextRun();
      await up({ ...key, rate: 100, period: "1m" });
      assert.match((await limits.remove(former, run)) ?? "", keeps);
      assert.deepEqual(changes().slice(1), ["unpin?parallelism=true"]);
    });
  });
});
