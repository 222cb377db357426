// npm run schema: writes schema.json, the schema of the native plugin, docs/reference.md, and what pages and manifests
// take from package.json (pages.mjs), or all of it in the folder that is named. The resources are those of the
// provider's table; types and descriptions come from the SDK's classes and their doc comments. It needs the built
// package.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { format, resolveConfig } from "prettier";
import { referencePage } from "./reference.mjs";
import ts from "typescript";
import { ownerOf, root } from "./lib.mjs";
import { goImportPath, homepage, pluginDownloadURL, rawFiles, writtenFiles } from "./pages.mjs";

const require = createRequire(import.meta.url);
const { functions } = require("../dist/provider/engine/functions.js");
const { resources } = require("../dist/provider/engine/resources.js");
const { settingNames, settingOf } = require("../dist/provider/settings/table.js");
const about = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

// Absent as long as the project has no public repository: then nothing can be downloaded from one.
const { repository, publisher, scope } = ownerOf(about);

const source = join(root, "sdk/index.ts");
const config = ts.readConfigFile(join(root, "tsconfig.json"), ts.sys.readFile).config;
const program = ts.createProgram([source], ts.parseJsonConfigFileContent(config, ts.sys, root).options);
const checker = program.getTypeChecker();
const sdk = new Map(
  checker
    .getExportsOfModule(checker.getSymbolAtLocation(program.getSourceFile(source)))
    .map((symbol) => [symbol.name, symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol]),
);
const declared = (name) => {
  if (!sdk.has(name)) throw new Error(`sdk/index.ts does not export ${name}.`);
  return checker.getDeclaredTypeOfSymbol(sdk.get(name));
};
const types = {};

function docOf(symbol) {
  const text = ts.displayPartsToString(symbol.getDocumentationComment(checker)).trim();
  const byDefault = symbol.getJsDocTags(checker).find(({ name }) => name === "default");
  const shown = byDefault && ts.displayPartsToString(byDefault.text).replace(/\s+/g, " ").trim();
  const paragraphs = text.split(/\n\n+/).map((one) => one.replace(/\s*\n\s*/g, " "));
  return [...paragraphs, ...(shown ? [`Default: ${shown}.`] : [])].join("\n\n");
}

