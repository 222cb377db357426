import assert from "node:assert/strict";
import { Client } from "@upstash/qstash";
import { type Platform } from "../../local/index";
import { Fixture } from "../model/real/fixture";
import { fails, pluginOnCli, resourceNamed, succeeds, valuesOf } from "../support/engine";
import { runEngine } from "../support/engineProcess";
import { fixture, onEngine, onEveryEngine } from "../support/onEngines";
import { environmentOf } from "../support/project";
import { assertFields } from "../support/results";

/** A program with limits of the key `orders`, and outputs as the platform shows them. */
const limiting = (args: string, { name = "orders", options = "{}", more = "" } = {}) => `
const { FlowControlLimits, FlowControlReset } = require("pulumi-rekey");
const limits = new FlowControlLimits("${name}", { flowControlKey: "orders", ${args} }, ${options});
for (const name of ["parallelism", "rate", "period", "paused"]) exports[name] = limits[name];
${more}`;

/** The changes of the key since the former call. */
function changesAt(platform: Platform): () => string[] {
  let seen = 0;
  return () => {
    const posts = platform.requests.filter(({ method }) => method === "POST");
    return posts.slice(seen, (seen = posts.length)).map(({ path }) => path.replace("/v2/flowControl/orders/", ""));
  };
}

const whole = 'parallelism: 10, rate: 100, period: "1m", paused: true';
const pinned = "pin?parallelism=10&rate=100&period=60";

