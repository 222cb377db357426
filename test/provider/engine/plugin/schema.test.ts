import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { databaseFields, databaseTable } from "../../../../provider/records/database";
import { flowControlFields, globalParallelismFields } from "../../../../provider/records/flowControl";
import { type Fields } from "../../../../provider/records/fields";
import { outputsOf, secretsOf } from "../../../../provider/engine/plugin/outputs";
import * as schemas from "../../../../provider/schema";
import { resources, functions } from "../../../../provider/engine/resources";
import { settingNames, settingOf } from "../../../../provider/settings/table";
import { Folder } from "../../../support/folder";
import { projectRoot } from "../../../support/host";
import { connectionNames } from "../../../../provider/rotation/connection";

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
  readonly isComponent?: boolean;
  readonly aliases?: readonly { readonly type: string }[];
}
interface Schema {
  readonly provider: { readonly inputProperties: Properties };
  readonly config: { readonly variables: Properties };
  readonly types: Readonly<Record<string, ObjectType>>;
  readonly resources: Readonly<Record<string, Resource>>;
  readonly functions: Readonly<Record<string, { inputs?: ObjectType; outputs: ObjectType; description: string }>>;
}

const schema = JSON.parse(readFileSync(join(projectRoot, "schema.json"), "utf8")) as Schema;
const of = <T>(all: Readonly<Record<string, T>>, name: string): T => all[`rekey:index:${name}`] as T;
const sorted = (names: Iterable<string>) => [...names].sort();
const namesOf = (object: object) => sorted(Object.keys(object));

/** The type in the schema of a field of the tables. */
const types = { integer: "number", text: "string", flag: "boolean", texts: "array", object: undefined };

function assertFields({ properties }: ObjectType, fields: Fields): void {
  for (const [name, { kind, fields: inner }] of Object.entries(fields)) {
    const property = properties[name];
    assert.ok(property, name);
    assert.equal(property.type, types[kind], name);
    if (inner) assertFields(schema.types[property.$ref?.replace("#/types/", "") ?? ""] as ObjectType, inner);
  }
}

describe("schema.json", () => {
  it("and docs/reference.md are what `npm run schema` writes", () => {
    const folder = new Folder();
    const script = join(projectRoot, "scripts", "schema.mjs");
    const { status, stderr } = spawnSync(process.execPath, [script, folder.directory]);
    assert.equal(status, 0, String(stderr));
    for (const path of ["schema.json", "docs/reference.md"]) {
      assert.equal(readFileSync(folder.path(path), "utf8"), readFileSync(join(projectRoot, path), "utf8"), path);
    }
    folder.remove();
  });

  it("has each field of the records", () => {
    assertFields(of(schema.types, "DatabaseRecord"), databaseFields);
    assert.deepEqual(namesOf(of(schema.types, "DatabaseRecord").properties), namesOf(databaseFields));
    const listed = of(schema.types, "ListedDatabase");
    assertFields(listed, databaseTable.listed);
    assert.deepEqual(namesOf(listed.properties), namesOf(databaseTable.listed));
    assertFields(of(schema.types, "FlowControlKey"), flowControlFields);
    assertFields(of(schema.functions, "getFlowControlKey").outputs, flowControlFields);
    assertFields(of(schema.functions, "getGlobalParallelism").outputs, globalParallelismFields);
    const { otherFields, currentMarks, ...credentials } = of(schema.types, "FleetCredentials").properties;
    assert.deepEqual(namesOf(credentials), namesOf(databaseTable.credentials));
  });

  it("has each setting, and the secret ones marked", () => {
    const { inputProperties } = schema.provider;
    assert.deepEqual(namesOf(inputProperties), sorted(settingNames));
    assert.deepEqual(schema.config.variables, inputProperties);
    const secrets = Object.keys(inputProperties).filter((name) => inputProperties[name]?.secret);
    assert.deepEqual(sorted(secrets), sorted([...settingNames.filter((name) => settingOf(name).secret), "proxy"]));
  });

  it("has each output of a resource, the secret ones marked, and an alias to the dynamic type", () => {
    for (const name of ["PasswordRotation", "FlowControlReset"] as const) {
      const { properties, aliases } = of(schema.resources, name);
      const [outputs, secretOutputs] = [outputsOf(resources[name]), secretsOf(resources[name])];
      assert.deepEqual(namesOf(properties), sorted(outputs));
      const secrets = Object.keys(properties).filter((output) => properties[output]?.secret);
      assert.deepEqual(sorted(secrets), sorted(secretOutputs.filter((output) => outputs.includes(output))));
      assert.deepEqual(aliases, [{ type: `pulumi-nodejs:dynamic/rekey:${name}` }]);
    }
    const fleet = of(schema.resources, "PasswordRotationFleet");
    assert.ok(fleet.isComponent);
    assert.deepEqual(
      Object.keys(fleet.properties).filter((name) => fleet.properties[name]?.secret),
      ["credentials", "connectionUrls"],
    );
  });

  it("has each input that the provider checks, and no hidden one", () => {
    const tables = {
      PasswordRotation: resources.PasswordRotation.inputs(schemas),
      PasswordRotationFleet: resources.PasswordRotationShard.inputs(schemas),
      FlowControlReset: resources.FlowControlReset.inputs(schemas),
    };
    const { inputProperties: verification } = of(schema.resources, "PasswordVerification");
    assert.deepEqual(namesOf(verification), sorted(["rotation", "fleet", "withinSeconds", ...connectionNames]));
    for (const [name, { schemas, required }] of Object.entries(tables)) {
      const resource = of(schema.resources, name);
      const hidden = ["owner", "otherOwners", "shard", "fleet", "connection"];
      const checked = Object.keys(schemas).filter((one) => !hidden.includes(one));
      const connection = name === "FlowControlReset" ? [] : connectionNames;
      assert.deepEqual(namesOf(resource.inputProperties), sorted([...checked, ...connection]));
      assert.deepEqual(resource.requiredInputs, required);
    }
  });

  it("has triggers of the values that the provider accepts", () => {
    const values = {
      type: "object",
      additionalProperties: { oneOf: ["string", "number", "boolean"].map((type) => ({ type })) },
    };
    const all = ["PasswordRotation", "PasswordRotationFleet", "FlowControlReset"].map(
      (name) => of(schema.resources, name).inputProperties,
    );
    for (const { triggers } of [...all, of(schema.types, "FleetMember").properties]) {
      const { description, ...type } = triggers as Type;
      assert.deepEqual(type, values);
    }
  });

  it("has each function", () => {
    assert.deepEqual(namesOf(schema.functions), sorted(Object.keys(functions).map((name) => `rekey:index:${name}`)));
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
function assertType(type: Type, name: string): void {
  const { $ref, oneOf, items, additionalProperties } = type;
  if ($ref !== undefined) {
    assert.ok(
      schema.types[$ref.replace("#/types/", "")] || schema.resources[$ref.replace("#/resources/", "")],
      `${name}: ${$ref}`,
    );
    return;
  }
  if (oneOf) return oneOf.forEach((one) => assertType(one, name));
  assert.ok(["string", "number", "boolean", "array", "object"].includes(type.type ?? ""), name);
  if (type.type === "array") assertType(items as Type, name);
  if (type.type === "object") assertType(additionalProperties as Type, name);
}
