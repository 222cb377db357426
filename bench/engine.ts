// npm run bench:engine: how long `up` takes with the local engine, and with a `pulumi` on PATH where there is one.
import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { realEngineVersion } from "../test/local/engine/realEngine";
import { projectRoot } from "../test/support/host";
import { Program } from "../test/support/program";

export interface EngineTimes {
  readonly what: string;
  readonly resources: number;
  /** Seconds with the local engine: the median of as many runs as with the CLI. */
  readonly local: number;
  /** Seconds with the CLI; undefined where there is none. */
  readonly cli: number | undefined;
}

const version = realEngineVersion();
const provider = `exports.provider = { async create(inputs) { return { id: inputs.name, outs: inputs }; } };`;

/** A program of that many dynamic resources that do nothing. */
function programOf(resources: number): string {
  return `
const { CustomResource } = require("@pulumi/pulumi");
const __provider = 'exports.handler=()=>require("./provider.js").provider';
for (let i = 0; i < ${resources}; i++)
  new CustomResource("pulumi-nodejs:dynamic/bench:Nothing", "nothing-" + i, { name: "nothing-" + i, __provider });`;
}

/** Times the first `up` of an empty program, and of one with many resources, on both engines in turn. */
export function benchEngine(resources = 1000): EngineTimes[] {
  return [
    compare("up of an empty program", 0, 3),
    compare(`up of ${resources.toLocaleString("en")} resources`, resources, 1),
  ];
}

function compare(what: string, resources: number, runs: number): EngineTimes {
  const program = new Program(programOf(resources));
  try {
    const write = (name: string, text: string) => writeFileSync(join(program.directory, name), text);
    // Without TypeScript a program starts in half the time, which is most of it.
    write("Pulumi.yaml", "name: program\nmain: index.js\nruntime: { name: nodejs, options: { typescript: false } }\n");
    write("provider.js", provider);
    const [local, cli]: [number[], number[]] = [[], []];
    for (let run = 0; run < runs; run++) {
      local.push(timeLocal(program.directory));
      if (version !== undefined) cli.push(timeCli(program.directory));
    }
    return { what, resources, local: median(local), cli: cli.length > 0 ? median(cli) : undefined };
  } finally {
    program.remove();
  }
}

function timeLocal(directory: string): number {
  rmSync(join(directory, ".rekey"), { recursive: true, force: true });
  return run(directory, process.execPath, [join(projectRoot, "local/dist/cli/main.js"), ...up]);
}

function timeCli(directory: string): number {
  const backend = join(directory, "backend");
  rmSync(backend, { recursive: true, force: true });
  mkdirSync(backend);
  run(directory, "pulumi", ["stack", "init", "dev"]);
  return run(directory, "pulumi", [...up, "--non-interactive"]);
}

const up = ["up", "--yes", "--skip-preview"];

/** @returns the seconds it took */
function run(cwd: string, command: string, args: string[]): number {
  const env = {
    ...process.env,
    PULUMI_BACKEND_URL: `file://${join(cwd, "backend")}`,
    PULUMI_CONFIG_PASSPHRASE: "bench",
    PULUMI_SKIP_UPDATE_CHECK: "true",
  };
  const began = performance.now();
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, env, encoding: "utf8", maxBuffer: 2 ** 28 });
  if (status !== 0) throw new Error(`${command} ${args.join(" ")} failed:\n${stdout}${stderr}`);
  return (performance.now() - began) / 1000;
}

function median(numbers: number[]): number {
  return numbers.sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? NaN;
}

if (require.main === module) {
  console.log(`pulumi: ${version ?? "none on PATH, so that there is nothing to compare with"}`);
  const rows = benchEngine(Number(process.env["BENCH_RESOURCES"] ?? 1000));
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
