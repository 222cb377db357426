// npm run schema: writes schema.json, the schema of the native plugin, and docs/reference.md, or both in the folder
// that is named. Names, types and descriptions come from the TypeScript types of the SDK and their doc comments, and
// from the tables of records and settings. It needs the built package.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { format, resolveConfig } from "prettier";
import { referencePage } from "./reference.mjs";
import ts from "typescript";
import { repositoryOf, root } from "./lib.mjs";

const require = createRequire(import.meta.url);
const { resources } = require("../dist/provider/engine/resources.js");
const plugin = require("../dist/provider/engine/plugin/outputs.js");
const { kinds } = require("../dist/provider/rotation/kinds/kinds.js");
const { shownVerificationOutputs } = require("../dist/provider/verification/passwordVerification.js");
const { fleetOutputs, secretFleetOutputs } = require("../dist/provider/rotation/fleetOutputs.js");
const { settingNames, settingOf } = require("../dist/provider/settings/table.js");
const about = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

// Absent as long as the project has no public repository: then nothing can be downloaded from one.
const repository = repositoryOf(about);
const goImportPath = `${repository?.replace("https://", "") ?? "example.com/pulumi-rekey"}/sdk/go/rekey`;

const sources = ["sdk/index.ts", "provider/records/flowControl.ts"].map((path) => join(root, path));
const { options } = ts.parseJsonConfigFileContent(
  ts.readConfigFile(join(root, "tsconfig.json"), ts.sys.readFile).config,
  ts.sys,
  root,
);
const program = ts.createProgram(sources, options);
const checker = program.getTypeChecker();
const exportsOf = (path) =>
  new Map(
    checker
      .getExportsOfModule(checker.getSymbolAtLocation(program.getSourceFile(join(root, path))))
      .map((symbol) => [symbol.name, symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol]),
  );
const sdk = exportsOf("sdk/index.ts");
const types = {};

function docOf(symbol) {
  const text = ts.displayPartsToString(symbol.getDocumentationComment(checker)).trim();
  const byDefault = symbol.getJsDocTags(checker).find(({ name }) => name === "default");
  const shown = byDefault && ts.displayPartsToString(byDefault.text).replace(/\s+/g, " ").trim();
  const paragraphs = text.split(/\n\n+/).map((one) => one.replace(/\s*\n\s*/g, " "));
  return [...paragraphs, ...(shown ? [`Default: ${shown}.`] : [])].join("\n\n");
}

const firstParagraph = (symbol) => docOf(symbol).split("\n\n")[0];

function described(symbol, description = docOf(symbol)) {
  return description === "" ? {} : { description };
}

/** A name for a type of several values. */
function reference(name, type) {
  const token = `rekey:index:${name}`;
  if (types[token] === undefined) {
    types[token] = {}; // Reserved, in case of a type in itself.
    types[token] = { type: "object", ...propertiesOf(type) };
  }
  return { $ref: `#/types/${token}` };
}

const isText = (type) =>
  (type.flags & ts.TypeFlags.StringLike) !== 0 || (type.isIntersection() && type.types.some(isText));

/** Names of types that have none of their own, by the properties that have them. */
const recordNames = { record: "DatabaseRecord", Record: "DatabaseRecord" };

/** The schema of a type. */
function schemaOf(given, name) {
  const type = checker.getNonNullableType(given);
  if (isText(type) || (type.isUnion() && type.types.every(isText))) return { type: "string" };
  if (type.flags & ts.TypeFlags.NumberLike) return { type: "number" };
  if (type.flags & ts.TypeFlags.BooleanLike) return { type: "boolean" };
  if (type.isUnion()) {
    // The two values of a boolean are two types.
    const all = new Map(type.types.map((one) => schemaOf(one, name)).map((one) => [JSON.stringify(one), one]));
    return { oneOf: [...all.values()] };
  }
  if (checker.isArrayType(type)) return { type: "array", items: schemaOf(checker.getTypeArguments(type)[0], name) };
  const values = checker.getIndexInfoOfType(type, ts.IndexKind.String)?.type;
  if (values) return { type: "object", additionalProperties: schemaOf(values, name) };
  const named = [type.aliasSymbol, type.symbol].find((symbol) => symbol && !/^(__|RecordOf$)/.test(symbol.name));
  return reference(named?.name ?? recordNames[name] ?? name, type);
}

