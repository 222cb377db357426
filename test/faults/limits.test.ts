import assert from "node:assert/strict";
import { type Fault, startPlatform } from "../../local/platform/index";
import { providerTexts } from "../support/host";
import { settingsFor } from "../support/resources";
import { until } from "../support/results";
import { hostCalls, Stack } from "../support/stack";
import { revealed } from "../support/wire";
import { testRow } from "./describeFaults";
import { type Fixture } from "./fixture";

const declared = { parallelism: 3, paused: true };
const inputs = { flowControlKey: "orders", ...declared };
const stale = { flowControlKey: "orders" };

/** What happens to the limits of a key, whose requests are `pause` and `pin`. */
const rows = [
  {
    row: 82,
    fault: "the response to a pin is lost",
    failure: { path: /\/pin/, dropConnection: "after-apply", times: 3 },
    code: "REKEY_UNCONFIRMED",
    more: [],
  },
  {
    row: 83,
    fault: "403 between two changes of a key",
    failure: { path: /\/pin/, status: 403 },
    code: "REKEY_REJECTED",
    more: ["pin"],
  },
  {
    row: 84,
    fault: "a change of a key is not shown in time",
    failure: { method: "GET", body: stale, times: 20 },
    code: "REKEY_NOT_SHOWN",
    more: [],
    deadlineSeconds: 3,
  },
] satisfies { failure: Fault; [others: string]: unknown }[];

describe("faults: limits of a flow-control key", () => {
  const start = async (fixture: Fixture, more: { deadlineSeconds?: number | undefined }) => {
    const platform = fixture.closes(await startPlatform({ flowControlKeys: [] }));
    const host = await fixture.startHost({ settings: settingsFor(platform, more) });
    return { platform, host, posts: () => platform.requests.filter(({ method }) => method === "POST") };
  };

  for (const { row, fault, failure, code, more, deadlineSeconds } of rows) {
    const result = `fails, saves what may have been sent; next up: ${more.length} more sent`;
    testRow([row, fault, "limits", result], async (fixture) => {
      const { platform, host, posts } = await start(fixture, { deadlineSeconds });
      const stack = new Stack(hostCalls(host, "FlowControlLimits"));
      platform.failNext(failure);
      await assert.rejects(stack.up(inputs), new RegExp(`\\[${code}\\]`));
      assert.deepEqual(stack.plain["declared"], declared);
      const before = posts().length;
      // Uses up the stale responses that are left.
      const headers = { authorization: `Bearer ${platform.queueToken}` };
      for (let isPaused: unknown; isPaused !== true;) {
        const response = await fetch(`${platform.url}/v2/flowControl/orders`, { headers });
        ({ isPaused } = (await response.json()) as { isPaused?: unknown });
      }
      await stack.up(inputs);
      const sent = posts().slice(before);
      assert.deepEqual(
        sent.map(({ path }) => path.replace(/.*\/(\w+)\?.*/, "$1")),
        more,
      );
    });
  }

  const otherRegion = "404 to every request: a queue of another region";
  testRow([23, otherRegion, "refresh, delete", "fails, state kept; 0 sent"], async (fixture) => {
    const { platform, host, posts } = await start(fixture, {});
    const saved = { ...inputs, declared, __provider: providerTexts.FlowControlLimits };
    const body = { error: "user not found in this region" };
    platform.failNext({ path: /^\/v2\//, status: 404, body, times: 100 });
    assert.deepEqual(revealed((await host.read("orders", saved)).outputs)["declared"], declared);
    await until(() => /the region of the token and rekey:queueUrl/s.test(host.said));
    await assert.rejects(
      host.delete("orders", saved),
      /Nothing was changed.*the region of the token and rekey:queueUrl/s,
    );
    assert.deepEqual(posts(), []);
  });
});
