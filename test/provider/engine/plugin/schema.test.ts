import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { functions, resources } from "../../../../provider/engine/resources";
import { databaseFields, databaseTable } from "../../../../provider/records/database";
import { type Fields } from "../../../../provider/records/fields";
import { flowControlFields, globalParallelismFields } from "../../../../provider/records/flowControl";
import { type AnyResource } from "../../../../provider/resource";
import { connectionNames } from "../../../../provider/rotation/access";
import * as schemas from "../../../../provider/schema";
import { settingNames, settingOf } from "../../../../provider/settings/table";
import { Folder } from "../../../support/folder";
import { projectRoot } from "../../../support/host";

interface Type {
  readonly type?: string;
  readonly $ref?: string;
  readonly oneOf?: readonly Type[];
  readonly items?: Type;
  readonly additionalProperties?: Type;
  readonly description?: string;
  readonly secret?: boolean;
}
type Properties = Readonly<Record<string, Type>>;
interface ObjectType {
  readonly properties: Properties;
  readonly required?: readonly string[];
}
interface Resource extends ObjectType {
  readonly description: string;
  readonly inputProperties: Properties;
  readonly requiredInputs: readonly string[];
}
interface Schema {
  readonly provider: { readonly inputProperties: Properties };
  readonly config: { readonly variables: Properties };
  readonly types: Readonly<Record<string, ObjectType>>;
  readonly resources: Readonly<Record<string, Resource>>;
  readonly functions: Readonly<Record<string, { inputs?: ObjectType; outputs: ObjectType; description: string }>>;
}

const schema = JSON.parse(readFileSync(join(projectRoot, "schema.json"), "utf8")) as Schema;
const tokensOf = (object: object) => Object.keys(object).map((name) => `rekey:index:${name}`);
const of = <T>(all: Readonly<Record<string, T>>, name: string): T => all[`rekey:index:${name}`] as T;
const sorted = (names: Iterable<string>) => [...names].sort();
const namesOf = (object: object) => sorted(Object.keys(object));
const secretsIn = (properties: Properties) => namesOf(properties).filter((name) => properties[name]?.secret);

/** The type in the schema of a field of the tables. */
const types = { integer: "number", text: "string", flag: "boolean", texts: "array", object: undefined };

function assertFields({ properties }: ObjectType, fields: Fields): void {
  assert.deepEqual(namesOf(properties), namesOf(fields));
  for (const [name, { kind, fields: inner }] of Object.entries(fields)) {
    assert.equal(properties[name]?.type, types[kind], name);
    if (inner) assertFields(schema.types[properties[name]?.$ref?.replace("#/types/", "") ?? ""] as ObjectType, inner);
  }
}

describe("schema.json", () => {
  it("and docs/reference.md are what `npm run schema` writes, from classes with the outputs of the provider", () => {
    const folder = new Folder();
    const script = join(projectRoot, "scripts", "schema.mjs");
    const { status, stderr } = spawnSync(process.execPath, [script, folder.directory]);
    assert.equal(status, 0, String(stderr));
    for (const path of ["schema.json", "docs/reference.md"]) {
      assert.equal(readFileSync(folder.path(path), "utf8"), readFileSync(join(projectRoot, path), "utf8"), path);
    }
    folder.remove();
  });

  it("has each resource and function of the provider", () => {
    assert.deepEqual(namesOf(schema.resources), sorted(tokensOf(resources)));
    assert.deepEqual(namesOf(schema.functions), sorted(tokensOf(functions)));
  });

  for (const [name, resource] of Object.entries<AnyResource>(resources)) {
    const { properties, inputProperties, requiredInputs } = of(schema.resources, name) ?? {};

    it(`has the outputs and the inputs of ${name}`, () => {
      assert.deepEqual(namesOf(properties), namesOf(resource.outputs));
      const secrets = Object.keys(resource.outputs).filter((output) => resource.outputs[output] === "secret");
      assert.deepEqual(secretsIn(properties), sorted(secrets));
      const { schemas: inputs, required } = resource.inputs(schemas);
      assert.deepEqual(namesOf(inputProperties), namesOf(inputs));
      assert.deepEqual(sorted(requiredInputs), sorted(required));
    });

    // A preview of the dynamic host shows the input in place of the output.
    it(`gives no output of ${name} the name of an input of another shape`, () => {
      for (const [output, { description: _, secret: __, ...type }] of Object.entries(properties)) {
        const input = inputProperties[output];
        if (input === undefined) continue;
        const shapes = (input.oneOf ?? [input]).map(({ description: _, ...one }) => one);
        assert.ok(
          shapes.some((one) => JSON.stringify(one) === JSON.stringify(type)),
          output,
        );
      }
    });
  }

  it("has each field of the records and of a connection", () => {
    assert.deepEqual(namesOf(of(schema.types, "Connection").properties), sorted(connectionNames));
    assertFields(of(schema.types, "DatabaseRecord"), databaseFields);
    assertFields(of(schema.types, "ListedDatabase"), databaseTable.listed);
    assertFields(of(schema.functions, "getFlowControlKey").outputs, { ...flowControlFields, exists: { kind: "flag" } });
    assertFields(of(schema.functions, "getGlobalParallelism").outputs, globalParallelismFields);
  });

  it("has each setting, and the secret ones marked", () => {
    const { inputProperties } = schema.provider;
    assert.deepEqual(namesOf(inputProperties), sorted(settingNames));
    assert.deepEqual(schema.config.variables, inputProperties);
    const secret = settingNames.filter((name) => settingOf(name).secret);
    assert.deepEqual(secretsIn(inputProperties), sorted([...secret, "proxy"]));
  });

  it("describes everything, refers only to types that exist, and has no type that an SDK would read otherwise", () => {
    const objects: ObjectType[] = [
      ...Object.values(schema.types),
      ...Object.values(schema.resources),
      ...Object.values(schema.resources).map((one) => ({
        properties: one.inputProperties,
        required: one.requiredInputs,
      })),
      ...Object.values(schema.functions).flatMap(({ inputs, outputs }) => (inputs ? [inputs, outputs] : [outputs])),
      { properties: schema.provider.inputProperties },
    ];
    for (const { properties, required = [] } of objects) {
      for (const name of required) assert.ok(properties[name], name);
      for (const [name, property] of Object.entries(properties)) {
        assert.ok(property.description, name);
        assertType(property, name);
      }
    }
    for (const { description } of [...Object.values(schema.resources), ...Object.values(schema.functions)]) {
      assert.match(description, /^.*\.$/);
    }
    assert.ok(!("$schema" in schema));
  });
});

/** `integer` has 32 bits in several SDKs. */
function assertType({ $ref, oneOf, items, additionalProperties, type = "" }: Type, name: string): void {
  if ($ref !== undefined) return assert.ok(schema.types[$ref.replace("#/types/", "")], `${name}: ${$ref}`);
  if (oneOf) return oneOf.forEach((one) => assertType(one, name));
  assert.ok(["string", "number", "boolean", "array", "object"].includes(type), name);
  if (type === "array") assertType(items as Type, name);
  if (type === "object") assertType(additionalProperties as Type, name);
}
