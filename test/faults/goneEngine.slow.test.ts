import assert from "node:assert/strict";
import { EngineListener } from "../support/engineListener";
import { rotation } from "../support/resources";
import { expectKind, until } from "../support/results";
import { caFile, certificate } from "./certificates";
import { titled } from "./describeFaults";
import { Proxy } from "./proxy";
import { World, type WorldOptions } from "./world";

const count = 50;
const secure: WorldOptions = { server: { tls: certificate("good") }, settings: () => ({ caFile }) };
const platforms = { http: {}, "TLS, only half of it at a time": { ...secure, concurrency: count / 2 } };

describe("faults: the engine is gone when a connection is ready", () => {
  for (const [platform, { concurrency = count, ...options }] of Object.entries<WorldOptions & { concurrency?: number }>(
    platforms,
  )) {
    for (const [row, fault, successor] of [
      [55, `the engine is killed while a proxy connects (${platform})`, false],
      [56, `another server takes the port of the killed engine (${platform})`, true],
    ] as const) {
      it(titled(row, fault, "create", "fails, state kept; 0 sent"), async () => {
        let connect = (): void => undefined;
        const held = new Promise<void>((resolve) => (connect = resolve));
        const proxy = await Proxy.start({ beforeOpening: () => held });
        const world = await World.start({
          ...options,
          settings: async (server) => ({
            ...(await options.settings?.(server)),
            proxy: `http://127.0.0.1:${proxy.port}`,
            maxConcurrency: concurrency,
          }),
          deadlineSeconds: 60,
        });
        const { host, server } = world;
        const results = Array.from({ length: count }, (_, nth) => host.create(rotation(`db-${nth}`)));
        // The connections of those under way, and those opened ahead of the others.
        await until(() => proxy.heads.length === count);
        await host.engine.close();
        const other = successor ? await EngineListener.start(host.engine.port) : undefined;
        connect();
        for (const result of await Promise.all(results)) {
          const { message } = expectKind("failed", result);
          assert.match(
            message,
            /the engine that requested it is gone.*The password was not changed: nothing was sent/s,
          );
        }
        assert.equal(server.requests.length, 0);
        await world.close();
        await other?.close();
        await proxy.close();
      });
    }
  }
});
