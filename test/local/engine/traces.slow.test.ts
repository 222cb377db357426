import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type OperationResult } from "../../../local/engine/index";
import { type Call, errors, fixtures, type Json, TestProject, type Wanted } from "./project";
import { assertSameState, nameIn, operate, type RecordedStep, type StateResource } from "./states";

interface Step extends RecordedStep {
  program: Wanted[];
  env?: Record<string, string>;
  flags?: string[];
  calls: Call[];
  errors: string[];
  outputs: Json;
  state: StateResource[];
  pending: unknown[];
}

const { scenarios } = JSON.parse(readFileSync(join(fixtures, "engine-traces.json"), "utf8")) as {
  scenarios: { title: string; steps: Step[] }[];
};

describe("the local engine repeats what a real engine was recorded doing", function () {
  // Each test starts several processes.
  this.timeout(300_000);

  for (const { title, steps } of scenarios) {
    it(title, async () => {
      // Otherwise the SDK takes half a minute to show the error of a program.
      const project = new TestProject({ typescript: steps.some(({ env }) => env?.THROW !== undefined) });
      try {
        for (const [index, step] of steps.entries()) {
          project.want(step.program);
          const stack = await project.open({ ...(step.env && { env: step.env }) });
          const result = await operate(stack, [step.op, ...(step.flags ?? [])].join(" "));
          const where = `step ${index + 1}, ${step.op}`;
          assert.equal(result.result, step.exit === 0 ? "succeeded" : "failed", `${where}: ${result.stdout}`);
          assertSameCalls(project.newCalls(), step.calls, dependencies(step, steps[index - 1]), where);
          assert.deepEqual(firstErrorLines(result), recordedErrors(step), where);
          await assertSameState(stack, result, step, where);
          const { deployment } = await stack.exportStack();
          assert.deepEqual(deployment.pending_operations ?? [], step.pending, where);
          const outputs = Object.entries(await stack.outputs());
          const masked = outputs.map(([key, { value, secret }]) => [key, secret ? "[secret]" : value]);
          assert.deepEqual(Object.fromEntries(masked), step.outputs, where);
        }
      } finally {
        project.remove();
      }
    });
  }
});

/**
 * The engine decides in which order independent resources are reported; the calls for one, and for those that depend
 * on it, have one order.
 */
function assertSameCalls(seen: Call[], recorded: Call[], pairs: Set<string>[], where: string): void {
  const names = new Set([...seen, ...recorded].map(nameIn));
  const isChange = ({ method }: Call): boolean => ["create", "update", "delete"].includes(method);
  for (const group of [...[...names].map((name) => new Set([name])), ...pairs]) {
    const only = (calls: Call[]) =>
      calls.filter((call) => group.has(nameIn(call)) && (group.size === 1 || isChange(call)));
    assert.deepEqual(only(seen), only(recorded), `${where}: calls for ${[...group].join(" and ")}`);
  }
}

/** Pairs of names of which one depends on the other, before or after the step. */
function dependencies(step: Step, before: Step | undefined): Set<string>[] {
  const name = (urn: string): string => urn.split("::").at(-1) ?? "";
  const inState = [...step.state, ...(before?.state ?? [])].flatMap(({ urn, dependencies = [] }) =>
    dependencies.map((dependency) => new Set([name(urn), name(dependency)])),
  );
  const inProgram = step.program.flatMap((wanted) =>
    Object.values(wanted.refs ?? {}).map((reference) => new Set([wanted.name, reference.split(".")[0] ?? ""])),
  );
  return [...inState, ...inProgram];
}

function firstErrorLines(result: OperationResult): string[] {
  const lines = errors(result).map((message) => `error: ${message.split("\n")[0]}`);
  return lines.map((line) => line.replace(/program '.*'/, "program '<program>/'")).sort();
}

function recordedErrors({ errors }: Step): string[] {
  return errors.filter((line) => line.startsWith("error: ")).sort();
}
