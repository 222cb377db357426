import assert from "node:assert/strict";
import { type ResourceState } from "../../../local/engine/format";
import { deletionWaves, dependentsOf, neededBy, withoutLost } from "../../../local/engine/graph";
import { type Diff, type ProviderDiff, type Plan, planStep, settleDiff } from "../../../local/engine/plan";

const none: Diff = { changed: false, replaces: [], deleteBeforeReplace: false, keys: [] };
const some: Diff = { ...none, changed: true };
const replacing: Diff = { ...some, replaces: ["key"] };
const oldFirst: Diff = { ...replacing, deleteBeforeReplace: true };

function resource(name: string, about: Partial<ResourceState> = {}): ResourceState {
  return { urn: name, type: "t", custom: true, id: name, inputs: {}, outputs: {}, ...about };
}

describe("the local engine's decision about a resource", () => {
  const saved = resource("a");
  const failed = resource("a", { initErrors: ["half made"] });
  const gone = resource("a", { pendingReplacement: true });
  const guarded = resource("a", { protect: true });

  interface Case {
    /** Default: a saved resource. */
    readonly old?: ResourceState;
    /** Whether this run has deleted it already. */
    readonly deleted?: boolean;
    /** Default: no difference. */
    readonly diff?: Diff;
    readonly options?: Partial<Pick<ResourceState, "protect" | "replaceOnChanges">> & { deleteBeforeReplace?: boolean };
    readonly expected: Partial<Plan>;
  }
  const replaceOn = (property: string) => ({ replaceOnChanges: [property] });
  /** What the recorded traces do not reach. */
  const cases: Readonly<Record<string, Case>> = {
    "the program's option: the new one first": {
      diff: oldFirst,
      options: { deleteBeforeReplace: false },
      expected: { deleteFirst: false },
    },
    "replaces without a change count as unchanged": {
      diff: { ...replacing, changed: false },
      expected: { do: "same" },
    },
    "init errors replace if the program asks for it": {
      old: failed,
      options: replaceOn("#initerror"),
      expected: { do: "replace" },
    },
    "init errors match `*`": { old: failed, options: replaceOn("*"), expected: { do: "replace" } },
    "a change that replaces by option": {
      diff: { ...some, keys: ["v"] },
      options: replaceOn("v"),
      expected: { do: "replace", keys: ["v"] },
    },
    "another change than the option's": {
      diff: { ...some, keys: ["w"] },
      options: replaceOn("v"),
      expected: { do: "update" },
    },
    "a change of unknown properties": { diff: some, options: replaceOn("*"), expected: { do: "update" } },
    "deleted already, not yet made again": { old: gone, expected: { do: "replace" } },
    "deleted in this run because of another": { deleted: true, expected: { do: "replace" } },
    "protected and to be replaced": {
      old: guarded,
      diff: replacing,
      options: { protect: true },
      expected: { do: "refuse" },
    },
    "no longer protected": { old: guarded, diff: replacing, options: { protect: false }, expected: { do: "replace" } },
    "protected and changed": { old: guarded, diff: some, options: { protect: true }, expected: { do: "update" } },
  };
  for (const [title, { old = saved, diff = none, deleted = false, options = {}, expected }] of Object.entries(cases)) {
    it(title, () => {
      const plan = planStep(old, options, deleted, diff, options.deleteBeforeReplace);
      assert.deepEqual({ ...plan, ...expected }, plan);
    });
  }

  it("compares the inputs if the provider does not report whether they differ", () => {
    const unreported: ProviderDiff = { changed: undefined, replaces: [], deleteBeforeReplace: false };
    assert.deepEqual(settleDiff(unreported, { a: 1, b: [1] }, { a: 1, b: [1] }), none);
    assert.deepEqual(settleDiff(unreported, { a: 1, b: [1] }, { b: [2], c: 1 }), { ...some, keys: ["a", "b", "c"] });
    assert.deepEqual(settleDiff({ ...unreported, changed: false }, { a: 1 }, { a: 2 }), none);
  });
});

describe("the local engine's order of deletions", () => {
  const names = (resources: Iterable<ResourceState>): string[] => [...resources].map(({ urn }) => urn);
  const waves = (deleted: readonly ResourceState[], all = deleted): string[] =>
    deletionWaves(new Set(deleted), all).map((wave) => names(wave).sort().join());
  const provider = resource("p");
  const a = resource("a", { provider: "p::id" });
  const b = resource("b", { provider: "p::id", dependencies: ["a"] });
  const c = resource("c", { provider: "p::id", propertyDependencies: { x: ["b"] } });
  const d = resource("d", { provider: "p::id" });
  const all = [provider, a, d, b, c];

  it("is the reverse of dependencies, providers last", () => assert.deepEqual(waves(all), ["c", "b", "a,d", "p"]));

  it("leaves out what stays", () => assert.deepEqual(waves([a, c], all), ["a,c"]));

  it("ends with parents", () => {
    const parent = resource("parent", { custom: false });
    const child = resource("child", { parent: "parent" });
    const user = resource("user", { dependencies: ["parent"] });
    // What depends on a component depends on its children.
    assert.deepEqual(waves([parent, child, user]), ["user", "child", "parent"]);
  });

  it("keeps what a resource that stays needs", () => {
    assert.deepEqual(names(neededBy(c, all)).sort(), ["a", "b", "p"]);
    assert.deepEqual(names(neededBy(d, all)), ["p"]);
  });

  it("finds what depends on a resource, through others", () => {
    assert.deepEqual(names(dependentsOf(a, all, new Set())), ["b", "c"]);
    assert.deepEqual(names(dependentsOf(a, all, new Set([b]))), []);
    assert.deepEqual(names(dependentsOf(provider, all, new Set())), ["a", "d", "b", "c"]);
  });

  it("drops references to what a refresh did not find", () => {
    const left = [
      resource("child", { parent: "lost", dependencies: ["lost", "kept"] }),
      resource("user", { propertyDependencies: { x: ["lost"], y: ["child", "lost"] } }),
    ];
    const changes = withoutLost([resource("kept"), ...left], new Map([["lost", "kept"]]));
    const [child, user] = left.map((one) => ({ ...one, ...changes.get(one) }));
    assert.deepEqual(child, { ...left[0], parent: "kept", dependencies: ["kept"] });
    assert.deepEqual(user, { ...left[1], propertyDependencies: { y: ["child"] } });
  });
});
