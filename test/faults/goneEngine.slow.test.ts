import assert from "node:assert/strict";
import { EngineListener } from "../support/engineListener";
import { rotation } from "../support/resources";
import { expectKind, until } from "../support/results";
import { caFile, certificate } from "./certificates";
import { testRow } from "./describeFaults";
import { Proxy } from "./network";
import { type FixtureOptions } from "./fixture";

const count = 50;
const secure: FixtureOptions = { server: { tls: certificate("good") }, settings: () => ({ caFile }) };
const platforms: Record<string, FixtureOptions & { concurrency: number }> = {
  http: { concurrency: count },
  "TLS, only half of it at a time": { ...secure, concurrency: count / 2 },
};
const rows = [
  { row: 55, fault: "the engine is killed while a proxy connects", successor: false },
  { row: 56, fault: "another server takes the port of the killed engine", successor: true },
];

describe("faults: the engine is gone when a connection is ready", () => {
  for (const [platform, { concurrency, server: serverOptions = {}, settings }] of Object.entries(platforms)) {
    for (const { row, fault, successor } of rows) {
      testRow([row, `${fault} (${platform})`, "create", "fails, state kept; 0 sent"], async (fixture) => {
        let connect = (): void => undefined;
        const held = new Promise<void>((resolve) => (connect = resolve));
        const proxy = fixture.closes(await Proxy.start({ beforeOpening: () => held }));
        const more = { proxy: `http://127.0.0.1:${proxy.port}`, maxConcurrency: concurrency };
        const { host, server } = await fixture.start({
          server: serverOptions,
          settings: async (server) => ({ ...(await settings?.(server)), ...more }),
          deadlineSeconds: 60,
        });
        const results = Array.from({ length: count }, (_, nth) => host.create(rotation(`db-${nth}`)));
        await until(() => proxy.heads.length === concurrency);
        await host.engine.kill();
        if (successor) fixture.closes(await EngineListener.start(host.engine.port));
        connect();
        for (const result of await Promise.all(results)) {
          assert.match(expectKind("failed", result).message, /engine.*ended.*not changed: nothing was sent/s);
        }
        assert.equal(server.requests.length, 0);
      });
    }
  }
});
