import assert from "node:assert/strict";
import { type Platform, startPlatform } from "../../../../local/platform/index";
import { Host } from "../../../support/host";
import { environmentOf } from "../../../support/project";
import { configurationFor, counterReset, rotation } from "../../../support/resources";
import { expectKind, until } from "../../../support/results";

const id = "db-quickstart";

/** Makes the host one of @pulumi/pulumi below 3.139.0, which never calls `configure`. */
const withoutConfigure = `import { createRequire } from "node:module";
const provider = createRequire(process.cwd() + "/index.js")("pulumi-rekey/provider");
for (const resource of Object.values(provider)) delete resource.configure;`;

describe("provider host: settings", () => {
  let platform: Platform;
  let host: Host;
  const start = async (...options: Parameters<typeof Host.start>) => (host = await Host.start(...options));
  /** The status of the first request, as each request arrives. */
  const firstStatuses: (number | undefined)[] = [];
  before(async () => {
    platform = await startPlatform({ onRequest: () => firstStatuses.push(platform.requests[0]?.status) });
  });
  beforeEach(() => {
    firstStatuses.length = 0;
    return platform.reset();
  });
  afterEach(() => host.stop());
  after(() => platform.close());

  it("that the host does not pass on are not replaced by the environment's", async () => {
    await start({ env: environmentOf(platform), preload: withoutConfigure });
    const refused = /Nothing was sent.*3\.139\.0/s;
    for (const inputs of [rotation(id), counterReset("orders")]) {
      const { failures } = await host.check(inputs);
      assert.equal(failures.length, 1);
      assert.match(failures[0]?.reason ?? "", refused);
      assert.match(expectKind("failed", await host.create(inputs)).message, refused);
    }
    const saved = { ...rotation(id), outcome: "reset", rotationCount: 1 };
    assert.match(expectKind("failed", await host.update(id, saved, rotation(id, { version: 2 }))).message, refused);
    assert.equal((await host.read(id, saved)).id, id);
    await host.delete(id, saved);
    assert.equal(platform.requests.length, 0);
  });

  it("come from the environment; those of the management interface are not needed to reset a flow-control key", async () => {
    const { url, queueToken } = platform;
    await start({ env: { REKEY_QUEUE_URL: url, REKEY_QUEUE_TOKEN: queueToken } });
    assert.equal((await host.create(counterReset("orders"))).kind, "done");
  });

  it("are limits of both resources together: two provider texts share one run", async () => {
    await start({ config: configurationFor(platform, { maxResetsPerRun: 1, maxConcurrency: 1 }) });
    platform.failNext({ delayMs: 300, method: "POST", path: /reset-password/ });
    const slow = host.create(rotation(id));
    await until(() => platform.requests.length === 1);
    expectKind("done", await host.create(counterReset("orders")));
    expectKind("done", await slow);
    const [, ...later] = firstStatuses;
    assert.ok(later.length > 0 && later.every((status) => status === 200), "the counter reset waits in the same queue");
  });
});
