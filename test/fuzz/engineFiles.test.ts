import assert from "node:assert/strict";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import fc from "fast-check";
import { EngineError } from "../../local/engine/errors";
import { type ExportedDeployment, type LocalStack } from "../../local/engine/index";
import { TestProject } from "../local/engine/project";
import { assertNothingPolluted } from "./assertions";
import { hostileNames, smallValue } from "./hostile";
import { fuzz, patience } from "./settings";

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
        const text = damages.reduce(damaged, state);
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
  }).timeout(patience(2_000));

  it("a damaged export is imported, or refused, and the state stays as it was", async () => {
    writeFileSync(project.statePath, state);
    for (const text of [
      "null",
      "1",
      '"x"',
      "[]",
      "{}",
      '{"version":3}',
      '{"version":3,"deployment":null}',
      '{"version":4,"deployment":{}}',
      '{"version":3,"deployment":{"resources":{}}}',
      '{"version":3,"deployment":{"resources":[null]}}',
      '{"version":3,"deployment":{"secrets_providers":5}}',
      '{"version":3,"deployment":{"pending_operations":[{}]}}',
    ]) {
      const message = await refusalOf(() => stack.importStack(JSON.parse(text) as ExportedDeployment));
      if (/secrets_providers/.test(text) && message === undefined) writeFileSync(project.statePath, state);
      else assert.match(message ?? "", /state|deployment/, text);
      assert.equal(readFileSync(project.statePath, "utf8"), state, text);
    }
  });

  const projects = [
    "",
    "null",
    "[]",
    "1",
    "name: [",
    "name: x",
    "name: {}\nruntime: nodejs",
    "name: x\nruntime: 5",
    "name: x\nruntime:\n  name: go",
    "name: trace\nruntime: nodejs\nconfig: 5",
    "name: trace\nruntime:\n  name: nodejs\n  options: 5",
    "\u0000",
    "name: &a [*a]",
    "a: &a [x,x]\nb: &b [*a,*a]\nname: *b",
    "name: trace\nruntime: nodejs\nmain: 5",
    "<<: 1",
    "--- a\n--- b",
  ];
  const settings = [
    "[",
    "[]",
    "5",
    "config: 5",
    "config: []",
    "config:\n  a:\n    secure: 5",
    "config:\n  trace:a:\n    secure: v1:x:y",
    "config:\n  'a:b:c:d': 1",
    "encryptionsalt: 5",
    "encryptionsalt: v1:x",
    "secretsprovider: 5",
    "secretsprovider: awskms://x",
    "config:\n  trace:a: *x",
    "a: 1\na: 2",
    "--- a\n--- b",
    "\u0000",
    "config:\n  ? [a]\n  : 1",
  ];

  it("a damaged Pulumi.yaml is read, or refused with its name", async () => {
    const good = readFileSync(project.path("Pulumi.yaml"), "utf8");
    for (const text of projects) {
      writeFileSync(project.path("Pulumi.yaml"), text);
      const message = await refusalOf(() => project.open());
      if (message !== undefined) assert.match(message, /Pulumi\.yaml|runtime/, JSON.stringify(text));
    }
    writeFileSync(project.path("Pulumi.yaml"), good);
  });

  it("a damaged Pulumi.dev.yaml is read, or refused with its name or the setting's; none is written over", async () => {
    const path = project.path("Pulumi.dev.yaml");
    const good = readFileSync(path, "utf8");
    for (const text of settings) {
      writeFileSync(path, text);
      const message = await refusalOf(() => stack.getAllConfig());
      if (message !== undefined) {
        assert.match(
          message,
          /Pulumi\.dev\.yaml|secrets provider|configuration key|salt/,
          `${JSON.stringify(text)}: ${message}`,
        );
      }
      // What seems to hold secrets gets a salt.
      assert.ok(readFileSync(path, "utf8").startsWith(text), text);
    }
    writeFileSync(path, good);
  });

  it("a damaged lock is refused with its name", async () => {
    const path = project.statePath.replace(/json$/, "lock");
    mkdirSync(dirname(path), { recursive: true });
    for (const text of ["", "null", "{", "5", '{"pid":"x"}']) {
      writeFileSync(path, text);
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
  const before = text.slice(0, place.index);
  const key = place[0];
  const rest = text.slice(place.index + key.length);
  const end = endOfValue(rest);
  if (how === "remove") return before + rest.slice(end).replace(/^\s*,/, "");
  if (how === "add") return `${before}${JSON.stringify(name)}:${json},${key}${rest}`;
  return before + key + json + rest.slice(end);
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
