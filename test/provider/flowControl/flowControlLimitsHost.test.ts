import assert from "node:assert/strict";
import { Client } from "@upstash/qstash";
import { type Platform, startPlatform } from "../../../local/platform/index";
import { type Delivery, Destination } from "../../local/platform/queue/destination";
import { adapters, Host } from "../../support/host";
import { configurationFor, keyLimits } from "../../support/resources";
import { expectKind } from "../../support/results";
import { type Properties, revealed } from "../../support/wire";

const whole = { parallelism: 10, rate: 100, period: "1m", paused: true };

for (const adapter of adapters) {
  describe(`flow control: limits in a real process, ${adapter}`, () => {
    let platform: Platform;
    let host: Host;
    let client: Client;
    let saved: Properties | undefined;
    beforeEach(async () => {
      platform = await startPlatform({ flowControlKeys: [] });
      client = new Client({ baseUrl: platform.url, token: platform.queueToken, retry: false });
      host = await start();
      saved = undefined;
    });
    const start = () => Host.start({ adapter, config: configurationFor(platform, { deadlineSeconds: 5 }) });
    async function nextRun(): Promise<void> {
      await host.stop();
      host = await start();
    }
    afterEach(async () => {
      await host.stop();
      await platform.close();
    });

    /** Changes of the key since the last call. */
    let seen = 0;
    beforeEach(() => (seen = 0));
    function sent(): string[] {
      const posts = platform.requests.filter(({ method, path }) => method === "POST" && path.includes("/flowControl/"));
      return posts.slice(seen, (seen = posts.length)).map(({ path }) => path.replace("/v2/flowControl/orders/", ""));
    }
    /** As an engine does it: create, or diff and update. */
    async function up(declared: object): Promise<string[]> {
      const inputs = keyLimits("orders", { ...declared });
      assert.deepEqual((await host.check(inputs)).failures, []);
      if (saved === undefined || (await host.diff("orders", saved, inputs)).changes === "some") {
        const made = saved ? host.update("orders", saved, inputs) : host.create(inputs);
        saved = revealed(expectKind("done", await made).outs);
      }
      return sent();
    }
    /** What the vendor's client sees, in the form of the outputs. */
    async function seenByClient() {
      const key = await client.flowControl.get("orders");
      return {
        ...(key.isPinnedParallelism && { parallelism: key.parallelismMax }),
        ...(key.isPinnedRate && { rate: key.rateMax, period: key.ratePeriod }),
        paused: key.isPaused ?? false,
      };
    }
    async function assertSame(): Promise<void> {
      const { parallelism, rate, period, paused } = saved ?? {};
      const outputs = { parallelism, rate, period, paused };
      const set = Object.entries(outputs).filter(([, value]) => value !== undefined);
      assert.deepEqual(Object.fromEntries(set), await seenByClient());
    }
    /** The saved outputs of the plugin do not contain the text that names the type. */
    const withProvider = () => keyLimits("orders", saved);
    const refresh = async () => (saved = revealed((await host.read("orders", withProvider())).outs));

    it("sends exactly what each change needs, and the vendor's client sees the outputs", async () => {
      const steps: readonly { declared: object; posts: string[] }[] = [
        { declared: whole, posts: ["pause", "pin?parallelism=10&rate=100&period=60"] },
        { declared: { ...whole, period: 60 }, posts: [] },
        { declared: { ...whole, parallelism: 3 }, posts: ["pin?parallelism=3"] },
        { declared: { ...whole, parallelism: 3, rate: undefined, period: undefined }, posts: ["unpin?rate=true"] },
        { declared: { parallelism: 3, paused: false }, posts: ["resume"] },
        { declared: { parallelism: 3, paused: true }, posts: ["pause"] },
        { declared: { parallelism: 3 }, posts: [] },
      ];
      for (const { declared, posts } of steps) {
        assert.deepEqual(await up(declared), posts);
        await assertSame();
      }
      await nextRun();
      await host.delete("orders", withProvider());
      assert.deepEqual(sent(), ["unpin?parallelism=true"]);
      assert.deepEqual(await seenByClient(), { paused: true });
    });

    it("shows what the vendor's client changed, and puts it back", async () => {
      await up({ ...whole, paused: false });
      const drifts: readonly { drift: () => Promise<unknown>; posts: string[] }[] = [
        { drift: () => client.flowControl.pin("orders", { parallelism: 99 }), posts: ["pin?parallelism=10"] },
        { drift: () => client.flowControl.unpin("orders", { rate: true }), posts: ["pin?rate=100&period=60"] },
        { drift: () => client.flowControl.pause("orders"), posts: ["resume"] },
      ];
      for (const { drift, posts } of drifts) {
        sent();
        await drift();
        sent();
        await refresh();
        await assertSame();
        assert.deepEqual(await up({ ...whole, paused: false }), posts);
        await assertSame();
      }
    });

    it("never lets more messages run than are pinned, whatever the messages say", async () => {
      const open: Delivery[] = [];
      const destination = await new Destination((delivery) => void open.push(delivery)).start();
      await up({ parallelism: 3 });
      const flowControl = { key: "orders", parallelism: 20 };
      const { url } = destination;
      await client.batch(Array.from({ length: 30 }, (_, body) => ({ url, body: String(body), flowControl })));
      for (let arrived = 3; arrived <= 30; arrived += 3) {
        await destination.arrived(arrived);
        for (const delivery of open.splice(0)) delivery.respond();
      }
      assert.deepEqual({ most: destination.mostAtOnce, all: destination.deliveries.length }, { most: 3, all: 30 });
      await destination.close();
    });
  });
}
