export const stackType = "pulumi:pulumi:Stack";
export const providerType = "pulumi:providers:pulumi-nodejs";

/** The parts of a URN, which an alias can change. */
export interface Identity {
  readonly stack: string;
  readonly project: string;
  /** The URN of the parent. */
  readonly parent: string | undefined;
  readonly type: string;
  readonly name: string;
}

/** A former identity of a resource. Without a URN, missing parts are unchanged. */
export interface Alias extends Partial<Identity> {
  readonly urn?: string;
}

/** The URN of a resource. It contains the types of its parents, except that of the stack. */
export function makeUrn({ stack, project, parent, type, name }: Identity): string {
  const parentType = parent === undefined ? stackType : qualifiedType(parent);
  return `urn:pulumi:${stack}::${project}::${parentType === stackType ? "" : `${parentType}$`}${type}::${name}`;
}

function qualifiedType(urn: string): string {
  return urn.split("::")[2] ?? "";
}

export function typeOf(urn: string): string {
  return qualifiedType(urn).split("$").at(-1) ?? "";
}

export function nameOf(urn: string): string {
  return urn.split("::").slice(3).join("::");
}

/** The URN in a reference to a provider, which ends with the provider's id. */
export function providerUrn(reference: string): string {
  return reference.slice(0, reference.lastIndexOf("::"));
}

/**
 * All former URNs of a resource, from its own aliases and those of its parent. `foundAs` returns the former URN of a
 * resource of this run, if it had one.
 */
export function aliasUrns(
  of: Identity,
  aliases: readonly Alias[],
  foundAs: (urn: string) => string | undefined,
): string[] {
  const own = aliases.map((alias) => {
    const parent = alias.parent && (foundAs(alias.parent) ?? alias.parent);
    return alias.urn ?? makeUrn({ ...of, ...alias, ...(parent && { parent }) });
  });
  const found = of.parent && foundAs(of.parent);
  if (!of.parent || !found) return [...new Set(own)];
  const parentName = nameOf(of.parent);
  const inherit = (type: string, name: string): string => {
    // A child whose name starts with that of its parent is assumed to have been renamed with it.
    const before = name.startsWith(parentName) ? nameOf(found) + name.slice(parentName.length) : name;
    return makeUrn({ ...of, parent: found, type, name: before });
  };
  const inherited = own.map((urn) => inherit(typeOf(urn), nameOf(urn)));
  return [...new Set([...own, inherit(of.type, of.name), ...inherited])];
}
