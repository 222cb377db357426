// node scripts/prose.mjs [files and folders]: finds words to avoid on pages, and in the comments and strings of code.
// Prints the place of each with a replacement. The exit code is 1 if it finds any.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import ts from "typescript";
import { root } from "./lib.mjs";

const pages = ["README.md", "CHANGELOG.md", "CODE_OF_CONDUCT.md", "CONTRIBUTING.md", "SECURITY.md", "docs", "examples"];
const everything = [...pages, "provider", "sdk", "local", "test"].map((path) => join(root, path));
/** Not checked: what is generated, and the test of this script. */
const skipped = /(^|\/)(node_modules|dist|prose\.test\.ts)$/;

/** What to avoid, and what to write instead. A space is any white space, also a line break within a comment. */
const words = {
  "mend(s|ed|ing)?": "fix",
  anew: "again",
  "for ever": "permanently",
  "besides?": "in addition to",
  "as (it was|they were)": "unchanged",
  "(?<!there )(is|are|was|were) no (?!longer|more|less|larger|later|other)": "is not a",
  "where (there|it) (is|was|are|were)": "if there is",
  "(nobody|somebody|whoever|who needs)": "unknown, someone, callers that need it",
  "what (is|was) (saved|wanted)": "the saved state, the desired state",
  "(came|comes?|became|becomes?) of": "the result",
  "(?<!(message|error|page) )(tells|says)": "returns, prints, reports",
  "stands? (in|for)": "is in, means",
  "(the house|rooms?)": "project layout, module",
  "(the|one|a) line in (which|front)": "request queue",
  "(sightings?|ledgers?)": "connection state, once-per-run cache",
  "(wish(es)?|fates?|laws?)": "desired inputs, expected outcome, invariant",
  "(faces?|life|looks)": "adapter, lifecycle, probe",
  "(ways? to the platform|unconfirmed ways?)": "connection",
  "answer(s|ed|ing)?": "response, respond",
  "(a|the|one|each|single|two|both|of) readings?": "read",
  patience: "a timeout with its unit in the name",
};
/** Lines with a legitimate use: names in the code. */
const allowed = [/within-answer/, /`making-room`/];

/** The text of a file with everything but prose replaced by blanks, so that places stay the same. */
function proseOf(file, text) {
  if (!/\.(ts|mjs|cjs|js)$/.test(file)) return text;
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const prose = text.replace(/[^\n]/g, " ").split("");
  const keep = ({ pos, end }) => prose.splice(pos, end - pos, ...text.slice(pos, end).split(""));
  const visit = (node) => {
    ts.getLeadingCommentRanges(text, node.pos)?.forEach(keep);
    ts.getTrailingCommentRanges(text, node.end)?.forEach(keep);
    const isText = ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node);
    // A text without a blank is a name or a code.
    if (isText && /\s/.test(node.text)) keep({ pos: node.getStart(), end: node.end });
    node.getChildren(source).forEach(visit);
  };
  visit(source);
  return prose.join("").replace(/^\s*(\/\/|\*)/gm, (start) => start.replace(/[/*]/g, " "));
}

function filesIn(path) {
  if (skipped.test(relative(root, path))) return [];
  if (statSync(path).isDirectory()) return readdirSync(path).flatMap((name) => filesIn(join(path, name)));
  return /\.(md|ts|mjs|cjs|js|sh|ya?ml|html)$/.test(path) ? [path] : [];
}

const given = process.argv.slice(2).map((path) => resolve(path));
const found = (given.length > 0 ? given : everything).flatMap(filesIn).flatMap((file) => {
  const text = readFileSync(file, "utf8");
  const prose = proseOf(file, text);
  return Object.entries(words).flatMap(([word, instead]) =>
    [...prose.matchAll(new RegExp(`\\b${word.replaceAll(" ", "\\s+")}\\b`, "gi"))].flatMap(({ 0: avoid, index }) => {
      const line = prose.slice(0, index).split("\n").length;
      if (allowed.some((use) => use.test(text.split("\n")[line - 1]))) return [];
      return `${relative(process.cwd(), file)}:${line}: "${avoid.replace(/\s+/g, " ")}": write ${instead}`;
    }),
  );
});
console.log([...found, `words to avoid: ${found.length}`].join("\n"));
process.exit(found.length === 0 ? 0 : 1);
