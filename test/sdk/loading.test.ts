import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const root = join(__dirname, "../..");
const sdk = join(root, "dist/sdk/index.js");

/** Runs code in a process of its own, so that nothing is loaded yet. */
function run(code: string, cwd = root) {
  const { status, stdout, stderr } = spawnSync(process.execPath, ["-e", code], { cwd, encoding: "utf8" });
  return { status, stdout, stderr };
}

/** The packages that a piece of code loads. */
function packagesLoadedBy(code: string): Set<string> {
  const { stdout, stderr, status } = run(`${code};console.log(JSON.stringify(Object.keys(require.cache)))`);
  assert.equal(status, 0, stderr);
  const files = JSON.parse(stdout) as string[];
  return new Set(files.map((file) => /.*node_modules[\\/]([^@\\/]+|@[^\\/]+[\\/][^\\/]+)/.exec(file)?.[1] ?? ""));
}

describe("sdk: loading", () => {
  const heavy = ["axios", "zod", "luxon", "lossless-json", "p-queue", "hono", "commander", "yaml"];

  it("loads nothing that only a call needs", () => {
    const loaded = packagesLoadedBy(`require(${JSON.stringify(sdk)})`);
    assert.ok(loaded.has("@pulumi/pulumi"));
    const pulumis = packagesLoadedBy('require("@pulumi/pulumi")');
    assert.deepEqual(
      heavy.filter((name) => loaded.has(name) && !pulumis.has(name)),
      [],
    );
    assert.ok(
      packagesLoadedBy(`require(${JSON.stringify(join(root, "dist/provider/api/platformClient.js"))})`).has("axios"),
    );
  });

  it("of the provider entry loads no package before it is needed", () => {
    const loaded = packagesLoadedBy(`require(${JSON.stringify(join(root, "dist/provider/dynamic.js"))})`);
    assert.deepEqual([...loaded], [""]);
  });

  it("can be imported by name from an ES module", () => {
    const code = 'import("pulumi-rekey").then((rekey) => console.log(Object.keys(rekey).sort().join()))';
    const { stdout } = run(code);
    for (const name of ["FlowControlReset", "PasswordRotation", "getFlowControlKey", "getGlobalParallelismOutput"]) {
      assert.match(stdout, new RegExp(`\\b${name}\\b`));
    }
  });
});

describe("sdk: the package as the host finds it", () => {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), "rekey-host-")));
  const construct = `
    const pulumi = require(${JSON.stringify(require.resolve("@pulumi/pulumi"))});
    pulumi.runtime.setMocks({ newResource: ({ inputs }) => ({ id: "1", state: inputs }), call: () => ({}) });
    const { PasswordRotation, FlowControlReset } = require(${JSON.stringify(sdk)});
    for (const make of [() => new PasswordRotation("a", { databaseId: "db" }), () => new FlowControlReset("b", { flowControlKey: "k" })]) {
      try { make(); console.log("made"); } catch (error) { console.log(pulumi.RunError.isInstance(error), error.message); }
    }`;
  after(() => rmSync(directory, { recursive: true }));

  it("is found from this package's own folder, and below it", () => {
    assert.equal(run(construct).stdout, "made\nmade\n");
    assert.equal(run(construct, join(root, "examples", "quickstart")).stdout, "made\nmade\n");
  });

  it("is missed where it is not installed, and both resources say what to add where", () => {
    const { stdout } = run(construct, directory);
    const said = `true Pulumi's provider host will not find pulumi-rekey from ${directory}. Nothing was sent.\nAdd it to the dependencies of the package.json there (or above): npm install --prefix ${JSON.stringify(directory)} pulumi-rekey\n`;
    assert.equal(stdout, said.repeat(2));
  });

  for (const [version, outcome] of [
    ["3.9.1", /^(true The program uses @pulumi\/pulumi 3\.9\.1, .* 3\.139\.0 or later.*Nothing was sent.*\n){2}$/],
    ["3.138.0", /^(true The program uses @pulumi\/pulumi 3\.138\.0, .* 3\.139\.0 or later.*Nothing was sent.*\n){2}$/],
    ["3.139.0", /^made\nmade\n$/],
    ["3.1000.0", /^made\nmade\n$/],
  ] as const) {
    it(`is ${outcome.test("made\nmade\n") ? "used" : "refused"} with @pulumi/pulumi ${version}`, () => {
      const pretend = `require(${JSON.stringify(require.resolve("@pulumi/pulumi/version"))}).version = "${version}";`;
      assert.match(run(pretend + construct).stdout, outcome);
    });
  }

  it("is refused where the host would use another copy, and both are named", () => {
    const copy = join(directory, "node_modules", "pulumi-rekey");
    mkdirSync(copy, { recursive: true });
    writeFileSync(join(copy, "package.json"), '{"name":"pulumi-rekey","version":"9.9.9"}');
    const { stdout } = run(construct, directory);
    assert.match(stdout, /^true Two copies of pulumi-rekey are installed/);
    assert.ok(stdout.includes(copy) && stdout.includes(root) && stdout.includes("Nothing was sent."));
  });
});
