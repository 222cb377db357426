import { type Alias, stackType } from "./types";

/** Makes a resource's URN; the types of its parents are part of its own, the stack's aside. */
export function makeUrn(
  stack: string,
  project: string,
  parent: string | undefined,
  type: string,
  name: string,
): string {
  const parentType = parent === undefined ? "" : qualifiedType(parent);
  const prefix = parentType === "" || parentType === stackType ? "" : `${parentType}$`;
  return `urn:pulumi:${stack}::${project}::${prefix}${type}::${name}`;
}

export function qualifiedType(urn: string): string {
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

interface Identity {
  readonly stack: string;
  readonly project: string;
  readonly parent: string | undefined;
  readonly type: string;
  readonly name: string;
}

/**
 * All URNs that a resource may have had before: by its own aliases, and by those of its parent.
 * `parentAlias` gives the URN that a resource of this run was found under, where that was another one.
 */
export function aliasUrns(
  of: Identity,
  aliases: readonly Alias[],
  parentAlias: (urn: string) => string | undefined,
): string[] {
  const own = aliases.map((alias) => aliasUrn(of, alias, parentAlias));
  const found = of.parent === undefined ? undefined : parentAlias(of.parent);
  if (of.parent === undefined || found === undefined) return [...new Set(own)];
  const parentName = nameOf(of.parent);
  const inherit = (type: string, name: string): string => {
    // A child named after its parent is taken to have been named after it before, too.
    const before = name.startsWith(parentName) ? nameOf(found) + name.slice(parentName.length) : name;
    return makeUrn(of.stack, of.project, found, type, before);
  };
  const inherited = own.map((urn) => inherit(typeOf(urn), nameOf(urn)));
  return [...new Set([...own, inherit(of.type, of.name), ...inherited])];
}

function aliasUrn(of: Identity, alias: Alias, parentAlias: (urn: string) => string | undefined): string {
  if (alias.urn !== undefined) return alias.urn;
  const given = alias.parent === undefined ? of.parent : (parentAlias(alias.parent) ?? alias.parent);
  const parent = alias.noParent === true ? undefined : given;
  return makeUrn(
    alias.stack ?? of.stack,
    alias.project ?? of.project,
    parent,
    alias.type ?? of.type,
    alias.name ?? of.name,
  );
}
