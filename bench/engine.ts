// npm run bench:engine: the duration of `up` with the local engine and, if it is on PATH, with `pulumi`.
import { rmSync } from "node:fs";
import { type Engine, localEngine, pulumiCli } from "../test/support/engine";
import { Project } from "../test/support/project";
import { median } from "./support/rows";
import { openBenchStack } from "./support/stack";

export interface EngineTimes {
  readonly what: string;
  readonly resources: number;
  /** Seconds with the local engine: the median of as many runs as with the CLI. */
  readonly local: number;
  /** Seconds with the CLI; undefined if it is not installed. */
  readonly cli: number | undefined;
}

const provider = `exports.provider = { async create(inputs) { return { id: inputs.name, outs: inputs }; } };`;

/** A program with dynamic resources that do nothing. */
function programOf(resources: number): string {
  return `
const { CustomResource } = require("@pulumi/pulumi");
const __provider = 'exports.handler=()=>require("./provider.js").provider';
for (let i = 0; i < ${resources}; i++)
  new CustomResource("pulumi-nodejs:dynamic/bench:Nothing", "nothing-" + i, { name: "nothing-" + i, __provider });`;
}

/** Measures the first `up` of an empty program and of one with many resources, on both engines in turn. */
export async function benchEngine(resources = 1000): Promise<EngineTimes[]> {
  return [
    await compare("up of an empty program", 0, 3),
    await compare(`up of ${resources.toLocaleString("en")} resources`, resources, 1),
  ];
}

async function compare(what: string, resources: number, runs: number): Promise<EngineTimes> {
  const project = new Project(programOf(resources));
  try {
    project.write("provider.js", provider);
    const [local, cli]: [number[], number[]] = [[], []];
    for (let run = 0; run < runs; run++) {
      local.push(await timeFirstUp(localEngine, project));
      if (pulumiCli.unavailable === undefined) cli.push(await timeFirstUp(pulumiCli, project));
    }
    return { what, resources, local: median(local) ?? NaN, cli: median(cli) };
  } finally {
    project.remove();
  }
}

/** @returns the duration in seconds */
async function timeFirstUp(engine: Engine, project: Project): Promise<number> {
  for (const folder of [".rekey", "backend"]) rmSync(project.path(folder), { recursive: true, force: true });
  const stack = await openBenchStack(engine, project);
  return (await stack.up()).seconds;
}

async function main(): Promise<void> {
  console.log(`${pulumiCli.name}: ${pulumiCli.unavailable ?? "compared"}`);
  const rows = await benchEngine(Number(process.env["BENCH_RESOURCES"] ?? 1000));
  const seconds = (time: number | undefined) => (time === undefined ? "-" : time.toFixed(2));
  console.table(
    rows.map(({ what, local, cli }) => ({
      what,
      "local (s)": seconds(local),
      "pulumi (s)": seconds(cli),
      "local / pulumi": cli === undefined ? "-" : (local / cli).toFixed(2),
    })),
  );
}

if (require.main === module) void main();
