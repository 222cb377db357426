export const stackType = "pulumi:pulumi:Stack";
export const providerType = "pulumi:providers:pulumi-nodejs";

/** What a URN is made of, and what an alias changes of it. */
export interface Identity {
  readonly stack: string;
  readonly project: string;
  /** The URN of the parent. */
  readonly parent: string | undefined;
  readonly type: string;
  readonly name: string;
}

/** Another identity that a resource had before; without a URN, what it does not say is as it is now. */
export interface Alias extends Partial<Identity> {
  readonly urn?: string;
}

/** Makes a resource's URN; the types of its parents are part of its own, the stack's aside. */
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
 * All URNs that a resource may have had before: by its own aliases, and by those of its parent.
 * `foundAs` gives the URN that a resource of this run was found under, where that was another one.
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
    // A child named after its parent is taken to have been named after it before, too.
    const before = name.startsWith(parentName) ? nameOf(found) + name.slice(parentName.length) : name;
    return makeUrn({ ...of, parent: found, type, name: before });
  };
  const inherited = own.map((urn) => inherit(typeOf(urn), nameOf(urn)));
  return [...new Set([...own, inherit(of.type, of.name), ...inherited])];
}
