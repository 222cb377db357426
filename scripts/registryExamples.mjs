// The example of each resource in the descriptions of schema.json, in the languages in which it can be checked here.
// Pulumi's registry and the generated SDKs show it.

const databaseId = "96ad0856-03b1-4ee7-9666-e81abd0349e1";
const every = { initialRotation: false, rotateEvery: "30d" };
const sessions = {
  type: "PasswordRotation",
  name: "sessions",
  args: { databaseId, ...every },
  resets: "resets the password",
  output: "connectionUrl",
};

/** Each resource of the package. */
const examples = [
  sessions,
  {
    type: "VectorTokenRotation",
    name: "vectors",
    args: { indexId: databaseId, ...every },
    resets: "resets the tokens",
    output: "token",
  },
  {
    type: "SearchTokenRotation",
    name: "search",
    args: { indexId: databaseId, ...every },
    resets: "resets the tokens",
    output: "token",
  },
  {
    type: "QueueTokenRotation",
    name: "queue",
    args: { queueUserId: databaseId, ...every },
    resets: "resets the token",
    output: "token",
  },
  {
    type: "SigningKeyRotation",
    name: "keys",
    args: { ...every, rotateEvery: "90d" },
    resets: "rolls the keys",
    output: "currentKey",
  },
  {
    type: "FlowControlReset",
    name: "orders",
    args: { flowControlKey: "orders", version: "incident-42" },
    output: "resetAt",
  },
  {
    type: "FlowControlLimits",
    name: "orders",
    args: { flowControlKey: "orders", rate: 100, period: "1m" },
    output: "rate",
  },
  {
    type: "PasswordRotationFleet",
    name: "caches",
    args: { databases: { carts: { databaseId } }, ...every },
    resets: "resets all passwords",
    output: "failed",
  },
  { type: "PasswordVerification", name: "verified", args: { rotation: sessions }, output: "verifiedAt" },
];

const comment = ({ resets }, key, mark) =>
  key === "initialRotation" ? ` ${mark} without this line, the first \`pulumi up\` ${resets}` : "";
const capital = (name) => name[0].toUpperCase() + name.slice(1);
const snake = (name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const isResource = (value) => value.type !== undefined;
const lines = (args, line) => Object.entries(args).map(([key, value]) => line(key, value));

const languages = {
  typescript(resources) {
    const valueOf = (value) => {
      if (typeof value !== "object") return JSON.stringify(value);
      return isResource(value) ? value.name : `{ ${lines(value, (key, one) => `${key}: ${valueOf(one)}`).join(", ")} }`;
    };
    return [
      'import * as rekey from "@rekey/rekey";',
      "",
      ...resources.flatMap((resource) => [
        `const ${resource.name} = new rekey.${resource.type}("${resource.name}", {`,
        ...lines(resource.args, (key, value) => `  ${key}: ${valueOf(value)},${comment(resource, key, "//")}`),
        "});",
      ]),
      `export const ${resources.at(-1).output} = ${resources.at(-1).name}.${resources.at(-1).output};`,
    ];
  },
  python(resources) {
    const valueOf = (value) => {
      if (typeof value !== "object") return value === false ? "False" : JSON.stringify(value);
      return isResource(value)
        ? value.name
        : `{${lines(value, (key, one) => `"${snake(key)}": ${valueOf(one)}`).join(", ")}}`;
    };
    return [
      "import pulumi",
      "import pulumi_rekey as rekey",
      "",
      ...resources.flatMap((resource) => [
        `${resource.name} = rekey.${resource.type}(`,
        `    "${resource.name}",`,
        ...lines(resource.args, (key, value) => `    ${snake(key)}=${valueOf(value)},${comment(resource, key, " #")}`),
        ")",
      ]),
      `pulumi.export("${resources.at(-1).output}", ${resources.at(-1).name}.${snake(resources.at(-1).output)})`,
    ];
  },
  go(resources, importPath) {
    const types = { string: "String", number: "Float64", boolean: "Bool" };
    const valueOf = (value) => {
      if (typeof value !== "object") return `pulumi.${types[typeof value]}(${JSON.stringify(value)})`;
      if (isResource(value)) return value.name;
      const members = lines(
        value,
        (key, one) => `"${key}": &rekey.FleetMemberArgs{DatabaseId: ${valueOf(one.databaseId)}}`,
      );
      return `rekey.FleetMemberMap{${members.join(", ")}}`;
    };
    return [
      "package main",
      "",
      "import (",
      `\t"${importPath}"`,
      '\t"github.com/pulumi/pulumi/sdk/v3/go/pulumi"',
      ")",
      "",
      "func main() {",
      "\tpulumi.Run(func(ctx *pulumi.Context) error {",
      ...resources.flatMap((resource) => [
        `\t\t${resource.name}, err := rekey.New${resource.type}(ctx, "${resource.name}", &rekey.${resource.type}Args{`,
        ...lines(resource.args, (key, value) => {
          // gofmt aligns the values.
          const longest = Math.max(...Object.keys(resource.args).map((one) => one.length));
          const member = `${capital(key)}:`.padEnd(longest + 1);
          return `\t\t\t${member} ${valueOf(value)},${comment(resource, key, "//")}`;
        }),
        "\t\t})",
        "\t\tif err != nil {",
        "\t\t\treturn err",
        "\t\t}",
      ]),
      `\t\tctx.Export("${resources.at(-1).output}", ${resources.at(-1).name}.${capital(resources.at(-1).output)})`,
      "\t\treturn nil",
      "\t})",
      "}",
    ];
  },
  yaml(resources) {
    const valueOf = (value) => {
      if (typeof value !== "object") return typeof value === "string" ? value : JSON.stringify(value);
      return isResource(value)
        ? `\${${value.name}}`
        : `{ ${lines(value, (key, one) => `${key}: ${valueOf(one)}`).join(", ")} }`;
    };
    return [
      "resources:",
      ...resources.flatMap((resource) => [
        `  ${resource.name}:`,
        `    type: rekey:${resource.type}`,
        "    properties:",
        ...lines(resource.args, (key, value) => `      ${key}: ${valueOf(value)}${comment(resource, key, "#")}`),
      ]),
      "outputs:",
      `  ${resources.at(-1).output}: \${${resources.at(-1).name}.${resources.at(-1).output}}`,
    ];
  },
};

/** A tab for each program, by its language. */
export function tabs(programs) {
  return [
    `{{< chooser language "${Object.keys(programs)}" >}}`,
    ...Object.entries(programs).flatMap(([language, code]) => [
      `{{% choosable language ${language} %}}`,
      `\`\`\`${language}\n${code}\n\`\`\``,
      "{{% /choosable %}}",
    ]),
    "{{< /chooser >}}",
  ].join("\n\n");
}

/** The example of a resource, by language. @param importPath that of the SDK for Go */
export function programsOf(type, importPath) {
  const resource = examples.find((one) => one.type === type);
  const resources = [...Object.values(resource.args).filter(isResource), resource];
  return Object.fromEntries(
    Object.entries(languages).map(([language, program]) => [language, program(resources, importPath).join("\n")]),
  );
}

/** The section of a resource's description, as the registry reads it. */
export function exampleOf(type, importPath) {
  return `{{% examples %}}\n## Example Usage\n{{% example %}}\n\n${Object.entries(programsOf(type, importPath))
    .map(([language, code]) => `\`\`\`${language}\n${code}\n\`\`\``)
    .join("\n")}\n\n{{% /example %}}\n{{% /examples %}}`;
}
