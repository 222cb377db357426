import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { type ExportedDeployment } from "../../../local/engine/index";
import { pulumiCli, type Stack } from "../../support/engine";
import { runEngine } from "../../support/engineProcess";
import { onEngine } from "../../support/onEngines";
import { type Call, TestProject, type Wanted } from "./project";
import { assertSameState, nameIn, operate } from "./states";

const programs = Number(process.env.LOCAL_ENGINE_PROGRAMS ?? 3);
const firstSeed = Number(process.env.LOCAL_ENGINE_SEED ?? 1);
/** A folder to record what the real engine did with each program, for machines without one. */
const recordings = process.env.LOCAL_ENGINE_RECORD;
if (recordings) mkdirSync(recordings, { recursive: true });
const recorded = process.env.LOCAL_ENGINE_RECORDED ?? resolve(__dirname, "../../fixtures/random-programs");

/** Registers one resource after the other: otherwise chance decides which of two comes first, on both engines. */
const program = `
const pulumi = require("@pulumi/pulumi"), { resources } = JSON.parse(require("fs").readFileSync("resources.json", "utf8"));
class Dyn extends pulumi.CustomResource {
  constructor(name, type, props, opts) {
    const __provider = 'exports.handler=()=>require("./provider.js").provider';
    super("pulumi-nodejs:dynamic/trace:" + type, name, { out: undefined, ...props, __provider }, opts);
  }
}
class Comp extends pulumi.ComponentResource {
  constructor(name, opts) { super("trace:index:Comp", name, {}, opts); this.registerOutputs({}); }
}
module.exports = async () => {
  const made = {}, outputs = {};
  for (const r of resources) {
    const opts = { ...r.options, dependsOn: (r.dependsOn || []).map((n) => made[n]), parent: r.parent && made[r.parent] };
    const props = { name: r.name, ...r.props };
    for (const [k, v] of Object.entries(r.refs || {})) { const [n, p] = v.split("."); props[k] = made[n][p]; }
    for (const [k, v] of Object.entries(r.secrets || {})) props[k] = pulumi.secret(v);
    made[r.name] = r.component ? new Comp(r.name, opts) : new Dyn(r.name, r.type || "Thing", props, opts);
    if (!r.component) outputs[r.name] = made[r.name].out;
    await new Promise((resolve) => made[r.name].urn.apply(resolve));
  }
  return outputs;
};`;

/** One step of a random program, and what the real engine did with it. */
interface Step {
  op: string;
  env: Record<string, string>;
  wanted: Wanted[];
  /** The state before. */
  before: ExportedDeployment;
  exit: number;
  text: string;
  calls: Call[];
  /** The state afterwards, its secrets shown; not compared after a failure. */
  after: ExportedDeployment;
}

onEngine(pulumiCli, `random programs, on the local engine and on the pulumi CLI ${pulumiCli.version}`, (engine) => {
  for (let seed = firstSeed; seed < firstSeed + programs; seed++) {
    it(`seed ${seed}`, async () => {
      const random = new Random(seed);
      const project = new TestProject({ program });
      const steps: Step[] = [];
      try {
        const real = await engine.open(project.directory, project.environment);
        for (let number = 0; number < 5; number++) {
          const next = nextStep(random, number === 0);
          steps.push(await onRealEngine(real, project, next, steps.at(-1)?.after ?? (await exportOf(real))));
          await onLocalEngine(project, steps.at(-1) as Step, `seed ${seed}, step ${steps.length}`);
        }
        const last = steps.at(-1);
        if (last?.exit !== 0 || !last.op.startsWith("up")) return;
        // The real engine continues with the state of the local one, and finds nothing to do.
        const exported = await (await project.open()).exportStack();
        project.write("exported.json", JSON.stringify(exported));
        for (const command of [
          ["stack", "import", "--file", "exported.json"],
          ["preview", "--expect-no-changes"],
        ]) {
          const { code, printed } = await runEngine(engine, command, project.directory, project.environment);
          assert.equal(code, 0, printed);
        }
      } finally {
        if (recordings) writeFileSync(join(recordings, `${seed}.json.gz`), gzipSync(JSON.stringify(steps)));
        project.remove();
      }
    });
  }
});

describe("recorded random programs, on the local engine", function () {
  this.timeout(600_000);
  for (const file of readdirSync(recorded).sort()) {
    it(file, async () => {
      const steps = JSON.parse(gunzipSync(readFileSync(join(recorded, file))).toString()) as Step[];
      const project = new TestProject({ program });
      try {
        for (const [number, step] of steps.entries()) await onLocalEngine(project, step, `step ${number + 1}`);
      } finally {
        project.remove();
      }
    });
  }
});

type Command = Pick<Step, "env" | "op" | "wanted">;

function nextStep(random: Random, first: boolean): Command {
  const wanted = randomProgram(random);
  const env: Record<string, string> = random.chance(0.1) ? { FAIL_DELETE: "1" } : {};
  const op = first ? "up" : random.pick(["up", "up", "up", "up", "up --refresh", "preview", "refresh", "destroy"]);
  return { op, env, wanted };
}

const exportOf = async (stack: Stack) => (await stack.exportState(true)) as unknown as ExportedDeployment;

