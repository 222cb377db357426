import { packageVersion } from "../../platform/version";

/** The schema of the package, as far as the plugin itself needs it. */
interface Schema {
  readonly provider: { readonly inputProperties: Readonly<Record<string, { readonly secret?: boolean }>> };
  readonly functions: Readonly<Record<string, { readonly inputs?: { readonly properties: object } }>>;
}

/** It is loaded on first use. */
export function packageSchema(): Schema {
  return require("pulumi-rekey/schema.json") as Schema;
}

/** The schema with the version of this package, as JSON. */
export function schemaText(): string {
  return JSON.stringify({ ...packageSchema(), version: packageVersion() });
}
