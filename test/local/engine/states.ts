import assert from "node:assert/strict";
import { summaryLines } from "../../../local/engine/display";
import { type LocalStack, type OperationResult } from "../../../local/engine/index";
import { resultOf } from "../../support/engine";
import { type Call, type Json } from "./project";

export interface StateResource {
  urn: string;
  delete?: boolean;
  dependencies?: string[];
  inputs?: Json;
  outputs?: Json;
  [key: string]: unknown;
}

/** What a real engine did in a step. */
export interface RecordedStep {
  readonly op: string;
  readonly exit: number;
  readonly summary: readonly string[];
  readonly state: readonly unknown[];
}

/** The name of the resource that a call is about. */
export function nameIn(call: Call): string {
  const name = call.news?.name ?? call.props?.name ?? call.id?.split("-")[0];
  if (typeof name !== "string") throw new Error(`a call about nothing: ${JSON.stringify(call)}`);
  return name;
}

/** Does a step, such as `up --refresh`, one resource at a time. */
export function operate(stack: LocalStack, op: string): Promise<OperationResult> {
  const [command, ...flags] = op.split(" ");
  const options = { parallel: 1, refresh: flags.includes("--refresh") };
  return resultOf(stack[command as "destroy" | "preview" | "refresh" | "up"](options));
}

/** The counts that were shown, and the state, must be those of the real engine. @param where shown on a failure */
export async function assertSameState(
  stack: LocalStack,
  { changes, diagnostics }: OperationResult,
  { op, summary, state }: RecordedStep,
  where: string,
): Promise<void> {
  const stackUrn = "urn:pulumi:dev::trace::pulumi:pulumi:Stack::trace-dev";
  assert.deepEqual(summaryLines(changes, diagnostics, op === "preview", stackUrn), summary, where);
  const { deployment } = await stack.exportStack({ showSecrets: true });
  assert.deepEqual(comparable(deployment.resources ?? []), comparable(state), where);
}

/** Sorted resources, without what is different each time. */
function comparable(resources: readonly unknown[]): unknown[] {
  const order = ({ urn, delete: isDeleted, id }: StateResource) => `${urn} ${isDeleted} ${JSON.stringify(id)}`;
  return (resources as StateResource[])
    .map(({ created, modified, sourcePosition, stackTrace, ...shown }) => {
      for (const key of ["inputs", "outputs"] as const) {
        if (shown[key]) shown[key] = { ...shown[key], __provider: undefined };
      }
      if (shown.dependencies) shown.dependencies = [...shown.dependencies].sort();
      // The CLI's JSON writes `<` in a secret as `\u003c`, which means the same.
      const unescaped = (key: string, value: unknown): unknown =>
        key === "plaintext" && typeof value === "string" ? (JSON.parse(value) as unknown) : value;
      const text = JSON.stringify(shown, unescaped).replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "<uuid>");
      return JSON.parse(text) as StateResource;
    })
    .sort((a, b) => (order(a) < order(b) ? -1 : 1));
}
