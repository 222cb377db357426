/** The URN of a resource of the native provider. */
export function urnOf(type: string, name = "it"): string {
  return `urn:pulumi:test::project::rekey:index:${type}::${name}`;
}

export const defaultProvider = "urn:pulumi:test::project::pulumi:providers:rekey::default";
export const explicitProvider = "urn:pulumi:test::project::pulumi:providers:rekey::second";
