import assert from "node:assert/strict";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import fc from "fast-check";
import { EngineError } from "../../local/engine/errors";
import { type ExportedDeployment, type LocalStack } from "../../local/engine/index";
import { TestProject } from "../local/engine/project";
import { assertNothingPolluted } from "./assertions";
import { hostileNames, smallValue } from "./hostile";
import { fuzz, timeoutFor } from "./settings";

/** A damage to a JSON text: another value anywhere in it, a key that is gone or new, or a cut. */
const damage = fc.tuple(
  fc.nat(),
  fc.constantFrom("value", "remove", "add", "cut"),
  smallValue,
  fc.constantFrom(...hostileNames),
);

describe("fuzz: the local engine's files", () => {
  let project: TestProject;
  let stack: LocalStack;
  let state: string;
  before(async () => {
    project = new TestProject();
    stack = await project.open();
    await stack.setConfig("a", "canary-setting", { secret: true });
    const fixture = readFileSync("test/fixtures/traces/decrypted-stack.json", "utf8");
    await stack.importStack(JSON.parse(fixture) as ExportedDeployment);
    state = readFileSync(project.statePath, "utf8");
  });
  after(() => project.remove());

  it("a damaged state is read, or refused with the file's or the field's name", async () => {
    let refused = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(damage, { minLength: 1, maxLength: 2 }), async (damages) => {
        // A file cannot hold half of a surrogate pair.
        const text = damages.reduce(damaged, state).toWellFormed();
        writeFileSync(project.statePath, text);
        for (const use of [() => stack.outputs(), () => stack.exportStack()]) {
          const message = await refusalOf(use);
          if (message === undefined) continue;
          refused++;
          assert.match(message, /state|urn:|deployment|secret|passphrase|salt|version|\.json/i);
        }
        assert.equal(readFileSync(project.statePath, "utf8"), text, "a damaged state was written over");
        assertNothingPolluted();
      }),
      fuzz(300),
    );
    console.log(`    ${refused} were refused`);
  }).timeout(timeoutFor(2_000));

  it("a damaged export is imported, or refused, and the state stays unchanged", async () => {
    writeFileSync(project.statePath, state);
    const deployments = [
      null,
      { resources: {} },
      { resources: [null] },
      { secrets_providers: 5 },
      { pending_operations: [{}] },
    ];
    const states = deployments.map((deployment) => ({ version: 3, deployment }));
    for (const exported of [null, 1, "x", [], {}, { version: 3 }, { version: 4, deployment: {} }, ...states]) {
      const text = JSON.stringify(exported);
      const message = await refusalOf(() => stack.importStack(exported as ExportedDeployment));
      if (/secrets_providers/.test(text) && message === undefined) writeFileSync(project.statePath, state);
      else assert.match(message ?? "", /state|deployment/, text);
      assert.equal(readFileSync(project.statePath, "utf8"), state, text);
    }
  });

  /** Writes each text in place of a file, and restores it. */
  async function replaced(
    path: string,
    texts: readonly string[],
    check: (text: string) => Promise<void>,
  ): Promise<void> {
    const good = readFileSync(path, "utf8");
    for (const text of texts) {
      writeFileSync(path, text);
      await check(text);
    }
    writeFileSync(path, good);
  }

  it("a damaged Pulumi.yaml is read, or refused with its name", async () => {
    const named = ["runtime: 5", "runtime: { name: go }", "runtime: nodejs\nconfig: 5", "runtime: nodejs\nmain: 5"];
    const texts = [
      ...["", "null", "[]", "1", "\u0000", "<<: 1", "--- a\n--- b", "name: &a [*a]", "name: [", "name: x"],
      ...["name: {}\nruntime: nodejs", "a: &a [x,x]\nb: &b [*a,*a]\nname: *b"],
      ...[...named, "runtime: { name: nodejs, options: 5 }"].map((more) => `name: trace\n${more}`),
    ];
    await replaced(project.path("Pulumi.yaml"), texts, async (text) => {
      const message = await refusalOf(() => project.open());
      if (message !== undefined) assert.match(message, /Pulumi\.yaml|runtime/, JSON.stringify(text));
    });
  });

  it("a damaged Pulumi.dev.yaml is read, or refused with its name or the setting's, and never overwritten", async () => {
    const config = ["a: { secure: 5 }", "trace:a: { secure: 'v1:x:y' }", "'a:b:c:d': 1", "trace:a: *x", "? [a]\n  : 1"];
    const texts = [
      ...["[", "[]", "5", "\u0000", "a: 1\na: 2", "--- a\n--- b", "config: 5", "config: []"],
      ...["encryptionsalt: 5", "encryptionsalt: v1:x", "secretsprovider: 5", "secretsprovider: awskms://x"],
      ...config.map((entry) => `config:\n  ${entry}`),
    ];
    const path = project.path("Pulumi.dev.yaml");
    await replaced(path, texts, async (text) => {
      const message = await refusalOf(() => stack.getAllConfig());
      const named = /Pulumi\.dev\.yaml|secrets provider|configuration key|salt/;
      if (message !== undefined) assert.match(message, named, `${JSON.stringify(text)}: ${message}`);
      // What seems to contain secrets gets a salt.
      assert.ok(readFileSync(path, "utf8").startsWith(text), text);
    });
  });

  it("a damaged lock is refused with its name", async () => {
    for (const text of ["", "null", "{", "5", '{"pid":"x"}']) {
      const path = project.write(".rekey/stacks/trace/dev.lock", text);
      const message = await refusalOf(() => stack.importStack(JSON.parse(state) as ExportedDeployment));
      if (message !== undefined) assert.ok(message.includes(path), `${text}: ${message}`);
      rmSync(path, { force: true });
    }
  });
});

async function refusalOf(use: () => Promise<unknown>): Promise<string | undefined> {
  try {
    await use();
    return undefined;
  } catch (error) {
    assert.ok(error instanceof EngineError, (error as Error).stack);
    return error.message;
  }
}

function damaged(text: string, [at, how, json, name]: readonly [number, string, string, string]): string {
  if (how === "cut") return text.slice(0, at % (text.length + 1));
  // Places at which a value begins.
  const places = [...text.matchAll(/"([^"\\]*)":\s*/g)];
  const place = places[at % Math.max(1, places.length)];
  if (place === undefined) return text;
  const { 0: key, index } = place;
  const [before, rest] = [text.slice(0, index), text.slice(index + key.length)];
  const after = rest.slice(endOfValue(rest));
  if (how === "remove") return before + after.replace(/^\s*,/, "");
  if (how === "add") return `${before}${JSON.stringify(name)}:${json},${key}${rest}`;
  return before + key + json + after;
}

/** Where the JSON value ends that a text begins with. */
function endOfValue(text: string): number {
  let depth = 0;
  for (const { 0: token, index } of text.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{},]|[^\s[\]{},"]+/g)) {
    if (/^[[{]/.test(token)) depth++;
    else if (/^[\]},]/.test(token) && depth === 0) return index;
    else if (/^[\]}]/.test(token)) depth--;
  }
  return text.length;
}