/** The properties of an object type, sorted. */
function propertiesOf(type) {
  const symbols = type.getProperties().toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const entries = symbols.map((symbol) => {
    const own = checker.getTypeOfSymbol(symbol);
    const name = symbol.name[0].toUpperCase() + symbol.name.slice(1);
    return [symbol.name, { ...schemaOf(own, name), ...described(symbol) }];
  });
  const required = symbols.filter((symbol) => isRequired(checker.getTypeOfSymbol(symbol))).map(({ name }) => name);
  return { properties: Object.fromEntries(entries), ...(required.length > 0 && { required }) };
}

function isRequired(type) {
  return checker.getNonNullableType(type) === type;
}

/** `T` in a declared type `pulumi.Input<T>` or `pulumi.Output<T>`, undefined left out of the outer union. */
function innerType(node) {
  const outer = ts.isUnionTypeNode(node) ? node.types.find(ts.isTypeReferenceNode) : node;
  return checker.getTypeFromTypeNode(outer.typeArguments[0]);
}

/** Inputs whose types differ from those in TypeScript. */
const inputTypes = {
  version: { oneOf: [{ type: "string" }, { type: "number" }] },
  period: { oneOf: [{ type: "string" }, { type: "number" }] },
  triggers: {
    type: "object",
    additionalProperties: { oneOf: [{ type: "string" }, { type: "number" }, { type: "boolean" }] },
  },
};

/** The members of a type of the SDK, and those that it inherits. */
function membersOf(name) {
  return checker.getDeclaredTypeOfSymbol(sdk.get(name)).getProperties();
}

/** Inputs by the name of their type, among them those of the connection. */
function inputsOf(...names) {
  const symbols = new Map(names.flatMap((name) => membersOf(name).map((symbol) => [symbol.name, symbol])));
  const entries = [...symbols.values()].map((symbol) => {
    if (symbol.name === "databases") return [symbol.name, fleetDatabases()];
    const schema = inputTypes[symbol.name] ?? schemaOf(innerType(symbol.valueDeclaration.type), symbol.name);
    return [symbol.name, { ...schema, ...described(symbol) }];
  });
  const required = [...symbols.values()].filter((symbol) => !(symbol.flags & ts.SymbolFlags.Optional));
  return { properties: Object.fromEntries(entries), required: required.map(({ name }) => name) };
}

/** A schema has no union of a list and a map. */
function fleetDatabases() {
  const token = "rekey:index:FleetMember";
  types[token] ??= { type: "object", ...inputsOf("FleetMemberArgs") };
  return {
    type: "object",
    additionalProperties: { $ref: `#/types/${token}` },
    description:
      "The databases, by names of your choice. Adding one resets (or adopts) only that one. Removing one sends nothing. Changing a name resets nothing.",
  };
}

/** The declared members of a class of the SDK that are outputs. */
function outputsOf(name, names, secrets) {
  const found = names.map((output) => {
    const symbol = membersOf(name).find((one) => one.name === output);
    const type = innerType(symbol.valueDeclaration.type);
    const secret = secrets.includes(output) ? { secret: true } : {};
    return { symbol, type, schema: { ...schemaOf(type, output), ...described(symbol), ...secret } };
  });
  return {
    properties: Object.fromEntries(found.map(({ symbol, schema }) => [symbol.name, schema])),
    required: found.filter(({ type }) => isRequired(type)).map(({ symbol }) => symbol.name),
  };
}

/** What the plugin saves of a resource. */
function saved(made) {
  const outputs = plugin.outputsOf(made);
  return { outputs, secretOutputs: plugin.secretsOf(made), hasUrls: outputs.includes("connectionUrl") };
}

function resource(name, more, { outputs, secretOutputs, hasUrls } = saved(resources[name])) {
  const inputs = inputsOf(`${name}Args`, ...(hasUrls ? ["ConnectionArgs"] : []));
  return {
    description: firstParagraph(sdk.get(name)),
    ...outputsOf(name, outputs, secretOutputs),
    inputProperties: inputs.properties,
    requiredInputs: inputs.required,
    ...more,
  };
}

/** A resource that is not a component, by its token. */
function customResource(name) {
  return [`rekey:index:${name}`, resource(name, { aliases: [{ type: `pulumi-nodejs:dynamic/rekey:${name}` }] })];
}

const fleet = { outputs: fleetOutputs, secretOutputs: secretFleetOutputs, hasUrls: true };

