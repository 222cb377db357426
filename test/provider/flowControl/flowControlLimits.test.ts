import assert from "node:assert/strict";
import { type Platform, startPlatform } from "../../../local/platform/index";
import { type Run, startRun } from "../../../provider/run";
import { asShown } from "../../support/fakeRun";
import {
  flowControlLimits,
  type FlowControlLimitsInputs,
  type FlowControlLimitsOutputs,
} from "../../../provider/flowControl/flowControlLimits";
import { type KeyOperation } from "../../../provider/platform/flowControl";
import { assertFields } from "../../support/results";

const limits = asShown(flowControlLimits);
const none: ReadonlySet<string> = new Set();
const key = { flowControlKey: "orders" };
const whole = { ...key, parallelism: 10, rate: 100, period: "1m", paused: false };

describe("FlowControlLimits", () => {
  let platform: Platform;
  let run: Run;
  /** The lines that were shown, and how many changes were sent before each. */
  let logged: { line: string; changes: number }[];
  const changes = () =>
    platform.requests.filter(({ method }) => method === "POST").map(({ path }) => path.replace(/.*\/orders\//, ""));
  const up = async (inputs: FlowControlLimitsInputs, saved?: FlowControlLimitsOutputs) => {
    const applied = await limits.apply(saved, inputs, run);
    if (applied.failure) throw applied.failure;
    return applied.outputs;
  };
  const shown = () => {
    const { isPinnedParallelism, isPinnedRate, parallelismMax, rateMax, ratePeriod, isPaused } =
      platform.flowControlKeys.get("orders") ?? {};
    return {
      ...(isPinnedParallelism && { parallelism: parallelismMax }),
      ...(isPinnedRate && { rate: rateMax, period: ratePeriod }),
      paused: isPaused ?? false,
    };
  };
  before(async () => (platform = await startPlatform()));
  beforeEach(async () => {
    await platform.reset();
    nextRun();
  });
  /** Each run of an engine has a separate session. */
  function nextRun(): void {
    const { url, queueToken } = platform;
    const settings: Record<string, string> = {
      "rekey:queueUrl": url,
      "rekey:queueToken": queueToken,
      "rekey:deadlineSeconds": "3",
    };
    logged = [];
    const log = (line: string) => void logged.push({ line, changes: changes().length });
    run = startRun({ configuration: (name) => settings[name], environment: {}, log }).permitting("resets");
  }
  const byHand = (operation: KeyOperation) =>
    run.platform.flowControl.change("orders", operation, {
      "not sent": "",
      rejected: "",
      "maybe applied": "",
    });
  after(() => platform.close());

  it("pins and pauses what differs, and sends nothing if nothing does", async () => {
    const saved = await up({ ...whole, paused: true });
    assert.deepEqual(changes(), ["pause", "pin?parallelism=10&rate=100&period=60"]);
    assert.deepEqual(shown(), { parallelism: 10, rate: 100, period: 60, paused: true });
    assert.deepEqual(await up({ ...whole, paused: true }, saved), saved);
    assert.equal(changes().length, 2);
    assert.equal(limits.diff(saved, { ...whole, paused: true }, run).changes, false);
    assert.equal(limits.diff(saved, { ...whole, period: 60, paused: true }, run).changes, false);
  });

  it("changes one limit without touching the other, and pauses without pinning", async () => {
    let saved = await up(whole);
    saved = await up({ ...whole, parallelism: 3 }, saved);
    saved = await up({ ...whole, parallelism: 3, paused: true }, saved);
    await up({ ...whole, parallelism: 3, period: 30, paused: true }, saved);
    assert.deepEqual(changes().slice(1), ["pin?parallelism=3", "pause", "pin?rate=100&period=30"]);
    assert.deepEqual(shown(), { parallelism: 3, rate: 100, period: 30, paused: true });
  });

  it("unpins a limit that is left out, only if it was declared, and resumes last", async () => {
    const saved = await up({ ...whole, paused: true });
    await up({ ...key, parallelism: 4, paused: false }, saved);
    assert.deepEqual(changes().slice(2), ["pin?parallelism=4", "unpin?rate=true", "resume"]);
    assert.deepEqual(shown(), { parallelism: 4, paused: false });
    await up({ ...key, rate: 5 });
    assert.deepEqual(shown(), { parallelism: 4, rate: 5, period: 1, paused: false });
  });

  it("does not resume a key whose paused is left out, with one notice", async () => {
    const saved = await up({ ...whole, paused: true });
    const { paused, ...rest } = { ...whole };
    assert.match(limits.diff(saved, rest, run).notice ?? "", /stays paused/);
    const { outputs, notice } = await limits.apply(saved, rest, run);
    assert.match(notice ?? "", /"orders" stays paused, because paused is no longer declared/);
    assert.equal(changes().length, 2);
    assert.equal(limits.diff(outputs, rest, run).changes, false);
  });

  it("shows in a preview what will be sent", async () => {
    const saved = await up({ ...key, rate: 50, paused: true });
    const { notice } = limits.diff(saved, { ...whole, parallelism: null }, run);
    assert.equal(
      notice,
      'Flow-control key "orders": pin rate 100 per 60 s (now 50 per 1 s), resume. A pin resets the counters of the key.',
    );
    assert.match(limits.diff(saved, { ...key, rate: 50, parallelism: 1 }, run).notice ?? "", /resets/);
    assert.equal(
      limits.diff(saved, { ...key, rate: 50, paused: false }, run).notice,
      'Flow-control key "orders": resume.',
    );
  });

  it("sees drift at refresh and puts it back; an unknown key counts as not pinned", async () => {
    const saved = await up(whole);
    platform.setFlowControlKey({ flowControlKey: "orders", parallelismMax: 99, isPinnedParallelism: true });
    const { outputs } = await limits.refresh(saved, run);
    assert.deepEqual(
      { parallelism: outputs.parallelism, rate: outputs.rate, declared: outputs.declared.rate },
      { parallelism: 99, rate: undefined, declared: 100 },
    );
    assert.equal(limits.diff(outputs, whole, run).changes, true);
    await up(whole, outputs);
    assert.deepEqual(shown(), { parallelism: 10, rate: 100, period: 60, paused: false });
    const unknown = await limits.refresh({ ...saved, flowControlKey: "no-such-key" }, run);
    assert.equal(unknown.outputs.parallelism, undefined);
  });

  it("keeps the saved state if a refresh fails", async () => {
    const saved = await up(whole);
    platform.failNext({ method: "GET", status: 403, times: 1 });
    const { outputs, warning } = await limits.refresh(saved, run);
    assert.equal(outputs, saved);
    assert.match(warning ?? "", /The saved state stays\.$/);
  });

  it("unpins what is declared at a removal, even if it was pinned elsewhere, and leaves a paused key paused", async () => {
    const saved = await up({ ...key, rate: 5, paused: true });
    nextRun();
    const said = await limits.remove({ ...saved, parallelism: 7 }, run);
    assert.deepEqual(changes().slice(2), ["unpin?rate=true"]);
    assert.match(said ?? "", /stays paused.*\/v2\/flowControl\/orders\/resume/);
    assert.deepEqual(shown(), { paused: true });
    assert.match((await limits.remove(saved, run)) ?? "", /stays paused/);
    assert.equal(changes().length, 3);
  });

  it("unpins nothing at the removal of a former name of the resource, which is created again first", async () => {
    const renamed = await up(whole);
    assert.match((await limits.remove(renamed, run)) ?? "", /"orders" keeps its limits/);
    assert.equal(changes().length, 1);
  });

  it("unpins nothing at the removal of a former name that the run of the rename left in the state", async () => {
    const saved = await up(whole);
    nextRun();
    assert.equal(limits.diff(saved, whole, run).changes, false);
    assert.match((await limits.remove(saved, run)) ?? "", /"orders" keeps its limits/);
    assert.equal(changes().length, 1);
  });

  it("unpins what a destroy only checks before it removes the resource", async () => {
    const saved = await up(whole);
    nextRun();
    assert.deepEqual(limits.check({ ...whole, owner: "urn:orders" }, none, run), []);
    assert.equal(await limits.remove(saved, run), undefined);
    assert.deepEqual(changes().slice(1), ["unpin?parallelism=true&rate=true"]);
  });

  it("unpins at the removal of a former name only what the new resource no longer declares", async () => {
    const former = await up(whole);
    nextRun();
    await up({ ...key, rate: 100, period: "1m" });
    assert.match((await limits.remove(former, run)) ?? "", /"orders" keeps its limits/);
    assert.deepEqual(changes().slice(1), ["unpin?parallelism=true"]);
    assert.deepEqual(shown(), { rate: 100, period: 60, paused: false });
  });

  it("saves what was sent if a later request fails, and finishes with the next run", async () => {
    platform.failNext({ path: /\/pin/, status: 403 });
    const { outputs, failure } = await limits.apply(undefined, { ...whole, paused: true }, run);
    assert.match(failure?.message ?? "", /Applied: pause\. Not applied: pin\. /);
    assert.equal(outputs.declared.rate, 100);
    const { notice } = limits.diff(outputs, { ...whole, paused: true }, run);
    assert.match(notice ?? "", /^Flow-control key "orders": pin parallelism/, "a preview does not repeat what is done");
    await up({ ...whole, paused: true }, outputs);
    assert.deepEqual(changes(), [
      "pause",
      "pin?parallelism=10&rate=100&period=60",
      "pin?parallelism=10&rate=100&period=60",
    ]);
  });

  it("saves pins and unpins that were applied before a request failed", async () => {
    const saved = await up({ ...whole, paused: true });
    platform.failNext({ path: /\/resume/, status: 403 });
    const desired = { ...key, parallelism: 3, paused: false };
    const { outputs, failure } = await limits.apply(saved, desired, run);
    assert.match(failure?.message ?? "", /Applied: pin, unpin\. Not applied: resume\. /);
    const { declared, ...applied } = outputs;
    assert.deepEqual(applied, { ...key, parallelism: 3, paused: true });
    assert.equal(limits.diff(outputs, desired, run).notice, 'Flow-control key "orders": resume.');
  });

  it("reports that nothing was changed if the first request is refused", async () => {
    platform.failNext({ path: /\/pause/, status: 403 });
    await assert.rejects(up({ ...whole, paused: true }), /The key was not changed\./);
  });

  it("unpins with the next run what a failed run was to unpin", async () => {
    const saved = await up({ ...key, rate: 5 });
    platform.failNext({ path: /\/unpin/, status: 403 });
    const { outputs, failure } = await limits.apply(saved, { ...key, parallelism: 3 }, run);
    assert.match(failure?.message ?? "", /Could not unpin/);
    assert.equal(limits.diff(outputs, { ...key, parallelism: 3 }, run).changes, true);
    await up({ ...key, parallelism: 3 }, outputs);
    assert.deepEqual(shown(), { parallelism: 3, paused: false });
  });

  it("owns what may have been sent: a pin without a response", async () => {
    platform.setFlowControlKey({ ...key, isPaused: true });
    platform.failNext({ path: /\/pin/, times: 3, dropConnection: "after-apply" });
    const { outputs, failure } = await limits.apply(undefined, whole, run);
    assert.match(
      failure?.message ?? "",
      /\. May have been applied: pin\. Not applied: resume\. The next `up` reads the key first\./,
    );
    assert.deepEqual(outputs.declared, { parallelism: 10, rate: 100, period: 60, paused: false });
  });

  it("waits until the platform shows that a limit is no longer pinned", async () => {
    const saved = await up(whole);
    const pinned = { isPinnedParallelism: true, isPinnedRate: true };
    const stale = { ...key, parallelismMax: 10, rateMax: 100, ratePeriod: 60, ...pinned };
    platform.failNext({ method: "GET", times: 3, body: stale });
    assert.equal((await up({ ...key, rate: 100, period: 60 }, saved)).parallelism, undefined);
    assert.deepEqual(changes().slice(1), ["unpin?parallelism=true"]);
  });

  it("reads a pinned maximum that the record leaves out as 0", async () => {
    platform.failNext({ method: "GET", times: 1, body: { ...key, isPinnedParallelism: true, isPinnedRate: true } });
    const { outputs } = await limits.refresh({ ...key, paused: false, declared: {} }, run);
    assertFields(outputs, { parallelism: 0, rate: 0, period: 1 });
  });

  it("waits until the platform shows the change, and fails clearly if it does not", async () => {
    const stale = { ...key, rateMax: 1 };
    platform.failNext({ method: "GET", times: 3, body: stale });
    await up(whole);
    platform.failNext({ method: "GET", times: 100, body: stale });
    await assert.rejects(
      up({ ...whole, rate: 7 }),
      /does not show it in time: pin .*rate 7 per 60 s \(now not pinned\)\..*\[REKEY_NOT_SHOWN\]$/,
    );
    await platform.reset();
  });

  it("saves what was confirmed if it cannot be read afterwards", async () => {
    platform.failNext({ method: "GET", body: key });
    platform.failNext({ method: "GET", status: 403 });
    const { outputs, failure } = await limits.apply(undefined, whole, run);
    assert.match(
      failure?.message ?? "",
      /confirmed the change .*, but the key could not be read: .* 403.*REKEY_NOT_SHOWN/,
    );
    assertFields(outputs, { parallelism: 10, rate: 100, period: 60, paused: false });
  });

  it("names both reasons for a 404 or 405", async () => {
    for (const status of [404, 405]) {
      platform.failNext({ method: "POST", status });
      await assert.rejects(
        up(whole),
        /does not have the operation `pin`, or does not know the key before its first message/,
      );
    }
  });

  it("does not resume a key that was paused elsewhere before a preview announces it", async () => {
    const saved = await up(whole);
    await byHand({ action: "pause", query: {} });
    const desired = { ...whole, parallelism: 3 };
    const { outputs, warning } = await limits.apply(saved, desired, run);
    assert.match(warning ?? "", /^Flow-control key "orders" was paused elsewhere, and was not resumed/);
    assert.deepEqual(shown(), { parallelism: 3, rate: 100, period: 60, paused: true });
    assert.equal(limits.diff(outputs, desired, run).notice, 'Flow-control key "orders": resume.');
    const next = await limits.apply(outputs, desired, run);
    assert.equal(next.warning, undefined);
    assert.deepEqual(changes().slice(2), ["pin?parallelism=3", "resume"]);
  });

  it("resumes a paused key when it is created: the preview shows paused as false", async () => {
    await byHand({ action: "pause", query: {} });
    await up(whole);
    assert.deepEqual(changes().slice(1), ["pin?parallelism=10&rate=100&period=60", "resume"]);
  });

  it("announces what differs from the saved state, and only that, before it is sent", async () => {
    const saved = await up(whole);
    assert.deepEqual(logged, []);
    await byHand({ action: "unpin", query: { rate: "true" } });
    await up({ ...whole, parallelism: 3 }, saved);
    await up({ ...whole, rate: 7, parallelism: 3 }, { ...saved, parallelism: 9 });
    const notice =
      'Flow-control key "orders" differs from the saved state: pin parallelism 3 (now 10) and rate 100 per 60 s (now not pinned). A pin resets the counters of the key.';
    assert.deepEqual(logged, [{ line: notice, changes: 2 }]);
  });

  it("is imported with what is pinned, and sends nothing", async () => {
    await up(whole);
    const inputs = await flowControlLimits.importedInputs!("orders", run);
    assert.deepEqual(inputs, { ...key, parallelism: 10, rate: 100, period: 60, paused: false });
  });

  it("refuses bad input by the name of the field, before anything is sent", () => {
    const wrong: Readonly<Record<string, object>> = {
      parallelism: { parallelism: 0 },
      rate: { rate: 1.5 },
      period: { parallelism: 1, period: 60 },
      "period longer than a week": { rate: 1, period: "8d" },
      "period of no whole second": { rate: 1, period: 0.5 },
      "period in words": { rate: 1, period: "canary" },
      "parallelism, rate or paused": {},
      paused: { paused: "yes" },
      "rateMax is not an input": { paused: true, rateMax: 1 },
    };
    for (const [name, inputs] of Object.entries(wrong)) {
      const [failure] = limits.check({ ...key, ...inputs }, none, run);
      assert.match(failure?.reason ?? "", new RegExp(`^${name.split(" ")[0]}`), name);
      assert.doesNotMatch(failure?.reason ?? "", /canary/);
    }
    for (const period of ["30s", "PT1H", "7d", 604_800]) {
      assert.deepEqual(limits.check({ ...key, rate: 1, period }, none, run), []);
    }
    assert.deepEqual(limits.check({ ...key, period: 1 }, new Set(["rate"]), run), []);
    assert.deepEqual(platform.requests, []);
  });

  it("refuses two resources for one key", () => {
    const one = { ...whole, owner: "urn:one" };
    assert.deepEqual(limits.check(one, none, run), []);
    const [failure] = limits.check({ ...one, owner: "urn:two" }, none, run);
    assert.match(failure?.reason ?? "", /"orders" is already declared by urn:one/);
  });
});