async function onRealEngine(
  stack: Stack,
  project: TestProject,
  { op, env, wanted }: Command,
  before: ExportedDeployment,
): Promise<Step> {
  project.want(wanted);
  project.newCalls();
  const [command = "up", ...flags] = op.split(" ");
  const args = command === "preview" ? ["preview"] : [command, "--yes", "--skip-preview"];
  const line = [...args, "--parallel", "1", ...flags];
  const { code, printed } = await runEngine(pulumiCli, line, project.directory, { ...project.environment, ...env });
  const calls = project.newCalls();
  return { op, env, wanted, before, exit: code ?? -1, text: printed, calls, after: await exportOf(stack) };
}

/** Does the step on the local engine, from the same state as the real engine, and compares. */
async function onLocalEngine(project: TestProject, step: Step, name: string): Promise<void> {
  project.want(step.wanted);
  const stack = await project.open({ env: step.env });
  await stack.importStack(step.before);
  project.newCalls();
  const ours = await operate(stack, step.op);
  const where = `${name}, ${step.op} ${JSON.stringify(step.env)}: ${JSON.stringify(step.wanted)}`;
  const both = `${where}\n--- theirs\n${step.text}\n--- ours\n${ours.stdout}`;
  const failed = step.exit !== 0;
  assert.equal(ours.result !== "succeeded", failed, both);
  compareCalls(project.newCalls(), step.calls, failed, both);
  if (failed) return;
  const { resources: state = [] } = step.after.deployment;
  await assertSameState(stack, ours, { ...step, summary: summaryOf(step.text), state }, both);
}

/** The counts under `Resources:`. */
function summaryOf(text: string): string[] {
  const [, below = ""] = text.split(/^ *Resources: *\n/m);
  const [counts = ""] = below.split(/^\s*$/m);
  return counts.split("\n").flatMap((line) => line.trim() || []);
}

/** After a failure, chance decides how far the other resources came; each must have come there in the same way. */
function compareCalls(ours: Call[], theirs: Call[], failed: boolean, where: string): void {
  for (const name of new Set([...ours, ...theirs].map(nameIn))) {
    const [a, b] = [ours, theirs].map((calls) => inOrder(calls.filter((call) => nameIn(call) === name))) as [
      Call[],
      Call[],
    ];
    const length = failed ? Math.min(a.length, b.length) : Infinity;
    assert.deepEqual(a.slice(0, length), b.slice(0, length), `calls for ${name}, ${where}`);
  }
}

/** Of resources that only share a name, chance decides which is deleted first. */
function inOrder(calls: readonly Call[]): Call[] {
  const runs: Call[][] = [];
  for (const call of calls) {
    if (call.method === "delete" && runs.at(-1)?.[0]?.method === "delete") runs.at(-1)?.push(call);
    else runs.push([call]);
  }
  return runs.flatMap((run) => run.sort((a, b) => String(a.id).localeCompare(String(b.id))));
}

class Random {
  constructor(private state: number) {}
  next(): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let t = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  }
  chance(probability: number): boolean {
    return this.next() < probability;
  }
  pick<T>(from: readonly T[]): T {
    return from[Math.floor(this.next() * from.length)] as T;
  }
}

function randomProgram(random: Random): Wanted[] {
  const resources: Wanted[] = [];
  if (random.chance(0.5)) resources.push({ name: "comp", component: true });
  for (const name of ["a", "b", "c", "d", "e"]) {
    if (random.chance(0.25)) continue;
    const earlier = resources.filter(({ component }) => !component).map((resource) => resource.name);
    const any = resources.map((resource) => resource.name);
    const options: Record<string, unknown> = {};
    if (random.chance(0.08)) options.protect = true;
    if (random.chance(0.1)) options.retainOnDelete = true;
    if (random.chance(0.15)) options.ignoreChanges = [random.pick(["v", "key", "*"])];
    if (random.chance(0.2)) options.deleteBeforeReplace = random.chance(0.7);
    if (random.chance(0.1)) options.replaceOnChanges = [random.pick(["v", "*", "#initerror"])];
    if (random.chance(0.15)) options.additionalSecretOutputs = ["out"];
    if (random.chance(0.15)) options.aliases = [{ name: random.pick(["x", "y", "a", "b"]) }];
    const wanted: Wanted = { name, props: {}, options };
    const props = wanted.props as Record<string, unknown>;
    if (random.chance(0.8)) props.v = random.pick([1, 2]);
    if (random.chance(0.6)) props.key = random.pick([1, 2]);
    if (random.chance(0.3)) props.dbr = true;
    if (random.chance(0.05)) props.fail = random.pick(["create", "update", "check"]);
    if (random.chance(0.1)) props.init = random.pick(["create", "update"]);
    if (random.chance(0.15)) props.envelope = true;
    if (random.chance(0.1)) props.normalize = " x ";
    if (random.chance(0.2)) wanted.secrets = { token: random.pick(["s1", "s2"]) };
    if (earlier.length > 0 && random.chance(0.6)) {
      wanted.refs = { [random.pick(["from", "key"])]: `${random.pick(earlier)}.out` };
    }
    if (any.length > 0 && random.chance(0.2)) wanted.dependsOn = [random.pick(any)];
    if (any.length > 0 && random.chance(0.3)) wanted.parent = random.pick(any);
    if (random.chance(0.05)) wanted.type = "Other";
    resources.push(wanted);
  }
  return resources;
}
