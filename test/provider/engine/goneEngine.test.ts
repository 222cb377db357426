import { adapters, configuration, Host, type HostOptions } from "../../support/host";
import { rotation } from "../../support/resources";
import { until } from "../../support/results";
import { HttpServer } from "../../support/httpServer";

describe("the process of a provider", function () {
  let server: HttpServer;
  beforeEach(async () => {
    server = await HttpServer.start();
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

  for (const adapter of adapters) {
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
});
