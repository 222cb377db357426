import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as ts from "typescript";
import { projectRoot } from "../support/host";
import { runAsync } from "../support/runAsync";

/** Texts of the provider and the SDK that are no message. */
const silent: readonly RegExp[] = [
  /^no connection in time$/, // replaced by its code
  /^ is no ISO 8601 time$/, // refused as unreadable before
  /^stream has been aborted$/, // axios says it
  /nested too deep to be kept$/, // how deep, depends on the machine
];

/** The words of a source file: its texts, and the pieces of its templates, that could be a part of a message. */
function wordsOf(file: string): string[] {
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (
      ts.isStringLiteralLike(node) ||
      ts.isTemplateMiddleOrTemplateTail(node) ||
      node.kind === ts.SyntaxKind.TemplateHead
    ) {
      found.push((node as ts.LiteralLikeNode).text);
    }
    ts.forEachChild(node, visit);
  };
  ts.forEachChild(ts.createSourceFile(file, readFileSync(file, "utf8"), ts.ScriptTarget.Latest), visit);
  return found.filter((text) => (text.match(/[A-Za-z]{2,}/g) ?? []).length >= 3 && text.includes(" "));
}

describe("docs/errors.md", () => {
  it("is what the code says", async () => {
    const script = join(projectRoot, "scripts", "errors-page.mjs");
    const { code, output } = await runAsync(process.execPath, [script, "--check"], { cwd: projectRoot });
    assert.equal(code, 0, output);
  });

  it("has every message of the provider and the SDK", () => {
    const page = readFileSync(join(projectRoot, "docs", "errors.md"), "utf8").replace(/\s+/g, " ");
    const words = ["provider", "sdk"].flatMap((folder) =>
      readdirSync(join(projectRoot, folder), { recursive: true, encoding: "utf8" })
        .filter((file) => file.endsWith(".ts"))
        .flatMap((file) => wordsOf(join(projectRoot, folder, file)).map((text) => [file, text] as const)),
    );
    assert.ok(words.length > 80, String(words.length));
    const missing = words.filter(
      ([, text]) => !page.includes(text.replace(/\s+/g, " ")) && !silent.some((one) => one.test(text)),
    );
    assert.deepEqual(missing, [], "add an entry to scripts/errors/catalogue.mjs, then run `npm run docs:errors`");
  });
});
