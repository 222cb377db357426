import assert from "node:assert/strict";
import { localEngine } from "../support/engine";
import { runEngine } from "../support/engineProcess";
import { Project } from "../support/project";

/** Command lines that cannot be meant, each with what the error must name. */
const wrong: readonly (readonly [args: readonly string[], named: RegExp])[] = [
  ...["-1", "65536", "1e3", "NaN", "", " ", "0x10", "1.5", "99999999999999999999"].map(
    (port) => [["platform", `--port=${port}`], /--port/] as const,
  ),
  [["platform", "--host", "not a host"], /not a host|--host/],
  [["platform", "--database="], /--database/],
  [["platform", "--database", "a", "a"], /--database/],
  [["platform", "--flow-control-key", "k", "k"], /--flow-control-key/],
  [["platform", "--username", "a:b"], /--username/],
  [["platform", "--password="], /--password/],
  [["platform", "--queue-token", "a b"], /--queue-token/],
  [["platform", "--credentials", "__proto__"], /--credentials/],
  [["platform", "--__proto__=1"], /--__proto__/],
  ...["0", "-1", "1.5", "NaN", "", "1e3"].map((n) => [["preview", `--parallel=${n}`], /--parallel/] as const),
  ...["", "a/b", "../x", "\u00e9", "x".repeat(101)].map(
    (stack) => [["output", `--stack=${stack}`], /stack name/] as const,
  ),
  [["up", "--constructor"], /--constructor/],
  [["up"], /--yes or --skip-preview/],
  [["output", "--cwd", "/nowhere"], /Pulumi\.yaml.*\/nowhere/],
  [["import", "--file", "nowhere.json"], /nowhere\.json/],
  [["import", "--file", "index.js"], /--file: index\.js cannot be read as JSON/],
  [["import", "--file", "package.json"], /imported state is invalid: version/],
  [["config", "set", "a:b:c:d", "1"], /a:b:c:d/],
  [["config", "get", "__proto__"], /__proto__/],
  [["output", "__proto__"], /__proto__/],
  [["__proto__"], /__proto__/],
];

describe("fuzz: flags", () => {
  const project = new Project("");
  after(() => project.remove());

  for (const [args, named] of wrong) {
    it(`rekey-local ${args.join(" ").slice(0, 60)}: is refused by name`, async () => {
      const { code, printed } = await runEngine(localEngine, args, project.directory);
      assert.notEqual(code, 0, printed);
      assert.match(printed, named);
      assert.doesNotMatch(printed, /\n\s+at |TypeError|Cannot read prop/, "a stack trace");
    }).timeout(30_000);
  }
});
