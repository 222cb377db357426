import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as ts from "typescript";
import { projectRoot } from "../support/host";
import { runAsync } from "../support/runAsync";

/** What can say something before, beside or instead of the provider. */
const talking = [
  "provider",
  "sdk",
  "cli",
  "local/engine",
  ...["databaseOptions", "options", "redis", "redisServer", "seed"].map((file) => `local/platform/${file}.ts`),
];

/** Files that show what is, and say nothing of what is wrong. */
const displays = ["cli/platformOutput.ts", "local/engine/proto.ts"];

/** Texts that are no message. */
const silent: readonly RegExp[] = [
  /^no connection in time$/, // replaced by its code
  /^ is no ISO 8601 time$/, // refused as unreadable before
  /^stream has been aborted$/, // axios says it
  /nested too deep to be kept$/, // how deep, depends on the machine
  // What the local engine says as the engine of the CLI does, of programs and of their own providers.
  /^Duplicate resource (URN|alias) '$/,
  /^'; try giving it a unique name$|^' applied to resource with URN '$|^'; another one has it$/,
  /^cannot ignore changes in added or removed elements of the path: "$/,
  / has a problem: $/,
  /^unable to replace resource $|^ as part of replacing $|it is currently marked for protection/,
  /cannot be deleted\nbecause it is protected|flag from the resource in your Pulumi program|pulumi state unprotect/,
  /^resource init failed$|^was ended by $|^an unhandled error occurred: Program |^exited with non-zero exit code: /,
  /^the provider did not return an ID from Create$|^unexpected unknown property value for $/,
  /^No output values currently in this stack\n$|^Current stack outputs \($/,
  /^confirmation declined, not proceeding with the $|^Do you want to perform this $/, // asked in a terminal
  // Said only where the SDK breaks its own protocol.
  /^cannot complete $|^, which is not registered$|^malformed secret: it has no value$|^for an unknown reason$/,
  /^not of the form v1:nonce:sealed$/, // the cause of a message that says it for people
  /^, through the proxy$/, // of a way that is well
  /^Nothing wrong was found\.$|checks found something wrong\.$/, // the doctor's last line
  /^Ready to accept connections$/, // redis-server says it
  /LOCAL_ENGINE_PID|^\(read -r _ |^bind 127\.0\.0\.1\nport |appendonly no/, // code for other programs
  /^the way to $|^the (queue|stack)'s (token|secrets)$/, // the doctor's names of what it looks at
  /^The (project|pulumi CLI) is $/, // the doctor, of what is well
  /^it cannot be used$/, // zod has named no issue
];

/** What takes help texts, and names of what is not supported: those are all said in the one sentence that the page shows. */
const takers = [
  "command",
  "description",
  "option",
  "operation",
  "stackCommand",
  "Option",
  "UnsupportedError",
  "refuse",
];

/** The parts of a node that could be a part of a message: no help texts, no names of properties, no lists of names. */
function tellingParts(node: ts.Node): readonly ts.Node[] {
  const parts: ts.Node[] = [];
  ts.forEachChild(node, (child) => void parts.push(child));
  if (ts.isCallExpression(node) || ts.isNewExpression(node)) {
    const callee = ts.isPropertyAccessExpression(node.expression) ? node.expression.name : node.expression;
    if (ts.isIdentifier(callee) && takers.includes(callee.text)) return [node.expression];
  }
  if (ts.isPropertyAssignment(node)) return [node.initializer];
  if (ts.isPropertyAccessExpression(node) && node.name.text === "split") return [];
  return parts;
}

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
    tellingParts(node).forEach(visit);
  };
  ts.forEachChild(ts.createSourceFile(file, readFileSync(file, "utf8"), ts.ScriptTarget.Latest), visit);
  return found.filter((text) => (text.match(/[A-Za-z]{2,}/g) ?? []).length >= 3 && text.includes(" "));
}

/** The sources of a folder, or the one that is named. */
function filesOf(place: string): string[] {
  if (place.endsWith(".ts")) return [place];
  return readdirSync(join(projectRoot, place), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .map((file) => `${place}/${file.replaceAll("\\", "/")}`);
}

describe("docs/errors.md", () => {
  it("is what the code says", async () => {
    const script = join(projectRoot, "scripts", "errors-page.mjs");
    const { code, output } = await runAsync(process.execPath, [script, "--check"], { cwd: projectRoot });
    assert.equal(code, 0, output);
  });

  it("has every message of the provider, the SDK, the command line and the local engine, and of the local platform's start", () => {
    const page = readFileSync(join(projectRoot, "docs", "errors.md"), "utf8").replace(/\s+/g, " ");
    const words = talking.flatMap((place) =>
      filesOf(place)
        .filter((file) => !displays.includes(file))
        .flatMap((file) => wordsOf(join(projectRoot, file)).map((text) => [file, text] as const)),
    );
    assert.ok(words.length > 160, String(words.length));
    const missing = words.filter(
      ([, text]) => !page.includes(text.replace(/\s+/g, " ")) && !silent.some((one) => one.test(text)),
    );
    assert.deepEqual(
      missing,
      [],
      "add an entry to the subject's file in scripts/errors, then run `npm run docs:errors`",
    );
  });
});
