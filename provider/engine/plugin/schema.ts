import { packageVersion } from "../../platform/version";

/** The schema of the package, as far as the plugin itself needs it. */
interface Schema {
  readonly provider: { readonly inputProperties: Readonly<Record<string, { readonly secret?: boolean }>> };
  readonly resources: Readonly<Record<string, { readonly inputProperties: object }>>;
  readonly functions: Readonly<Record<string, { readonly inputs?: { readonly properties: object } }>>;
}

/** It is loaded on first use. */
function schema(): Schema {
  return require("pulumi-rekey/schema.json") as Schema;
}

/** The inputs of a resource, by their names. */
export function inputsOf(type: string): object {
  return schema().resources[type]?.inputProperties ?? {};
}

/** The arguments of a function, by their names. */
export function argumentsOf(token: string): object {
  return schema().functions[token]?.inputs?.properties ?? {};
}

/** The settings of a provider, by their names. */
export function settingsOfProvider(): Readonly<Record<string, { readonly secret?: boolean }>> {
  return schema().provider.inputProperties;
}

/** The schema with the version of this package, as JSON. */
export function schemaText(): string {
  return JSON.stringify({ ...schema(), version: packageVersion() });
}
