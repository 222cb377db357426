import { type Applier } from "./apply";
import { EngineError } from "./errors";
import { dependentsOf } from "./graph";
import { type DynamicHost } from "./host";
import { ignoreChanges } from "./paths";
import { applyReplaceOnChanges, componentDiff, type Diff, planStep, settleDiff } from "./plan";
import { type Goal, providerType, type ResourceState, type Severity } from "./types";
import { aliasUrns, makeUrn } from "./urns";
import { isList, type PropertyMap, type PropertyValue, sameValue, Secret, Unknown } from "./values";

/** The program wants something that cannot be. */
export class Refused extends Error {
  constructor(
    readonly urn: string,
    readonly messages: readonly string[],
  ) {
    super(messages.join("\n"));
  }
}

/** Steps that follow one another; after one that fails none is taken. */
export type Chain = (() => Promise<void>)[];

export interface DecisionsOptions {
  readonly project: string;
  readonly stack: string;
  /** The stack's configuration, which the provider gets and keeps in the state. */
  readonly config: PropertyMap;
  readonly applier: Applier;
  readonly host: () => Promise<DynamicHost>;
  readonly report: (severity: Severity, message: string, urn: string) => void;
}

/** Decides what is to be done about each resource of a program; asks the provider to check and compare, and changes nothing. */
export class Decisions {
  /** What the program has registered, by URN. */
  readonly made = new Map<string, ResourceState>();
  /** Old resources that the program still has. */
  readonly kept = new Set<ResourceState>();
  /** Old resources deleted in this run because something they depend on had to go first. */
  readonly madeRoom = new Set<ResourceState>();
  private olds: readonly ResourceState[] = [];
  private byUrn = new Map<string, ResourceState>();
  private readonly goals = new Map<string, Goal>();
  private readonly aliasOf = new Map<string, string>();
  private provider: Promise<string> | undefined;

  constructor(private readonly options: DecisionsOptions) {}

  /** Sets what the state has. */
  compareWith(olds: readonly ResourceState[]): void {
    this.olds = olds;
    this.byUrn = new Map(olds.filter((old) => !old.delete).map((old) => [old.urn, old]));
  }

  /** The live resource of the state with this URN. */
  oldOf(urn: string): ResourceState | undefined {
    return this.byUrn.get(urn);
  }

  /** @throws Refused when what the program wants cannot be */
  async decide(urn: string, goal: Goal): Promise<[ResourceState, Chain]> {
    if (this.goals.has(urn)) throw new Refused(urn, [`Duplicate resource URN '${urn}'; try giving it a unique name`]);
    const parent = goal.parent === undefined ? undefined : this.goals.get(goal.parent);
    const inherited = {
      protect: goal.protect ?? parent?.protect,
      retainOnDelete: goal.retainOnDelete ?? parent?.retainOnDelete,
    };
    const wanted = { ...goal, ...inherited };
    this.goals.set(urn, wanted);
    const old = this.findOld(urn, wanted);
    const fresh = newState(urn, wanted, goal.custom ? await this.defaultProvider() : undefined);
    this.made.set(urn, fresh);
    if (old) this.kept.add(old);
    const recreating = old !== undefined && this.madeRoom.has(old);

    fresh.inputs = wanted.inputs;
    if (old && !recreating) {
      const { inputs, invalid } = ignoreChanges(wanted.inputs, old.inputs, wanted.ignoreChanges);
      fresh.inputs = inputs;
      if (invalid.length > 0) {
        const paths = JSON.stringify(invalid.join(", "));
        this.options.report("info", `cannot ignore changes in added or removed elements of the path: ${paths}`, urn);
      }
    }
    if (goal.custom) fresh.inputs = await this.check(urn, goal, recreating ? undefined : old, fresh.inputs);
    const diff = old && !recreating ? await this.diff(old, fresh) : componentDiff(false);
    const plan = planStep(old, recreating, diff, wanted);
    switch (plan.do) {
      case "create":
        return [fresh, [() => this.options.applier.create(fresh)]];
      case "same":
        return [fresh, [() => this.options.applier.same(required(old), fresh)]];
      case "update":
        return [fresh, [() => this.options.applier.update(required(old), fresh, plan.keys)]];
      case "refuse":
        throw new Refused(urn, [plan.why]);
      case "replace": {
        // What the provider carried over from the old resource does not hold for a new one.
        if (goal.custom && !recreating) fresh.inputs = await this.check(urn, goal, undefined, goal.inputs);
        return [fresh, await this.replacement(required(old), fresh, plan, recreating)];
      }
    }
  }

  private async replacement(
    old: ResourceState,
    fresh: ResourceState,
    plan: { keys: readonly string[]; deleteFirst: boolean },
    recreating: boolean,
  ): Promise<Chain> {
    const create = (): Promise<void> => this.options.applier.create(fresh, old, plan.keys);
    const tell = (): Promise<void> => this.options.applier.replaced(fresh, plan.keys);
    if (recreating) return [tell, create];
    if (!plan.deleteFirst) return [create, tell];
    const condemned = old.pendingReplacement === true ? [] : [old];
    condemned.push(...(await this.replacedWith(old)));
    const deletes = condemned.reverse().map((resource) => () => this.options.applier.delete(resource, "making-room"));
    return [...deletes, tell, create];
  }

