import assert from "node:assert/strict";
import { setTimeout as wait } from "node:timers/promises";
import { adapters, configuration, Host, type HostOptions } from "../../support/host";
import { KillableEngine } from "../../support/killableEngine";
import { rotation } from "../../support/resources";
import { until } from "../../support/results";
import { type Exchange, HttpServer } from "../../support/httpServer";

/** Milliseconds in which a process that does not wait would have ended. */
const longEnoughMs = 500;

describe("the process of a provider", function () {
  let server: HttpServer;
  let held: Exchange | undefined;
  beforeEach(async () => {
    server = await HttpServer.start();
    server.behave("POST", "held", (exchange) => void (held = exchange));
  });
  const started: { stop(): Promise<void> }[] = [];
  afterEach(async () => {
    for (const one of started.splice(0)) await one.stop();
    await server.close();
  });
  const optionsFor = (adapter: HostOptions["adapter"], more: object = {}): HostOptions => {
    const settings = {
      ...more,
      baseUrl: `http://127.0.0.1:${server.port}`,
      username: "u",
      password: "p",
      maxConcurrency: 1,
    };
    return { adapter, config: configuration(settings) };
  };

  /** Kills the engine while the server holds a request. The process must end once the server has responded. */
  async function assertFinishes(engine: KillableEngine, requests: number): Promise<void> {
    started.push(engine);
    await until(() => server.requests.length === requests);
    await engine.kill();
    await wait(longEnoughMs);
    assert.deepEqual({ runs: engine.providerRuns, cut: held?.socket.destroyed }, { runs: true, cut: false });
    held?.answer(200);
    await engine.providerEnded();
    assert.equal(server.requests.length, requests, "nothing was sent without an engine");
  }

  for (const adapter of adapters) {
    it(`ends when its engine was killed and its request in flight is finished (${adapter})`, async () => {
      const resources = ["held", "queued-1", "queued-2"].map((id) => rotation(id));
      await assertFinishes(await KillableEngine.start(optionsFor(adapter), ...resources), 1);
    });

    it(`ends when its engine was killed while it reads a database after a reset (${adapter})`, async () => {
      const record = { database_id: "db", port: 1 };
      server.behave("POST", "db", (exchange) => exchange.answer(200, {}, JSON.stringify(record)));
      const former = JSON.stringify({ ...record, password: "former" });
      server.behave("GET", "db", (exchange) => exchange.answer(200, {}, former));
      const options = optionsFor(adapter, { databasePath: "/v2/redis/database/{id}", deadlineSeconds: 600 });
      const engine = await KillableEngine.start(options, rotation("db"));
      started.push(engine);
      await until(() => server.count("GET", "db") >= 3);
      await engine.kill();
      await engine.providerEnded();
      assert.equal(server.count("POST", "db"), 1);
    });

    it(`stays while its engine lives, which may close a connection that is not used (${adapter})`, async () => {
      const host = await Host.start(optionsFor(adapter));
      started.push(host);
      // The dynamic host loads the provider with its first resource.
      await host.check(rotation("db"));
      host.disconnect();
      const { engine } = host;
      for (const connection of [1, 2, 3]) {
        // Each connection but the first begins with a call, which shows that the engine lives.
        await until(() => engine.connections === connection && engine.calls === connection - 1);
        engine.closeIdle();
      }
      await until(() => engine.calls === 3);
      await engine.close();
      await host.ended;
    });
  }

  it("ends when another provider in Pulumi's host has finished its work, too", async () => {
    const url = `http://127.0.0.1:${server.port}/held`;
    const __provider = `exports.handler=()=>({create:async()=>{await fetch("${url}",{method:"POST"});return{id:"1",outs:{}}}})`;
    await assertFinishes(await KillableEngine.start(optionsFor("dynamic"), rotation("db"), { __provider }), 2);
  });
});