onEveryEngine("Limits of a flow-control key", (engine) => {
  const start = async (program: string) => {
    const made = await fixture(engine, program, { flowControlKeys: [] });
    const { url: baseUrl, queueToken: token } = made.platform;
    return {
      ...made,
      sent: changesAt(made.platform),
      vendor: new Client({ baseUrl, token, retry: false }).flowControl,
    };
  };

  it("are pinned, changed, removed, paused, resumed, put back and destroyed with exactly these requests", async () => {
    const { stack, project, sent, vendor } = await start(limiting(whole));
    const up = async (args?: string) => {
      if (args !== undefined) project.rewrite(limiting(args));
      const result = await succeeds(stack.up());
      return { posts: sent(), outputs: valuesOf(result) };
    };
    await succeeds(stack.preview());
    assert.deepEqual(sent(), []);
    assert.deepEqual((await up()).posts, ["pause", pinned]);
    assert.deepEqual((await up()).posts, []);
    assert.deepEqual((await up('parallelism: 10, rate: 50, period: "1m", paused: true')).posts, [
      "pin?rate=50&period=60",
    ]);
    assert.deepEqual((await up("parallelism: 10, paused: false")).posts, ["unpin?rate=true", "resume"]);
    const { posts, outputs } = await up("parallelism: 10, paused: true");
    assert.deepEqual(posts, ["pause"]);
    assert.deepEqual(outputs, { parallelism: 10, paused: true });
    assertFields(await vendor.get("orders"), { isPinnedParallelism: true, isPinnedRate: false, isPaused: true });

    await vendor.pin("orders", { parallelism: 99 });
    await vendor.resume("orders");
    sent();
    await succeeds(stack.refresh());
    const { printed } = await succeeds(stack.preview());
    assert.match(printed, /Flow-control key "orders": pause, pin parallelism 10 \(now 99\)\./);
    assert.deepEqual((await up()).posts, ["pause", "pin?parallelism=10"]);

    const destroyed = await succeeds(stack.destroy());
    assert.deepEqual(sent(), ["unpin?parallelism=true"]);
    assert.match(destroyed.printed, /"orders" stays paused: removing its limits does not resume it/);
    assert.equal((await vendor.get("orders")).isPaused, true);
  });

  it("stay for a new name of the resource, and for retainOnDelete", async () => {
    const { stack, project, sent, vendor } = await start(limiting("rate: 5"));
    await succeeds(stack.up());
    const options = "{ retainOnDelete: true }";
    project.rewrite(limiting("rate: 5", { name: "renamed", options }));
    const { printed } = await succeeds(stack.up());
    assert.match(printed, /"orders" keeps its limits/);
    await succeeds(stack.destroy());
    assert.deepEqual(sent(), ["pin?rate=5&period=1"]);
    assert.equal((await vendor.get("orders")).isPinnedRate, true);
  });

  it("stay for a new name of the resource if another resource fails in the run of the rename", async () => {
    const { stack, project, platform, sent } = await start(limiting("rate: 5"));
    await succeeds(stack.up());
    const more = 'new FlowControlReset("orders", { flowControlKey: "orders" }, { dependsOn: limits });';
    project.rewrite(limiting("rate: 5", { name: "renamed", more }));
    platform.failNext({ path: /\/reset/, status: 403 });
    await fails(stack.up(), /REKEY_REJECTED/);
    assert.match((await succeeds(stack.up())).printed, /"orders" keeps its limits/);
    assert.deepEqual(sent(), ["pin?rate=5&period=1", "reset", "reset"]);
    await succeeds(stack.destroy());
    assert.deepEqual(sent(), ["unpin?rate=true"]);
  });

  it("work with a reset that depends on them, and move with the key", async () => {
    const more =
      'exports.at = new FlowControlReset("orders", { flowControlKey: "orders", version: 1 }, { dependsOn: limits }).resetAt;';
    const program = limiting("rate: 5", { more });
    const { stack, project, sent, vendor } = await start(program);
    await succeeds(stack.up());
    assert.deepEqual(sent(), ["pin?rate=5&period=1", "reset"]);
    project.rewrite(program.replace('"orders", rate', '"emails", rate'));
    await succeeds(stack.up());
    assert.deepEqual(sent(), ["/v2/flowControl/emails/pin?rate=5&period=1", "unpin?rate=true"]);
    assert.equal((await vendor.get("emails")).rateMax, 5);
  });

  it("are refused for a second resource with the same key, and nothing is sent", async () => {
    const more = 'new FlowControlLimits("second", { flowControlKey: "orders", paused: true });';
    const { stack, sent } = await start(limiting("rate: 5", { more }));
    await fails(stack.preview(), /"orders" is already declared by .*REKEY_DUPLICATE_KEY/s);
    assert.deepEqual(sent(), []);
  });

  for (const victim of ["engine", "host", "interrupt"] as const) {
    it(`are completed by the next up, and repeat nothing: ${victim} ${victim === "interrupt" ? "gets ^C" : "is killed"} after the first request`, async () => {
      const run = await Fixture.start([], { program: limiting(whole), engine });
      try {
        const sent = changesAt(run.platform);
        // The first request reads the key.
        const { printed } = await run.run("up", { strike: { victim, at: 2, point: "applied" } });
        const first = sent();
        assert.equal(first[0], "pause", printed);
        if (victim === "interrupt") {
          const { outputs } = (await run.see()).resources["orders"] ?? {};
          assert.equal((outputs?.["declared"] as { rate?: number }).rate, 100, "what was sent is saved");
        }
        const next = await run.run("up");
        assert.equal(next.code, 0, next.printed);
        assert.deepEqual([...first, ...sent()], ["pause", pinned]);
      } finally {
        await run.end();
      }
    });
  }
});

onEngine(pluginOnCli, "Limits of a flow-control key, imported with the native plugin", (engine) => {
  it("are those that are pinned, and belong to the resource from then on", async () => {
    const { platform, project, stack } = await fixture(engine, "", { flowControlKeys: [] });
    const sent = changesAt(platform);
    platform.setFlowControlKey({ flowControlKey: "orders", rateMax: 7, ratePeriod: 60, isPinnedRate: true });
    const command = [
      "import",
      "--stack",
      "dev",
      "--yes",
      "--protect=false",
      "rekey:index:FlowControlLimits",
      "orders",
      "orders",
    ];
    const { code, printed } = await runEngine(engine, command, project.directory, environmentOf(platform));
    assert.equal(code, 0, printed);
    const { rate, period, paused } = resourceNamed(await stack.exportState(), "orders")?.outputs ?? {};
    assert.deepEqual({ rate, period, paused }, { rate: 7, period: 60, paused: false });
    project.rewrite(limiting("rate: 7, period: 60, paused: false"));
    assert.equal((await succeeds(stack.up())).changes["update"], undefined);
    assert.deepEqual(sent(), []);
    await succeeds(stack.destroy());
    assert.deepEqual(sent(), ["unpin?rate=true"]);
  });
});
