import assert from "node:assert/strict";
import { setTimeout as wait } from "node:timers/promises";
import { EngineListener } from "../support/engineListener";
import { Host } from "../support/host";
import { type Exchange, HttpServer } from "../support/httpServer";
import { databaseText } from "../support/platformBodies";
import { rotation } from "../support/resources";
import { expectKind, until } from "../support/results";
import { caFile, certificate } from "./certificates";
import { testRow } from "./describeFaults";
import { Proxy } from "./network";
import { type Fixture, type FixtureOptions } from "./fixture";

const count = 50;
const secure: FixtureOptions = { server: { tls: certificate("good") }, settings: () => ({ caFile }) };
const platforms: Record<string, FixtureOptions & { concurrency: number }> = {
  TLS: { ...secure, concurrency: count },
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
          settings: async (server) => ({ ...(await settings?.(server, fixture)), ...more }),
          deadlineSeconds: 60,
        });
        const results = Array.from({ length: count }, (_, nth) => host.create(rotation(`db-${nth}`)));
        await until(() => proxy.heads.length === concurrency);
        await host.engine.kill();
        if (successor) fixture.closes(await EngineListener.start(host.engine.port));
        connect();
        for (const result of await Promise.all(results)) {
          assert.match(expectKind("failed", result).message, /engine.*ended.*was not changed\./s);
        }
        assert.equal(server.requests.length, 0);
      });
    }
  }

  testRow([53, "the engine is killed, and notices follow", "create", "the process ends; 0 more sent"], assertEnds);
});

/** Nobody reads what the process prints any longer: neither before it has seen that its engine is gone, nor after. */
async function assertEnds(fixture: Fixture): Promise<void> {
  const held: Exchange[] = [];
  const server = fixture.closes(await HttpServer.start({ behaviour: (exchange) => void held.push(exchange) }));
  const settings = { baseUrl: server.url, username: "u", password: "p" };
  const ids = ["a", "b", "c", "d", "e"];
  const host = await Host.start({ adapter: fixture.adapter, settings });
  fixture.closes({ close: () => host.stop() });
  const creating = Promise.allSettled(ids.map((id) => host.create(rotation(id))));
  await until(() => held.length === ids.length);
  await host.abandon();
  await creating;
  for (const [nth, { answer, path }] of held.entries()) {
    if (nth === 2) await wait(1_000);
    // A notice says that the port could not be read.
    answer(200, {}, databaseText({ database_id: path.split("/").at(-1), port: "many", password: `new-${nth}` }));
  }
  await host.ended;
  assert.equal(server.requests.length, ids.length);
}
