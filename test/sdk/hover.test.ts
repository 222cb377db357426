import assert from "node:assert/strict";
import { join } from "node:path";
import * as ts from "typescript";
import { projectRoot } from "../support/host";

const classes = [
  "FlowControlLimits",
  "FlowControlReset",
  "PasswordRotation",
  "PasswordRotationFleet",
  "PasswordVerification",
  "QueueTokenRotation",
  "SearchTokenRotation",
  "SigningKeyRotation",
  "VectorTokenRotation",
];

/** A program as a user writes it, which is in no file. Each class is constructed on a separate line. */
const file = join(projectRoot, "sdk", "hovered.ts");
const code = [
  'import * as rekey from "./index";',
  "declare const args: never;",
  ...classes.map((name) => `new rekey.${name}("name", args);`),
  'new rekey.PasswordRotation("name", { databaseId: "id", version: 1 });',
  'new rekey.PasswordRotationFleet("name", { databases: { one: { databaseId: "id", version: 1 } }, version: 1 });',
].join("\n");

/** What an editor shows while the mouse is over a name. */
interface Hover {
  readonly text: string;
  readonly tags: readonly string[];
}

describe("hover texts", () => {
  let service: ts.LanguageService;

  before(() => {
    const options: ts.CompilerOptions = {
      strict: true,
      skipLibCheck: true,
      module: ts.ModuleKind.NodeNext,
      target: ts.ScriptTarget.ES2022,
      types: ["node"],
    };
    const read = (path: string) => (path === file ? code : ts.sys.readFile(path));
    service = ts.createLanguageService({
      fileExists: (path) => path === file || ts.sys.fileExists(path),
      getCompilationSettings: () => options,
      getCurrentDirectory: () => projectRoot,
      getDefaultLibFileName: ts.getDefaultLibFilePath,
      getScriptFileNames: () => [file],
      getScriptSnapshot: (path) => {
        const text = read(path);
        return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
      },
      getScriptVersion: () => "1",
      readFile: read,
    });
  });

  after(() => service.dispose());

  function hoverAt(position: number): Hover {
    const info = service.getQuickInfoAtPosition(file, position);
    return {
      text: ts.displayPartsToString(info?.documentation),
      tags: info?.tags?.map(({ name }) => name) ?? [],
    };
  }

  for (const name of classes) {
    it(`shows what a ${name} does, its errors and an example at its constructor`, () => {
      const { text, tags } = hoverAt(code.indexOf(`new rekey.${name}(`) + "new rekey.".length);
      assert.match(text, /^(Pins|Resets|Rolls|Rotates|Verifies) [^.]+\./);
      assert.deepEqual(tags, ["throws", "example"]);
    });
  }

  it("shows an id and a version as they are written", () => {
    const found = [...code.matchAll(/databaseId|version/g)].map((match) => [match[0], hoverAt(match.index)] as const);
    assert.equal(found.length, 5);
    for (const [name, { text }] of found) {
      assert.match(text, name === "version" ? /from `1` to `2`/ : /a UUID: `[\da-f]{8}-[\da-f-]{27}`/);
    }
  });

  it("has a text for all exports and their members, and no path of this repository", () => {
    const program = service.getProgram();
    const checker = program?.getTypeChecker();
    const index = program?.getSourceFile(join(projectRoot, "sdk", "index.ts"));
    const module = index && checker?.getSymbolAtLocation(index);
    assert.ok(checker && module);
    const wrong: string[] = [];
    let members = 0;
    for (const one of checker.getExportsOfModule(module)) {
      const symbol = one.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(one) : one;
      const own = checker
        .getDeclaredTypeOfSymbol(symbol)
        .getProperties()
        .filter(({ name, declarations }) => {
          return !/^(?:__#|#)/.test(name) && !declarations?.[0]?.getSourceFile().fileName.includes("node_modules");
        });
      members += own.length;
      for (const shown of [symbol, ...own]) {
        const text = ts.displayPartsToString(shown.getDocumentationComment(checker));
        const tags = shown.getJsDocTags(checker).map((tag) => `@${tag.name} ${ts.displayPartsToString(tag.text)}`);
        const isHelpful = text !== "" && ![text, ...tags].some((part) => /^@see|\bdocs\//.test(part));
        if (!isHelpful) wrong.push(`${symbol.name}.${shown.name}: ${[text, ...tags].join(" ")}`);
      }
    }
    assert.deepEqual(wrong, []);
    assert.ok(members > 150, String(members));
  });
});
