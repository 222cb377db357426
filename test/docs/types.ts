import { join } from "node:path";
import * as ts from "typescript";
import { projectRoot } from "../support/host";
import { type Block } from "./page";
import { isScript } from "./session";

/** The type errors of blocks, each with its place; all are checked by one program, as files that are on no disk. */
export function typeErrors(blocks: readonly Block[]): string[] {
  const files = new Map(
    blocks.map((block, index) => {
      // A script waits at its top level, which an ES module alone may.
      const name = join(projectRoot, "docs", `block-${index}.${isScript(block) ? "mts" : "ts"}`);
      return [name, block] as const;
    }),
  );
  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    module: ts.ModuleKind.NodeNext,
    target: ts.ScriptTarget.ES2022,
    types: ["node"],
  };
  const host = ts.createCompilerHost(options);
  const disk = { ...host };
  host.fileExists = (name) => files.has(name) || disk.fileExists(name);
  host.readFile = (name) => files.get(name)?.code ?? disk.readFile(name);
  host.getCurrentDirectory = () => projectRoot;
  const checked = ts.createProgram([...files.keys()], options, host);
  return ts.getPreEmitDiagnostics(checked).map(({ file, start, messageText }) => {
    const text = ts.flattenDiagnosticMessageText(messageText, "\n");
    const line = file && start !== undefined ? file.getLineAndCharacterOfPosition(start).line + 1 : 0;
    return `${(file && files.get(file.fileName)?.place) ?? file?.fileName}, its line ${line}: ${text}`;
  });
}
