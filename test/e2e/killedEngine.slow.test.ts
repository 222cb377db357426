import assert from "node:assert/strict";
import { pluginOnCli, pulumiCli } from "../support/engine";
import { EngineProcess } from "../support/engineProcess";
import { fixture, onEngines, rotating } from "../support/onEngines";
import { ended } from "../support/processes";

const leavesNone = (engine: typeof pulumiCli): void => {
  it("leaves no provider behind once the request in flight is finished", async () => {
    let arrived = (): void => undefined;
    const request = new Promise<void>((resolve) => (arrived = resolve));
    const { platform, project } = await fixture(engine, rotating(), { onRequest: () => arrived() });
    platform.failNext({ method: "POST", delayMs: 1000 });
    const up = new EngineProcess(engine, ["up", "--yes", "--skip-preview"], project.directory);
    await request;
    // Pulumi's language host stays, as it does with every provider.
    await ended(up.kill("engine").filter(({ args }) => !args.includes("pulumi-language-")));
    assert.equal(platform.resetCount, 1);
    await up.killOrphans();
  });
};

onEngines("A killed engine", leavesNone, [pulumiCli, pluginOnCli]);
