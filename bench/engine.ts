import { Project } from "../test/support/project";
import { type Row } from "./support/rows";
import { engine, openBenchStack, whySkipped } from "./support/stack";

const provider = `exports.provider = { async create(inputs) { return { id: inputs.name, outs: inputs }; } };`;

/** A program with dynamic resources that do nothing. */
const programOf = (count: number): string => `
const { CustomResource } = require("@pulumi/pulumi");
const __provider = 'exports.handler=()=>require("./provider.js").provider';
for (let i = 0; i < ${count}; i++)
  new CustomResource("pulumi-nodejs:dynamic/bench:Nothing", "nothing-" + i, { name: "nothing-" + i, __provider });`;

/** Measures the first `up` of an empty program and of one with many resources, without Rekey. */
export async function benchEngine(most: number, report: (rows: Row[]) => void): Promise<void> {
  for (const count of whySkipped === undefined ? [0, 0, 0, most] : []) {
    const project = new Project(programOf(count));
    project.write("provider.js", provider);
    const { seconds } = await (await openBenchStack(project)).up();
    report([{ where: engine, subject: "engine alone", case: "first up", count, seconds }]);
    project.remove();
  }
}
