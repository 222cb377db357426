import assert from "node:assert/strict";
import { rotation } from "../support/resources";
import { limitedByDate, once, silent } from "../support/httpServer";
import { describeFaults } from "./describeFaults";
import { everywhere, stalled, succeeds } from "./expected";
import { formerOutputs } from "./phases";

/** Moves the host's clock. */
const moved = (hours: number): string => `
const Ordinary = Date;
const offset = ${hours} * 3600000;
globalThis.Date = class extends Ordinary {
  constructor(...args) { args.length ? super(...args) : super(Ordinary.now() + offset); }
  static now() { return Ordinary.now() + offset; }
};`;

for (const hours of [24, -24]) {
  const fault = `clock a day ${hours > 0 ? "ahead" : "behind"}`;
  describeFaults(
    `faults: ${fault}`,
    { preload: moved(hours), deadlineSeconds: 8 },
    [
      { row: 42, fault, ...everywhere(succeeds()) },
      {
        row: 42,
        fault: `${fault}, 429 with a date`,
        platform: once(limitedByDate(0)),
        ...everywhere(succeeds({ sent: 2 })),
      },
      { row: 42, fault: `${fault}, silent`, platform: silent, ...stalled },
    ],
    [
      {
        title: [42, fault, "diff", "nothing but rotateEvery changes; 0 sent"],
        test: async ({ host }) => {
          const changes = async (days: number, more = {}) => {
            const at = new Date(Date.now() - days * 86_400_000);
            const former = await formerOutputs("db", host.adapter, { at, ...more });
            return (await host.diff("db", former, rotation("db", { version: "1", ...more }))).changes;
          };
          assert.equal(await changes(100), false);
          assert.equal(await changes(29.5, { rotateEvery: "30d" }), hours > 0);
          assert.equal(await changes(30, { rotateEvery: "30d" }), hours > 0);
          assert.equal(await changes(32, { rotateEvery: "30d" }), true);
        },
      },
    ],
  );
}