/** The programs of schema-examples.md, by resources. */
const examples = new Map(
  readFileSync(join(root, "scripts/schema-examples.md"), "utf8")
    .split(/^## /m)
    .map((section) => [section.split("\n")[0], section.match(/^```(ts|yaml)\n[^]*?^```$/gm)]),
);

/** The first paragraph of a doc comment, and the example in the form of Pulumi's registry. */
function descriptionOf(name) {
  const [text] = docOf(sdk.get(name)).split("\n\n");
  const programs = examples.get(name)?.map((block) => block.replace("```ts\n", "```typescript\n"));
  const example = programs && ["## Example Usage", "{{% example %}}", ...programs, "{{% /example %}}"];
  return [text, ...(example ? ["{{% examples %}}", ...example, "{{% /examples %}}"] : [])].join("\n\n");
}

/** A name for a type of several values. The members of `…Args` are inputs. */
function reference(written, type) {
  const name = written.replace(/Args$/, "");
  const token = `rekey:index:${name}`;
  if (types[token] === undefined) {
    types[token] = {}; // Reserved, in case of a type in itself.
    types[token] = { type: "object", ...propertiesOf(type, name !== written) };
  }
  return { $ref: `#/types/${token}` };
}

const isText = (type) =>
  (type.flags & ts.TypeFlags.StringLike) !== 0 || (type.isIntersection() && type.types.some(isText));
const isRequired = (type) => checker.getNonNullableType(type) === type;
const capital = (name) => name[0].toUpperCase() + name.slice(1);

/** The schema of a type; a type without a name has that of its property. */
function schemaOf(given, name) {
  // A type parameter is a text or a map: YAML reads no field of what may be either.
  if (given.flags & (ts.TypeFlags.Unknown | ts.TypeFlags.Instantiable)) return { $ref: "pulumi.json#/Any" };
  const isInput = given.aliasSymbol?.name === "Input";
  const type = checker.getNonNullableType(isInput ? given.aliasTypeArguments[0] : given);
  if (isText(type) || (type.isUnion() && type.types.every(isText))) return { type: "string" };
  if (type.flags & ts.TypeFlags.NumberLike) return { type: "number" };
  if (type.flags & ts.TypeFlags.BooleanLike) return { type: "boolean" };
  if (type.isUnion()) {
    // The two values of a boolean are two types.
    const all = new Map(type.types.map((one) => schemaOf(one, name)).map((one) => [JSON.stringify(one), one]));
    return all.size > 1 ? { oneOf: [...all.values()] } : [...all.values()][0];
  }
  if (checker.isArrayType(type)) return { type: "array", items: schemaOf(checker.getTypeArguments(type)[0], name) };
  const values = checker.getIndexInfoOfType(type, ts.IndexKind.String)?.type;
  if (values) return { type: "object", additionalProperties: schemaOf(values, name) };
  const named = [type.aliasSymbol, type.symbol].find((symbol) => symbol && !/^(__|RecordOf$)/.test(symbol.name));
  // The compiler loses the name of a mapped type in a union.
  return reference(named?.name ?? { Record: "DatabaseRecord" }[name] ?? name, type);
}

/** `T` in a declared type `pulumi.Input<T>` or `pulumi.Output<T>`, undefined left out of the outer union. */
function innerType({ type: node }) {
  const outer = ts.isUnionTypeNode(node) ? node.types.find(ts.isTypeReferenceNode) : node;
  const type = checker.getTypeFromTypeNode(outer.typeArguments[0]);
  return checker.getBaseConstraintOfType(type) ?? type;
}

/** Inputs whose types a schema cannot have, or has with Inputs inside. */
const inputTypes = {
  triggers: () => ({
    type: "object",
    additionalProperties: { oneOf: ["string", "number", "boolean"].map((type) => ({ type })) },
  }),
  headers: () => ({ type: "object", additionalProperties: { type: "string" } }),
  databases: () => ({
    type: "object",
    additionalProperties: reference("FleetMemberArgs", declared("FleetMemberArgs")),
    description:
      "The databases, by names of your choice. Adding one resets (or adopts) only that one. Removing one makes no request. Changing a name resets nothing.",
  }),
};

/** The properties of an object type. @param areInputs whether they are declared as Inputs */
function propertiesOf(type, areInputs = false) {
  const all = type.getProperties();
  const symbols = areInputs ? all : all.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const typeOf = (symbol) => (areInputs ? innerType(symbol.valueDeclaration) : checker.getTypeOfSymbol(symbol));
  const entries = symbols.map((symbol) => {
    const own = areInputs && inputTypes[symbol.name]?.();
    return [symbol.name, { description: docOf(symbol), ...(own || schemaOf(typeOf(symbol), capital(symbol.name))) }];
  });
  const isGiven = (symbol) => (areInputs ? !(symbol.flags & ts.SymbolFlags.Optional) : isRequired(typeOf(symbol)));
  const required = symbols.filter(isGiven).map(({ name }) => name);
  return { properties: Object.fromEntries(entries), ...(required.length > 0 && { required }) };
}

/** Whether a class of the SDK declares a member as an output. */
function isDeclared({ valueDeclaration: node }) {
  const isProperty = node !== undefined && ts.isPropertyDeclaration(node) && !ts.isPrivateIdentifier(node.name);
  return isProperty && node.getSourceFile().fileName.startsWith(dirname(source));
}

function resource([name, { outputs, secretInputs = [] }]) {
  const properties = declared(name).getProperties();
  const members = new Map(properties.map((symbol) => [symbol.name, symbol]));
  const unknown = properties.filter((symbol) => isDeclared(symbol) && !Object.hasOwn(outputs, symbol.name));
  if (unknown.length > 0) throw new Error(`The provider does not have ${unknown.map((one) => one.name)} of ${name}.`);
  const found = Object.entries(outputs).map(([output, kind]) => {
    const symbol = members.get(output);
    if (symbol === undefined) throw new Error(`The class ${name} does not declare the output ${output}.`);
    const type = innerType(symbol.valueDeclaration);
    const secret = kind === "secret" ? { secret: true } : {};
    return { output, type, schema: { description: docOf(symbol), ...schemaOf(type, capital(output)), ...secret } };
  });
  const inputs = propertiesOf(declared(`${name}Args`), true);
  for (const input of secretInputs) inputs.properties[input].secret = true;
  return [
    `rekey:index:${name}`,
    {
      description: descriptionOf(name),
      properties: Object.fromEntries(found.map(({ output, schema }) => [output, schema])),
      required: found.filter(({ type }) => isRequired(type)).map(({ output }) => output),
      inputProperties: inputs.properties,
      requiredInputs: inputs.required ?? [],
    },
  ];
}

function functionOf(name) {
  const signature = checker.getTypeOfSymbol(sdk.get(name)).getCallSignatures()[0];
  const result = checker.getTypeArguments(signature.getReturnType())[0];
  const args = sdk.has(`${capital(name)}Args`) && propertiesOf(declared(`${capital(name)}Args`));
  return [
    `rekey:index:${name}`,
    {
      description: descriptionOf(name),
      ...(args && { inputs: { type: "object", ...args } }),
      outputs: { type: "object", ...propertiesOf(result) },
    },
  ];
}

const variables = Object.fromEntries(
  settingNames.map((name) => {
    const { kind, description, default: value, secret } = settingOf(name);
    const byDefault = value === undefined ? "" : ` Default: \`${value}\`.`;
    const type = kind === "number" ? "number" : "string";
    // The URL of a proxy may contain a password.
    return [
      name,
      { type, description: description + byDefault, ...((secret || name === "proxy") && { secret: true }) },
    ];
  }),
);

const schema = {
  name: about.name.replace("pulumi-", ""),
  displayName: "Rekey",
  description: about.description,
  keywords: [...about.keywords.filter((word) => word !== "dynamic-provider"), "category/database", "kind/native"],
  publisher,
  // The scope of the npm package that is generated. `language.nodejs.packageName` would name it, too, but Pulumi's
  // registry tries to install that package, and none is published: each `pulumi package add` generates it.
  namespace: scope,
  license: about.license,
  ...(repository && {
    homepage,
    repository,
    // Where `pulumi up` finds the archives of the releases.
    pluginDownloadURL,
    logoUrl: `${rawFiles}/docs/logo.png`,
  }),
  config: { variables },
  provider: { description: "The settings of one account at the platform.", inputProperties: variables },
  types,
  resources: Object.fromEntries(Object.entries(resources).map(resource)),
  functions: Object.fromEntries(Object.keys(functions).map(functionOf)),
  language: {
    nodejs: { respectSchemaVersion: true },
    python: { packageName: "pulumi_rekey", respectSchemaVersion: true },
    go: { importBasePath: goImportPath, respectSchemaVersion: true },
    // `Pulumi` is the prefix of their packages.
    csharp: { rootNamespace: "PulumiRekey", respectSchemaVersion: true },
  },
};

const target = process.argv[2] ?? root;
await writeFormatted("schema.json", JSON.stringify(schema), "json");
await writeFormatted("docs/reference.md", referencePage(schema), "markdown");
for (const { path, text, parser } of writtenFiles()) await writeFormatted(path, text, parser);

async function writeFormatted(path, text, parser) {
  const file = join(target, path);
  mkdirSync(dirname(file), { recursive: true });
  const formatted = parser && (await format(text, { ...(await resolveConfig(join(root, path))), parser }));
  writeFileSync(file, formatted ?? text);
}
