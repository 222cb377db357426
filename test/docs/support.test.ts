import assert from "node:assert/strict";
import { type Block, blocksOf } from "./page";
import { normalized, shows } from "./session";
import { typeErrors } from "./types";

const block = (code: string): Block => ({ place: "page.md:1", language: "ts", code });

describe("The runner of code blocks", () => {
  it("reads the comments right before a block alone", () => {
    const text = "<!-- not run: too\n long -->\n<!-- resets: 2 -->\n\n```sh\na\n```\n\n```ts\nb\n```\n";
    const [first, second] = blocksOf("page.md", text);
    assert.deepEqual([first?.notRun, first?.resets, first?.code], ["too long", 2, "a\n"]);
    assert.deepEqual([second?.notRun, second?.resets, second?.place], [undefined, undefined, "page.md:9"]);
  });

  it("finds a type error in a program and in a script", function () {
    this.timeout(120_000);
    const program = 'import { PasswordRotation as R } from "pulumi-rekey";\nnew R("a", { databaseID: "b" });\n';
    const script = 'import { startPlatform } from "rekey-local";\nawait startPlatform({ port: "a" });\n';
    const errors = typeErrors([block(program), block(script)]);
    assert.equal(errors.length, 2, errors.join("\n"));
    assert.match(errors.join("\n"), /page\.md:1, its line 2: .*databaseID[^]*its line 2: .*string/);
  });

  it("matches … with anything, a time with any time, and everything else literally", () => {
    const expected = "created in 12 s\n…\nat 2026-01-01T00:00:00Z (done)";
    const printed = (end: string): string => normalized(`created in 3s\na\nb\nat 2030-02-03T04:05:06.789Z ${end}\n`);
    assert.match(printed("(done)"), shows(expected));
    assert.doesNotMatch(printed("done"), shows(expected));
    assert.doesNotMatch(printed("(done) and more"), shows(expected));
  });
});
