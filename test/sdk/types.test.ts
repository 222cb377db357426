import assert from "node:assert/strict";
import { join } from "node:path";
import ts from "typescript";
import { projectRoot } from "../support/host";

const built = join(projectRoot, "dist");

/** What the compiler reads of this package, and has to say of it, for a program that imports it. */
function compile(moduleResolution: ts.ModuleResolutionKind, module: ts.ModuleKind) {
  const program = ts.createProgram([join(projectRoot, "bench/programs/fleet.ts")], {
    strict: true,
    target: ts.ScriptTarget.ES2022,
    moduleResolution,
    module,
    noEmit: true,
  });
  const files = program.getSourceFiles().filter(({ fileName }) => fileName.startsWith(built));
  const complaints = files.flatMap((file) => program.getSemanticDiagnostics(file));
  return {
    files: files.map(({ fileName }) => fileName.slice(built.length + 1)),
    complaints: complaints.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n")),
  };
}

describe("sdk: the types", () => {
  const resolutions = [
    { name: "node", resolution: ts.ModuleResolutionKind.Node10, module: ts.ModuleKind.CommonJS },
    { name: "node16", resolution: ts.ModuleResolutionKind.Node16, module: ts.ModuleKind.Node16 },
    { name: "bundler", resolution: ts.ModuleResolutionKind.Bundler, module: ts.ModuleKind.ES2022 },
  ] as const;
  for (const { name, resolution, module } of resolutions) {
    it(`can be read with moduleResolution ${name}, and without the HTTP client's`, () => {
      const { files, complaints } = compile(resolution, module);
      assert.ok(files.includes("sdk/passwordRotationFleet.d.ts"), files.join());
      assert.deepEqual(complaints, []);
      const ofPlatform = files.filter((file) => file.startsWith("provider/platform/"));
      assert.deepEqual(
        ofPlatform.sort(),
        ["address", "errors", "retry", "secretKind"].map((name) => `provider/platform/${name}.d.ts`),
      );
    }).timeout(60_000);
  }
});
