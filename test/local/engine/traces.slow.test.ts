import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type OperationResult } from "../../../local/engine/index";
import { summaryLines } from "../../../local/engine/display";
import { resultOf } from "../../support/engine";
import { type Call, fixtures, type Json, TestProject, type Wanted } from "./project";
import { about, comparable, type StateResource } from "./states";

interface Step {
  op: "up" | "preview" | "refresh" | "destroy";
  program: Wanted[];
  env?: Record<string, string>;
  flags?: string[];
  exit: number;
  calls: Call[];
  summary: string[];
  errors: string[];
  outputs: Json;
  state: StateResource[];
  pending: unknown[];
}

const { scenarios } = JSON.parse(readFileSync(join(fixtures, "engine-traces.json"), "utf8")) as {
  scenarios: { title: string; steps: Step[] }[];
};

describe("the local engine does what a real engine was seen to do", function () {
  // Several processes each; a busy machine takes its time.
  this.timeout(300_000);

  for (const { title, steps } of scenarios) {
    it(title, async () => {
      // Only so does the SDK show the error of a program in less than half a minute.
      const project = new TestProject({ typescript: steps.some(({ env }) => env?.THROW !== undefined) });
      try {
        for (const [index, step] of steps.entries()) {
          project.want(step.program);
          const stack = await project.open({ ...(step.env && { env: step.env }) });
          const options = { parallel: 1, refresh: step.flags?.includes("--refresh") ?? false };
          const result = await resultOf(stack[step.op](options));
          const where = `step ${index + 1}, ${step.op}`;
          assert.equal(result.result, step.exit === 0 ? "succeeded" : "failed", `${where}: ${result.stdout}`);
          sameCalls(project.newCalls(), step.calls, dependencies(step, steps[index - 1]), where);
          assert.deepEqual(errorLines(result), recordedErrors(step), where);
          const stackUrn = "urn:pulumi:dev::trace::pulumi:pulumi:Stack::trace-dev";
          const summary = summaryLines(result.changes, result.diagnostics, step.op === "preview", stackUrn);
          assert.deepEqual(summary, step.summary, where);
          const { deployment } = await stack.exportStack({ showSecrets: true });
          assert.deepEqual(comparable(deployment.resources ?? []), comparable(step.state), where);
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
 * Which resources may be told in any order is for the engine to decide; what happens to one, and to those that need it,
 * is not.
 */
function sameCalls(seen: Call[], recorded: Call[], pairs: Set<string>[], where: string): void {
  const names = new Set([...seen, ...recorded].map(about));
  for (const group of [...[...names].map((name) => new Set([name])), ...pairs]) {
    const only = (calls: Call[]): Call[] =>
      calls.filter((call) => group.has(about(call)) && (group.size === 1 || changes(call)));
    assert.deepEqual(only(seen), only(recorded), `${where}: calls for ${[...group].join(" and ")}`);
  }
}

function changes({ method }: Call): boolean {
  return method === "create" || method === "update" || method === "delete";
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

/** The first line of each error. */
function errorLines({ diagnostics }: OperationResult): string[] {
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  return errors
    .map(({ message }) => `error: ${(message.split("\n")[0] ?? "").replace(/program '.*'/, "program '<program>/'")}`)
    .sort();
}

function recordedErrors({ errors }: Step): string[] {
  return errors.filter((line) => line.startsWith("error: ")).sort();
}
