import assert from "node:assert/strict";
import { compileFunction } from "node:vm";
import * as ts from "typescript";
import { readPage } from "../docs/page";
import { type Rekey } from "./engineStack";

/** Runs the only program in docs/guide.md that contains a text, with resets instead of adoptions. */
export function guideProgram(text: string, rekey: Rekey): void {
  const [block, ...others] = readPage("docs/guide.md").blocks.filter(({ code }) => code.includes(text));
  assert.ok(block && others.length === 0);
  const code = block.code.replace(", initialRotation: false", "");
  assert.notEqual(code, block.code);
  const { outputText } = ts.transpileModule(code, { compilerOptions: { module: ts.ModuleKind.CommonJS } });
  const load = (name: string): unknown => (name === "pulumi-rekey" ? rekey : require(name));
  const run = compileFunction(outputText, ["require", "exports"]) as (require: typeof load, exports: object) => void;
  run(load, {});
}
