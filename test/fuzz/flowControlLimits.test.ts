import assert from "node:assert/strict";
import fc from "fast-check";
import {
  flowControlLimits,
  type FlowControlLimitsInputs,
  type FlowControlLimitsOutputs,
} from "../../provider/flowControl/flowControlLimits";
import { type FlowControl, type KeyOperation } from "../../provider/platform/flowControl";
import { type Run } from "../../provider/run";
import { FakeRun } from "../support/fakeRun";
import { fuzz, timeoutFor } from "./settings";

/** What is in force at the platform; a limit that is undefined is not pinned. */
interface Key {
  parallelism?: number | undefined;
  rate?: string | undefined;
  paused: boolean;
}

const flowControlKey = "orders";
const small = fc.constantFrom(undefined, 1, 2);
const inputs = fc
  .record({
    parallelism: small,
    rate: small,
    period: fc.constantFrom(1, 60),
    paused: fc.constantFrom(undefined, true, false),
  })
  .map(({ period, ...limits }) => ({ ...limits, ...(limits.rate !== undefined && { period }) }));
/** A program that runs, or a change by someone else. */
const step = fc.oneof(
  inputs.map((declared) => ({ declared: declared as Omit<FlowControlLimitsInputs, "flowControlKey"> })),
  fc
    .record({ parallelism: small, rate: fc.constantFrom(undefined, "1 1", "2 60"), paused: fc.boolean() })
    .map((drift) => ({ drift })),
);

describe("fuzz: limits of a flow-control key", () => {
  it("sends only what differs, in the order that is stricter first, and repeats nothing", async () => {
    const property = fc.asyncProperty(fc.array(step, { maxLength: 8 }), async (steps) => {
      let key: Key = { paused: false };
      let former: Key | undefined;
      let sent: string[] = [];
      const run = runOf(
        () => key,
        (action, query) => {
          sent.push(action);
          const was = { ...key };
          if (action === "pause" || action === "resume") key.paused = action === "pause";
          if (action === "pin") {
            if (query["parallelism"]) key.parallelism = Number(query["parallelism"]);
            if (query["rate"]) key.rate = `${query["rate"]} ${query["period"]}`;
            for (const name of ["parallelism", "rate"] as const) assert.ok(!query[name] || key[name] !== was[name]);
          }
          if (action === "unpin") {
            for (const name of ["parallelism", "rate"] as const) {
              if (query[name] !== "true") continue;
              assert.ok(key[name] !== undefined && former?.[name] !== undefined, "only what it had declared");
              key[name] = undefined;
            }
          }
          assert.notDeepEqual(key, was, `${action} changes something`);
        },
      );
      let saved: FlowControlLimitsOutputs | undefined;
      for (const one of steps) {
        if ("drift" in one) {
          key = { ...one.drift };
          continue;
        }
        const desired = { flowControlKey, ...one.declared };
        const before = { ...key };
        sent = [];
        const isAnnounced = saved?.paused ?? true;
        saved = (await flowControlLimits.apply(saved, desired, run)).outputs;
        const order = ["pause", "pin", "unpin", "resume"];
        assert.deepEqual(
          sent,
          order.filter((action) => sent.includes(action)),
          "once each, in this order",
        );
        const { parallelism, rate, period, paused } = one.declared;
        const wanted = { parallelism, rate: rate === undefined ? undefined : `${rate} ${period}`, paused };
        if (paused === false && before.paused && !isAnnounced) {
          assert.ok(key.paused, "resumes only what the saved state shows as paused");
          assert.equal(flowControlLimits.plan(saved, desired, run).changes, true);
          saved = (await flowControlLimits.apply(saved, desired, run)).outputs;
        }
        assert.equal(key.paused, paused ?? before.paused);
        for (const name of ["parallelism", "rate"] as const) {
          const kept = former?.[name] === undefined ? before[name] : undefined;
          assert.equal(key[name], wanted[name] ?? kept, name);
        }
        sent = [];
        assert.equal(flowControlLimits.plan(saved, desired, run).changes, false);
        assert.deepEqual((await flowControlLimits.apply(saved, desired, run)).outputs, saved);
        assert.deepEqual(sent, []);
        former = wanted as Key;
      }
    });
    await fc.assert(property, fuzz(300));
  }).timeout(timeoutFor(300));
});

function runOf(
  keyNow: () => Key,
  change: (action: string, query: Readonly<Record<string, string | undefined>>) => void,
): Run {
  const get = async () => {
    const { parallelism, rate, paused } = keyNow();
    const [rateMax, ratePeriod] = (rate ?? "9 9").split(" ").map(Number);
    // After an unpin, the platform goes on showing the last values.
    const limits = { parallelismMax: parallelism ?? 9, rateMax, ratePeriod };
    const pins = { isPinnedParallelism: parallelism !== undefined, isPinnedRate: rate !== undefined };
    return { flowControlKey, exists: true, ...limits, ...pins, isPaused: paused };
  };
  const send = async (_key: string, { action, query }: KeyOperation) => change(action, query);
  return new FakeRun().start({ flowControl: { get, change: send } as unknown as FlowControl });
}
