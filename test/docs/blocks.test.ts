import assert from "node:assert/strict";
import { join } from "node:path";
import * as ts from "typescript";
import { parse } from "yaml";
import schema from "../../schema.json";
import { projectRoot } from "../support/host";
import { hasRedis } from "../support/redis";
import { type Block, pages, readPage } from "./page";
import { isProgram, isScript, needsRedis, Session } from "./session";

/** Languages that a test can run. */
const kinds = ["ts", "js", "sh"];
const written = pages.filter(({ generatedBy }) => generatedBy === undefined);

describe("The code blocks of README and docs/", () => {
  for (const { path, generatedBy } of pages.filter(({ generatedBy }) => generatedBy !== undefined)) {
    it(`${path}: not run: \`${generatedBy}\` writes the page`);
  }

  it("are run, or say why not", () => {
    const silent = written
      .flatMap(({ blocks }) => blocks)
      .filter((block) => !block.notRun && !block.file)
      .filter((block) => !kinds.includes(block.language) || (isCode(block) && !isProgram(block) && !isScript(block)))
      .map(({ place }) => place);
    assert.deepEqual(silent, [], "put `<!-- not run: why -->` before them, or `<!-- file: name -->`");
  });

  it("in TypeScript have no type errors", function () {
    const blocks = written.flatMap((page) => page.blocks).filter(({ language }) => language === "ts");
    assert.ok(blocks.length > 3, String(blocks.length));
    assert.deepEqual(typeErrors(blocks), []);
  });

  it("in TypeScript import only what README installs", () => {
    const [install = ""] = /^npm install .*$/m.exec(readPage("README.md").text) ?? [];
    const programs = written.flatMap((page) => page.blocks).filter(isProgram);
    const imported = programs.flatMap(({ code }) =>
      [...code.matchAll(/ from "([^"]+)"/g)].map(([, name = ""]) => name),
    );
    for (const name of new Set(imported)) assert.match(install, new RegExp(`[ /]${name}[- @]`));
  });

  it("for Pulumi's registry have no type errors, and arguments and outputs that exist", () => {
    const blocks = [...readPage("docs/_index.md").blocks, ...readPage("scripts/schema-examples.md").blocks];
    const typed = blocks.find(({ language }) => language === "typescript") ?? assert.fail();
    assert.deepEqual(typeErrors([{ ...typed, language: "ts" }]), []);
    const described = Object.values(schema.resources).filter(({ description }) => description.includes("```yaml"));
    const inYaml = blocks.filter(({ language }) => language === "yaml");
    assert.deepEqual([inYaml.length, described.length], [5, 4]);
    for (const { code } of inYaml) {
      const { resources, outputs } = parse(code) as {
        resources: Record<string, { type: string; properties: object }>;
        outputs: Record<string, string>;
      };
      const [[name = "", { type, properties } = assert.fail()] = []] = Object.entries(resources);
      const known = schema.resources[type.replace(":", ":index:") as keyof typeof schema.resources];
      for (const input of Object.keys(properties)) assert.ok(input in known.inputProperties, input);
      for (const [output, value] of Object.entries(outputs)) {
        assert.equal(value, `\${${name}.${output}}`);
        assert.ok(output in known.properties, output);
      }
    }
  });

  // They are run in their order, or named with the reason why not.
  for (const { path, blocks } of written.filter((page) => page.blocks.some((block) => !block.notRun))) {
    describe(path, function () {
      let session: Session;
      before(async () => void (session = await Session.start()));
      after(() => session.end());

      for (const block of blocks) {
        const title = `${block.place} (${block.language || "no language"})`;
        if (block.notRun) {
          it(`${title}: not run: ${block.notRun}`);
        } else {
          it(title, async function () {
            if (needsRedis(block) && !hasRedis) return this.skip();
            const before = session.resets;
            await session.run(block);
            if (block.resets !== undefined) assert.equal(session.resets - before, block.resets, "password resets");
          });
        }
      }
    });
  }
});

function isCode({ language }: Block): boolean {
  return language === "ts" || language === "js";
}

/** The type errors of blocks, each with its place; all are checked by one program, as files that are on no disk. */
function typeErrors(blocks: readonly Block[]): string[] {
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