/** A program passes the rotation or the fleet itself. */
function verification() {
  const { properties } = inputsOf("PasswordVerificationOptions", "ConnectionArgs");
  const reference = (name) => ({ $ref: `#/resources/rekey:index:${name}` });
  const rotations = Object.keys(kinds).filter((name) => name !== "SigningKeyRotation");
  return {
    description: firstParagraph(sdk.get("PasswordVerification")),
    isComponent: true,
    ...outputsOf("PasswordVerification", shownVerificationOutputs, []),
    inputProperties: {
      rotation: {
        oneOf: rotations.map(reference),
        description: "The rotation to verify. Not together with `fleet`.",
      },
      fleet: {
        ...reference("PasswordRotationFleet"),
        description:
          "The fleet to verify. It needs `includeRecords: true`; otherwise set `port`, and a `host` that does not contain `{endpoint}`. Not together with `rotation`.",
      },
      ...properties,
    },
  };
}

const settings = settingNames.map((name) => [name, settingOf(name)]);
const variables = Object.fromEntries(
  settings.map(([name, setting]) => {
    // The URL of a proxy may contain a password.
    const secret = setting.secret || name === "proxy" ? { secret: true } : {};
    const byDefault = setting.default === undefined ? "" : ` Default: \`${setting.default}\`.`;
    const type = setting.kind === "number" ? "number" : "string";
    return [name, { type, description: setting.description + byDefault, ...secret }];
  }),
);

reference("FlowControlKey", checker.getDeclaredTypeOfSymbol(sdk.get("FlowControlKey")));
const globalParallelism = propertiesOf(checker.getDeclaredTypeOfSymbol(sdk.get("GlobalParallelism")));

function functionOf(name, outputs) {
  const args = sdk.get(`${name[0].toUpperCase()}${name.slice(1)}Args`);
  const inputs = args && { inputs: { type: "object", ...propertiesOf(checker.getDeclaredTypeOfSymbol(args)) } };
  return { description: firstParagraph(sdk.get(name)), ...inputs, outputs };
}

const schema = {
  name: about.name.replace("pulumi-", ""),
  displayName: "Rekey",
  description: about.description,
  keywords: [...about.keywords.filter((word) => word !== "dynamic-provider"), "category/database", "kind/native"],
  publisher: "Rekey",
  // Without it, generated npm packages are in the scope of Pulumi.
  namespace: "rekey",
  license: about.license,
  ...(repository && {
    homepage: about.homepage,
    repository,
    // Where `pulumi up` finds the archives of the releases.
    pluginDownloadURL: repository.replace("https://github.com", "github://api.github.com"),
  }),
  config: { variables },
  provider: {
    description: "The settings of one account at the platform.",
    inputProperties: variables,
  },
  types,
  resources: {
    ...Object.fromEntries([...Object.keys(kinds), "FlowControlReset", "FlowControlLimits"].map(customResource)),
    "rekey:index:PasswordRotationFleet": resource("PasswordRotationFleet", { isComponent: true }, fleet),
    "rekey:index:PasswordVerification": verification(),
  },
  functions: {
    "rekey:index:getDatabases": functionOf("getDatabases", {
      type: "object",
      ...propertiesOf(checker.getDeclaredTypeOfSymbol(sdk.get("GetDatabasesResult"))),
    }),
    "rekey:index:getFlowControlKey": functionOf("getFlowControlKey", types["rekey:index:FlowControlKey"]),
    "rekey:index:getFlowControlKeys": functionOf("getFlowControlKeys", {
      type: "object",
      ...propertiesOf(checker.getDeclaredTypeOfSymbol(sdk.get("GetFlowControlKeysResult"))),
    }),
    "rekey:index:getGlobalParallelism": functionOf("getGlobalParallelism", { type: "object", ...globalParallelism }),
  },
  language: {
    nodejs: { respectSchemaVersion: true },
    python: { packageName: "pulumi_rekey", respectSchemaVersion: true },
    go: { importBasePath: goImportPath, respectSchemaVersion: true },
    csharp: { rootNamespace: "Pulumi", respectSchemaVersion: true },
  },
};

const target = process.argv[2] ?? root;
await writeFormatted("schema.json", JSON.stringify(schema), "json");
await writeFormatted("docs/reference.md", referencePage(schema), "markdown");

async function writeFormatted(path, text, parser) {
  const file = join(target, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, await format(text, { ...(await resolveConfig(join(root, path))), parser }));
}
