import { isDeepStrictEqual } from "node:util";
import { type Applier } from "./apply";
import { type ResourceState } from "./format";
import { dependentsOf } from "./graph";
import { type DynamicHost } from "./host";
import { ignoreChanges } from "./paths";
import { applyReplaceOnChanges, type Diff, noDiff, planStep, protectedFromReplacement, settleDiff } from "./plan";
import { type Severity } from "./types";
import { type Alias, aliasUrns, makeUrn, providerType } from "./urns";
import { masked, type PropertyMap, unknown } from "./values";

/** The desired state of a resource, from the program. */
export interface Goal {
  readonly name: string;
  /** The resource as it will be saved, as far as the program determines it. */
  readonly resource: ResourceState;
  readonly aliases: readonly Alias[];
  readonly deleteBeforeReplace: boolean | undefined;
}

/** The program's request for a resource is invalid. Nothing was changed for it. */
export class Refused extends Error {
  constructor(readonly messages: readonly string[]) {
    super(messages.join("\n"));
  }
}

/** Consecutive steps. A failed step stops the chain. */
export type Chain = (() => Promise<void>)[];

export interface DecisionsOptions {
  readonly project: string;
  readonly stack: string;
  /** The stack's configuration, which is passed to the provider and saved in the state. */
  readonly config: PropertyMap;
  readonly host: () => Promise<DynamicHost>;
}

/** Decides the steps for each resource of a program. It calls Check and Diff of the provider, and changes nothing. */
export class Decisions {
  /** Resources that the program has registered, by URN. */
  readonly made = new Map<string, ResourceState>();
  /** Old resources that are still in the program. */
  readonly kept = new Set<ResourceState>();
  /** Old resources that were deleted in this run because a dependency had to be deleted before its replacement. */
  readonly madeRoom = new Set<ResourceState>();
  #olds: readonly ResourceState[] = [];
  #byUrn = new Map<string, ResourceState>();
  readonly #foundAs = new Map<string, string>();
  #provider: Promise<string> | undefined;

  constructor(
    private readonly options: DecisionsOptions,
    private readonly applier: Applier,
    private readonly report: (severity: Severity, message: string, urn: string) => void,
  ) {}

  /** Sets the resources of the state. */
  compareWith(olds: readonly ResourceState[]): void {
    this.#olds = olds;
    this.#byUrn = new Map(olds.filter((old) => !old.delete).map((old) => [old.urn, old]));
  }

  /** The live resource of the state with this URN. */
  oldOf(urn: string): ResourceState | undefined {
    return this.#byUrn.get(urn);
  }

