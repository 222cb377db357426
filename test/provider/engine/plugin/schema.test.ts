import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { functions } from "../../../../provider/engine/functions";
import { resources } from "../../../../provider/engine/resources";
import { type AnyResource } from "../../../../provider/resource/resource";
import * as schemas from "../../../../provider/resource/schema";
import { Folder } from "../../../support/folder";
import { projectRoot } from "../../../support/host";

interface Type {
  readonly oneOf?: readonly Type[];
  readonly description?: string;
}
interface ObjectType {
  readonly properties: Readonly<Record<string, Type>>;
}
interface Resource extends ObjectType {
  readonly inputProperties: ObjectType["properties"];
  readonly requiredInputs: readonly string[];
}
interface Schema {
  readonly types: Readonly<Record<string, ObjectType>>;
  readonly resources: Readonly<Record<string, Resource>>;
  readonly functions: Readonly<Record<string, { inputs?: ObjectType }>>;
}

const schema = JSON.parse(readFileSync(join(projectRoot, "schema.json"), "utf8")) as Schema;
const of = <T>(all: Readonly<Record<string, T>>, name: string): T => all[`rekey:index:${name}`] as T;
const namesOf = (object: object = {}) => Object.keys(object).sort();

/** Parts of the schema without a description. */
function undescribed(part: unknown, path: string): string[] {
  if (typeof part !== "object" || part === null) return [];
  const isNamed = /\.(properties|inputProperties|resources|functions)\.[^.]+$/.test(path);
  const own = isNamed && !(part as Type).description ? [path] : [];
  return [...own, ...Object.entries(part).flatMap(([name, inner]) => undescribed(inner, `${path}.${name}`))];
}

// What it takes from the provider's tables is what `npm run schema` writes. All else is written in the SDK's classes.
/** Inputs that no program has: those that Check decides, and the name that the SDK passes. */
const decided: Readonly<Record<string, readonly string[]>> = { RotationTrigger: ["memory", "name", "value"] };

describe("schema.json", () => {
  it("and all other files are what `npm run schema` writes, from classes with the outputs of the provider", () => {
    const folder = new Folder();
    const script = join(projectRoot, "scripts", "schema.mjs");
    const { status, stderr } = spawnSync(process.execPath, [script, folder.directory]);
    assert.equal(status, 0, String(stderr));
    const written = readdirSync(folder.directory, { recursive: true, encoding: "utf8" });
    const files = written.filter((path) => statSync(folder.path(path)).isFile());
    assert.ok(["schema.json", join("docs", "reference.md"), "package.json"].every((path) => files.includes(path)));
    for (const path of files) {
      assert.equal(readFileSync(folder.path(path), "utf8"), readFileSync(join(projectRoot, path), "utf8"), path);
    }
    folder.remove();
  });

  for (const [name, resource] of Object.entries<AnyResource>(resources)) {
    const { properties, inputProperties, requiredInputs } = of(schema.resources, name);

    it(`has the inputs of ${name}, and no output with the name of one of another shape`, () => {
      const { schemas: inputs, required } = resource.inputs(schemas);
      const ofProgram = namesOf(inputs).filter((input) => !decided[name]?.includes(input));
      assert.deepEqual(namesOf(inputProperties), ofProgram);
      assert.deepEqual([...requiredInputs].sort(), [...required].sort());
      // A preview of the dynamic host shows the input in place of the output.
      for (const [output, { description: _, ...type }] of Object.entries(properties)) {
        const input = inputProperties[output];
        if (input === undefined) continue;
        const shapes = [input, ...(input.oneOf ?? [])].map(({ description: _, ...one }) => JSON.stringify(one));
        assert.ok(shapes.includes(JSON.stringify(type)), output);
      }
    });
  }

  it("has the arguments of each function, and of a connection", () => {
    for (const [name, { inputs }] of Object.entries(functions)) {
      const known = namesOf(inputs(schemas).schemas);
      assert.deepEqual(namesOf(of(schema.functions, name).inputs?.properties), known, name);
    }
    assert.deepEqual(namesOf(of(schema.types, "Connection").properties), ["host", "port", "tls", "username"]);
  });

  it("describes everything", () => {
    assert.deepEqual(undescribed(schema, "schema"), []);
  });
});
