import assert from "node:assert/strict";
import { join } from "node:path";
import ts from "typescript";
import { projectRoot } from "../support/host";

const built = join(projectRoot, "dist");

/** The options of `tsconfig.json` that Pulumi's templates had for years; neither skipLibCheck nor esModuleInterop. */
const template = {
  strict: true,
  target: "es2016",
  module: "commonjs",
  moduleResolution: "node",
  experimentalDecorators: true,
  noFallthroughCasesInSwitch: true,
  noImplicitReturns: true,
  forceConsistentCasingInFileNames: true,
  types: ["node"],
  noEmit: true,
  // TypeScript's own declarations take most of the time.
  skipDefaultLibCheck: true,
};

/** For a program that imports this package: the files of it and the packages that are read, and all errors. */
function compile(options: object) {
  const { options: parsed, errors } = ts.convertCompilerOptionsFromJson({ ...template, ...options }, projectRoot);
  const program = ts.createProgram([join(projectRoot, "examples/rotation-on-demand/index.ts")], parsed);
  const ours = program.getSourceFiles().filter(({ fileName }) => fileName.startsWith(built));
  const imported = ours.flatMap(({ text }) => ts.preProcessFile(text).importedFiles.map((one) => one.fileName));
  return {
    files: ours.map(({ fileName }) => fileName.slice(built.length + 1)),
    packages: [...new Set(imported.filter((name) => !name.startsWith(".")))],
    errors: [...errors, ...ts.getPreEmitDiagnostics(program)].map(({ file, messageText }) => {
      return `${file?.fileName ?? ""}: ${ts.flattenDiagnosticMessageText(messageText, "\n")}`;
    }),
  };
}

describe("sdk: the types", () => {
  const configurations = {
    "the template of Pulumi": {},
    nodenext: { module: "nodenext", moduleResolution: "nodenext", target: "es2022" },
    bundler: { module: "es2022", moduleResolution: "bundler", target: "es2022" },
  };
  for (const [name, options] of Object.entries(configurations)) {
    it(`compile with ${name}, and need no package but @pulumi/pulumi`, () => {
      const { files, packages, errors } = compile(options);
      assert.deepEqual({ packages, errors }, { packages: ["@pulumi/pulumi"], errors: [] });
      assert.ok(files.includes("sdk/passwordRotation.d.ts"), files.join());
      const ofPlatform = files.filter((file) => file.startsWith("provider/platform/"));
      assert.deepEqual(ofPlatform, [], "what sends requests");
    });
  }
});