  /** @throws Refused if the request is invalid */
  async decide(goal: Goal): Promise<[ResourceState, Chain]> {
    const { urn, custom, inputs, parent: parentUrn = "" } = goal.resource;
    if (this.made.has(urn)) throw new Refused([`Duplicate resource URN '${urn}'; try giving it a unique name`]);
    const parent = this.made.get(parentUrn);
    const fresh = { ...goal.resource };
    fresh.protect ??= parent?.protect;
    fresh.retainOnDelete ??= parent?.retainOnDelete;
    this.made.set(urn, fresh);
    const old = this.#findOld(goal);
    if (old) this.kept.add(old);
    if (custom) fresh.provider = await this.#defaultProvider();
    const recreating = old !== undefined && this.madeRoom.has(old);
    // ignoreChanges and the former inputs do not apply to a resource that is created again.
    const comparable = recreating ? undefined : old;
    if (comparable) fresh.inputs = this.#ignoreChanges(comparable, fresh);
    if (custom) fresh.inputs = await this.#check(fresh, goal, comparable, fresh.inputs);
    const diff = comparable ? await this.#diff(comparable, fresh) : noDiff;
    const plan = planStep(old, fresh, recreating, diff, goal.deleteBeforeReplace);
    if (plan.do === "refuse") throw new Refused([plan.why]);
    if (!old || plan.do === "create") return [fresh, [() => this.applier.create(fresh)]];
    if (plan.do === "same") return [fresh, [() => this.applier.same(old, fresh)]];
    if (plan.do === "update") return [fresh, [() => this.applier.update(old, fresh, plan.keys)]];

    if (custom && comparable) fresh.inputs = await this.#check(fresh, goal, undefined, inputs);
    const create = (): Promise<void> => this.applier.create(fresh, old, plan.keys);
    const reportReplaced = (): Promise<void> => this.applier.replaced(fresh, plan.keys);
    if (recreating) return [fresh, [reportReplaced, create]];
    if (!plan.deleteFirst) return [fresh, [create, reportReplaced]];
    const toDelete = [...(old.pendingReplacement ? [] : [old]), ...(await this.#replacedWith(old))].reverse();
    const deletes = toDelete.map((resource) => () => this.applier.delete(resource, "making-room"));
    return [fresh, [...deletes, reportReplaced, create]];
  }

  /**
   * The dependents of a resource that must be deleted before its replacement, if they would be replaced when its
   * outputs change.
   */
  async #replacedWith(root: ResourceState): Promise<ResourceState[]> {
    const replaced = new Set([root.urn]);
    const found: ResourceState[] = [];
    for (const candidate of dependentsOf(root, this.#olds, this.kept)) {
      const { urn, inputs, propertyDependencies = {}, replaceOnChanges = [] } = candidate;
      const changing = Object.keys(inputs).filter((key) => propertyDependencies[key]?.some((on) => replaced.has(on)));
      if (!candidate.custom || changing.length === 0 || this.madeRoom.has(candidate)) continue;
      const news = { ...inputs, ...Object.fromEntries(changing.map((key) => [key, unknown])) };
      const diff = settleDiff(await (await this.options.host()).diff(candidate, news), inputs, news);
      if (applyReplaceOnChanges(diff, replaceOnChanges, false).replaces.length === 0) continue;
      if (candidate.protect) throw new Refused([protectedFromReplacement(urn, root.urn)]);
      replaced.add(urn);
      this.madeRoom.add(candidate);
      found.push(candidate);
    }
    return found;
  }

  #ignoreChanges(old: ResourceState, fresh: ResourceState): PropertyMap {
    const { inputs, invalid } = ignoreChanges(fresh.inputs, old.inputs, fresh.ignoreChanges ?? []);
    if (invalid.length > 0) {
      const about = `cannot ignore changes in added or removed elements of the path: "${invalid.join(", ")}"`;
      this.report("info", about, fresh.urn);
    }
    return inputs;
  }

  async #check(
    { urn, type }: ResourceState,
    goal: Goal,
    old: ResourceState | undefined,
    news: PropertyMap,
  ): Promise<PropertyMap> {
    const host = await this.options.host();
    const { inputs, failures } = await host.check(urn, old?.inputs ?? {}, news);
    if (failures.length === 0) return inputs;
    const messages = failures.map(({ property, reason }) => {
      const about = `${type} resource '${goal.name}'`;
      if (property === "") return `${about} has a problem: ${reason}`;
      const value = masked(goal.resource.inputs[property] ?? "<nil>");
      const shown = typeof value === "string" ? value : JSON.stringify(value);
      return `${about}: property ${property} value {${shown}} has a problem: ${reason}`;
    });
    throw new Refused(messages);
  }

  async #diff(old: ResourceState, fresh: ResourceState): Promise<Diff> {
    if (old.custom !== fresh.custom) return { ...noDiff, changed: true, replaces: ["provider"] };
    if (!fresh.custom) return { ...noDiff, changed: !isDeepStrictEqual(old.inputs, fresh.inputs) };
    return settleDiff(await (await this.options.host()).diff(old, fresh.inputs, fresh.urn), old.inputs, fresh.inputs);
  }

  #findOld({ name, resource, aliases }: Goal): ResourceState | undefined {
    const { urn, parent, type } = resource;
    const identity = { ...this.options, parent, type, name };
    const before = aliasUrns(identity, aliases, (parent) => this.#foundAs.get(parent));
    const found = [urn, ...before].find((candidate) => this.#byUrn.has(candidate));
    const old = found === undefined ? undefined : this.#byUrn.get(found);
    if (!found || !old) return undefined;
    if (this.kept.has(old)) {
      throw new Refused([
        `Duplicate resource alias '${found}' applied to resource with URN '${urn}'; another one has it`,
      ]);
    }
    if (found !== urn) this.#foundAs.set(urn, found);
    return old;
  }

  /** The resource of the provider itself, which contains the provider's configuration. */
  #defaultProvider(): Promise<string> {
    this.#provider ??= (async () => {
      const urn = makeUrn({ ...this.options, parent: undefined, type: providerType, name: "default" });
      const old = this.#byUrn.get(urn);
      const inputs = this.options.config;
      const fresh: ResourceState = { urn, custom: true, type: providerType, inputs, outputs: {} };
      if (old) this.kept.add(old);
      if (!old) await this.applier.create(fresh);
      else if (isDeepStrictEqual(old.inputs, inputs)) await this.applier.same(old, fresh);
      else await this.applier.update(old, fresh, []);
      return `${urn}::${fresh.id ?? unknown}`;
    })();
    return this.#provider;
  }
}