  /** What depends on a resource that must be deleted first, and would be replaced itself if that one's outputs changed. */
  private async replacedWith(root: ResourceState): Promise<ResourceState[]> {
    const replaced = new Set([root.urn]);
    const found: ResourceState[] = [];
    for (const candidate of dependentsOf(root, this.olds, this.kept)) {
      const changing = Object.entries(candidate.propertyDependencies ?? {})
        .filter(([, urns]) => urns.some((urn) => replaced.has(urn)))
        .map(([key]) => key)
        .filter((key) => key in candidate.inputs);
      if (!candidate.custom || changing.length === 0 || this.madeRoom.has(candidate)) continue;
      const news = { ...candidate.inputs, ...Object.fromEntries(changing.map((key) => [key, Unknown.value])) };
      const host = await this.options.host();
      const answer = await host.diff(candidate.urn, candidate.id ?? "", candidate.inputs, candidate.outputs, news);
      const diff = applyReplaceOnChanges(
        settleDiff(answer, candidate.inputs, news),
        candidate.replaceOnChanges ?? [],
        false,
      );
      if (diff.replaces.length === 0) continue;
      if (candidate.protect === true) {
        throw new Refused(root.urn, [
          `unable to replace resource ${JSON.stringify(candidate.urn)} as part of replacing ${JSON.stringify(root.urn)} as it is ` +
            "currently marked for protection. To unprotect the resource, remove the `protect` flag from the resource in your " +
            "Pulumi program and run `pulumi up`",
        ]);
      }
      replaced.add(candidate.urn);
      this.madeRoom.add(candidate);
      found.push(candidate);
    }
    return found;
  }

  private async check(
    urn: string,
    goal: Goal,
    old: ResourceState | undefined,
    news: PropertyMap,
  ): Promise<PropertyMap> {
    const host = await this.options.host();
    const { inputs, failures } = await host.check(urn, old?.inputs ?? {}, news);
    if (failures.length === 0) return inputs;
    const messages = failures.map(({ property, reason }) => {
      const about = `${goal.type} resource '${goal.name}'`;
      if (property === "") return `${about} has a problem: ${reason}`;
      return `${about}: property ${property} value {${shown(goal.inputs[property])}} has a problem: ${reason}`;
    });
    throw new Refused(urn, messages);
  }

  private async diff(old: ResourceState, fresh: ResourceState): Promise<Diff> {
    if (old.custom !== fresh.custom)
      return { changed: true, replaces: ["provider"], deleteBeforeReplace: false, keys: [] };
    if (!fresh.custom) return componentDiff(!sameValue(old.inputs, fresh.inputs));
    const host = await this.options.host();
    const answer = await host.diff(fresh.urn, old.id ?? "", old.inputs, old.outputs, fresh.inputs);
    return settleDiff(answer, old.inputs, fresh.inputs);
  }

  private findOld(urn: string, goal: Goal): ResourceState | undefined {
    const { stack, project } = this.options;
    const identity = { stack, project, parent: goal.parent, type: goal.type, name: goal.name };
    const aliases = aliasUrns(identity, goal.aliases, (parent) => this.aliasOf.get(parent));
    for (const candidate of [urn, ...aliases]) {
      const old = this.byUrn.get(candidate);
      if (!old) continue;
      if (this.kept.has(old)) {
        throw new Refused(urn, [
          `Duplicate resource alias '${candidate}' applied to resource with URN '${urn}'; another one has it`,
        ]);
      }
      if (candidate !== urn) this.aliasOf.set(urn, candidate);
      return old;
    }
    return undefined;
  }

  /** The resource that stands for the provider itself: it keeps the configuration that the provider was given. */
  private defaultProvider(): Promise<string> {
    this.provider ??= (async () => {
      const urn = makeUrn(this.options.stack, this.options.project, undefined, providerType, "default");
      const old = this.byUrn.get(urn);
      const inputs = this.options.config;
      const fresh: ResourceState = { urn, custom: true, type: providerType, inputs, outputs: {} };
      if (!old) await this.options.applier.create(fresh);
      else {
        this.kept.add(old);
        if (sameValue(old.inputs, inputs)) await this.options.applier.same(old, fresh);
        else await this.options.applier.update(old, fresh);
      }
      return `${urn}::${fresh.id ?? unknownId}`;
    })();
    return this.provider;
  }
}

const unknownId = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

function newState(urn: string, goal: Goal, provider: string | undefined): ResourceState {
  return {
    urn,
    custom: goal.custom,
    type: goal.type,
    inputs: {},
    outputs: {},
    parent: goal.parent,
    protect: goal.protect,
    dependencies: goal.dependencies,
    provider,
    propertyDependencies: goal.propertyDependencies,
    additionalSecretOutputs: goal.additionalSecretOutputs,
    customTimeouts: goal.customTimeouts,
    retainOnDelete: goal.retainOnDelete,
    ignoreChanges: goal.ignoreChanges,
    replaceOnChanges: goal.replaceOnChanges,
  };
}

function required(old: ResourceState | undefined): ResourceState {
  if (!old) throw new EngineError("a plan for an old resource without one");
  return old;
}

/** A value in a message: never a secret. */
function shown(value: PropertyValue | undefined): string {
  if (value === undefined || value === null) return "<nil>";
  return JSON.stringify(hide(value)).replace(/^"(.*)"$/s, "$1");
}

function hide(value: PropertyValue): unknown {
  if (value instanceof Secret) return "[secret]";
  if (value instanceof Unknown) return "<unknown>";
  if (isList(value)) return value.map(hide);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, hide(item)]));
}
