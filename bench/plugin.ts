import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { EngineListener } from "../test/support/engineListener";
import { projectRoot } from "../test/support/host";
import { Project } from "../test/support/project";
import { ProviderClient } from "../test/support/providerClient";
import { databaseIds, startBenchPlatform } from "./support/platform";
import { atMost, type Check, median } from "./support/rows";
import { openBenchStack, whySkipped } from "./support/stack";

const starts = 9;
const [count, runs] = [300, 3];
const plugin = join(projectRoot, "dist", "provider", "engine", "plugin", "main.js");
const dynamicHost = require.resolve("@pulumi/pulumi/cmd/dynamic-provider/index.js");

/** The native plugin, compared with Pulumi's host of dynamic providers. */
export async function benchPlugin(largest: number): Promise<Check[]> {
  const checks = await benchStarts();
  const compared = largest >= count && whySkipped === undefined;
  return compared ? [...checks, await benchCpu()] : checks;
}

/** Seconds from the start of the process to its port, and to the response to Configure. */
interface Start {
  readonly port: number;
  readonly configured: number;
}

async function benchStarts(): Promise<Check[]> {
  const engine = await EngineListener.start();
  const [native, dynamic]: [Start[], Start[]] = [[], []];
  for (let start = 0; start < starts; start++) {
    native.push(await timeStart(plugin, engine.address));
    dynamic.push(await timeStart(dynamicHost, engine.address));
  }
  await engine.close();
  const ratio = (of: keyof Start) => {
    const [ours = NaN, host = NaN] = [native, dynamic].map((all) => median(all.map((one) => one[of])));
    return ours / host;
  };
  return [
    atMost("start of the plugin ÷ dynamic host, to the port", ratio("port"), 0.5),
    atMost("start of the plugin ÷ dynamic host, to the response to Configure", ratio("configured"), 0.5),
  ];
}

async function timeStart(entry: string, engineAddress: string): Promise<Start> {
  const began = performance.now();
  const seconds = () => (performance.now() - began) / 1000;
  const child = spawn(process.execPath, [entry, engineAddress], { stdio: ["ignore", "pipe", "inherit"] });
  const client = await ProviderClient.of(child);
  const port = seconds();
  await client.configure("", {});
  const configured = seconds();
  client.close();
  child.kill("SIGKILL");
  await once(child, "exit");
  return { port, configured };
}

/** CPU time of `up` with as many native resources as dynamic ones, in turns. */
async function benchCpu(): Promise<Check> {
  const ids = databaseIds(count);
  const program = `const { PasswordRotation } = require("pulumi-rekey");
for (const databaseId of ${JSON.stringify(ids)}) new PasswordRotation(databaseId, { databaseId });`;
  const measured = { native: [] as number[], dynamic: [] as number[] };
  for (let run = 0; run < runs; run++) {
    for (const kind of ["native", "dynamic"] as const) {
      const platform = await startBenchPlatform({ databases: ids });
      const project = new Project(program, { native: kind === "native" });
      const stack = await openBenchStack(project, platform.environment);
      const { cpuSeconds } = await stack.up();
      const requests = await platform.newRequests();
      if (requests !== count) throw new Error(`${kind}: ${requests} requests instead of ${count}`);
      measured[kind].push(cpuSeconds);
      platform.close();
      project.remove();
    }
  }
  const [native = NaN, dynamic = NaN] = [median(measured.native), median(measured.dynamic)];
  return atMost(`pulumi CLI: CPU time of ${count} native ÷ dynamic resources`, native / dynamic, 1);
}
