import assert from "node:assert/strict";
import { type Fault, type Platform, startPlatform } from "../../local/platform/index";
import { adapters, Host } from "../support/host";
import { configurationFor, keyLimits } from "../support/resources";
import { expectKind, until } from "../support/results";
import { revealed } from "../support/wire";
import { titled } from "./describeFaults";

const inputs = keyLimits("orders", { parallelism: 3, paused: true });
const stale = { flowControlKey: "orders" };

/** What happens to the limits of a key, whose requests are `pause` and `pin`. */
const rows: readonly {
  readonly row: number;
  readonly fault: string;
  readonly faults: readonly Fault[];
  readonly code: string;
  readonly more: readonly string[];
}[] = [
  {
    row: 82,
    fault: "the response to a pin is lost",
    faults: [{ path: /\/pin/, dropConnection: "after-apply", times: 3 }],
    code: "REKEY_UNCONFIRMED",
    more: [],
  },
  {
    row: 83,
    fault: "403 between two changes of a key",
    faults: [{ path: /\/pin/, status: 403 }],
    code: "REKEY_REJECTED",
    more: ["pin"],
  },
  {
    row: 84,
    fault: "a change of a key is not shown in time",
    faults: [{ method: "GET", body: stale, times: 20 }],
    code: "REKEY_NOT_SHOWN",
    more: [],
  },
];

for (const adapter of adapters) {
  describe(`faults: limits of a flow-control key, ${adapter}`, () => {
    let platform: Platform;
    let host: Host;
    before(async () => {
      platform = await startPlatform({ flowControlKeys: [] });
      host = await Host.start({ adapter, config: configurationFor(platform, { deadlineSeconds: 1 }) });
    });
    beforeEach(() => platform.reset());
    after(async () => {
      await host.stop();
      await platform.close();
    });
    /** Uses up the stale responses that are left. */
    async function untilShown(): Promise<void> {
      const headers = { authorization: `Bearer ${platform.queueToken}` };
      for (let isPaused: unknown; isPaused !== true;) {
        const response = await fetch(`${platform.url}/v2/flowControl/orders`, { headers });
        ({ isPaused } = (await response.json()) as { isPaused?: unknown });
      }
    }
    const posts = () => platform.requests.filter(({ method }) => method === "POST");

    for (const { row, fault, faults, code, more } of rows) {
      const result = `fails, saves what may have been sent; next up: ${more.length} more sent`;
      it(titled(row, fault, "limits", result, adapter), async () => {
        for (const one of faults) platform.failNext(one);
        const failed = expectKind("init error", await host.create(inputs));
        assert.match(failed.message, new RegExp(`\\[${code}\\]`));
        const saved = revealed(failed.outs);
        assert.deepEqual(saved["declared"], { parallelism: 3, paused: true });
        const before = posts().length;
        await untilShown();
        expectKind("done", await host.update("orders", saved, inputs));
        const sent = posts().slice(before);
        assert.deepEqual(
          sent.map(({ path }) => path.replace(/.*\/(\w+)\?.*/, "$1")),
          more,
        );
      });
    }

    const otherRegion = "404 to every request: a queue of another region";
    it(titled(23, otherRegion, "refresh, delete", "fails, state kept; 0 sent", adapter), async () => {
      const saved = { ...inputs, declared: { parallelism: 3, paused: true } };
      const isolated = await Host.start({ adapter, config: configurationFor(platform) });
      try {
        platform.failNext({
          path: /^\/v2\//,
          status: 404,
          body: { error: "user not found in this region" },
          times: 100,
        });
        assert.deepEqual(revealed((await isolated.read("orders", saved)).outs)["declared"], saved.declared);
        await until(() =>
          /the region of the token and rekey:queueUrl/s.test(isolated.stderr + isolated.engine.received),
        );
        await assert.rejects(
          isolated.delete("orders", saved),
          /Nothing was changed.*the region of the token and rekey:queueUrl/s,
        );
        assert.deepEqual(posts(), []);
      } finally {
        await isolated.stop();
      }
    });
  });
}
