import assert from "node:assert/strict";
import { type ResourceState } from "../../../local/engine/format";
import { deletionWaves, dependentsOf, neededBy, withoutLost } from "../../../local/engine/graph";
import { type Diff, type ProviderDiff, type Plan, planStep, settleDiff } from "../../../local/engine/plan";

const none: Diff = { changed: false, replaces: [], deleteBeforeReplace: false, keys: [] };
const some: Diff = { ...none, changed: true };
const replacing: Diff = { ...some, replaces: ["key"] };
type Wishes = Partial<Pick<ResourceState, "protect" | "replaceOnChanges">> & { deleteBeforeReplace?: boolean };

function resource(name: string, about: Partial<ResourceState> = {}): ResourceState {
  return { urn: name, type: "t", custom: true, id: name, inputs: {}, outputs: {}, ...about };
}

describe("the local engine's decision about a resource", () => {
  const saved = resource("a");
  const sick = resource("a", { initErrors: ["half made"] });
  const gone = resource("a", { pendingReplacement: true });
  const guarded = resource("a", { protect: true });
  const cases: [string, ResourceState | undefined, boolean, Diff, Wishes, Partial<Plan>][] = [
    ["new", undefined, false, none, {}, { do: "create" }],
    ["unchanged", saved, false, none, {}, { do: "same" }],
    ["changed", saved, false, some, {}, { do: "update" }],
    [
      "changed so that it must be another",
      saved,
      false,
      replacing,
      {},
      { do: "replace", deleteFirst: false, keys: ["key"] },
    ],
    [
      "must be another, and the old one goes first",
      saved,
      false,
      { ...replacing, deleteBeforeReplace: true },
      {},
      { do: "replace", deleteFirst: true },
    ],
    [
      "the program says who goes first: old",
      saved,
      false,
      replacing,
      { deleteBeforeReplace: true },
      { deleteFirst: true },
    ],
    [
      "the program says who goes first: new",
      saved,
      false,
      { ...replacing, deleteBeforeReplace: true },
      { deleteBeforeReplace: false },
      { deleteFirst: false },
    ],
    ["replaces without a change are nothing", saved, false, { ...replacing, changed: false }, {}, { do: "same" }],
    ["init errors force an update", sick, false, none, {}, { do: "update" }],
    [
      "init errors replace where the program says so",
      sick,
      false,
      none,
      { replaceOnChanges: ["#initerror"] },
      { do: "replace" },
    ],
    ["init errors are among everything", sick, false, none, { replaceOnChanges: ["*"] }, { do: "replace" }],
    [
      "a known change that replaces by option",
      saved,
      false,
      { ...some, keys: ["v"] },
      { replaceOnChanges: ["v"] },
      { do: "replace", keys: ["v"] },
    ],
    [
      "another change than the option's",
      saved,
      false,
      { ...some, keys: ["w"] },
      { replaceOnChanges: ["v"] },
      { do: "update" },
    ],
    ["a change that nobody can name", saved, false, some, { replaceOnChanges: ["*"] }, { do: "update" }],
    ["deleted already, not made again", gone, false, none, {}, { do: "replace" }],
    ["deleted in this run for another's sake", saved, true, none, {}, { do: "replace" }],
    ["protected and to be replaced", guarded, false, replacing, { protect: true }, { do: "refuse" }],
    ["protected no more", guarded, false, replacing, { protect: false }, { do: "replace" }],
    ["protected and changed", guarded, false, some, { protect: true }, { do: "update" }],
  ];
  for (const [title, old, deleted, diff, wishes, expected] of cases) {
    it(title, () => {
      const plan = planStep(old, wishes, deleted, diff, wishes.deleteBeforeReplace);
      assert.deepEqual({ ...plan, ...expected }, plan);
    });
  }

  it("compares the inputs where the provider does not say", () => {
    const answer: ProviderDiff = { changed: undefined, replaces: [], deleteBeforeReplace: false };
    assert.deepEqual(settleDiff(answer, { a: 1, b: [1] }, { a: 1, b: [1] }), none);
    assert.deepEqual(settleDiff(answer, { a: 1, b: [1] }, { b: [2], c: 1 }), { ...some, keys: ["a", "b", "c"] });
    assert.deepEqual(settleDiff({ ...answer, changed: false }, { a: 1 }, { a: 2 }), none);
  });
});

describe("the local engine's order of deletions", () => {
  const names = (waves: readonly (readonly ResourceState[])[]): string[][] =>
    waves.map((wave) => wave.map(({ urn }) => urn).sort());
  const provider = resource("p");
  const a = resource("a", { provider: "p::id" });
  const b = resource("b", { provider: "p::id", dependencies: ["a"] });
  const c = resource("c", { provider: "p::id", propertyDependencies: { x: ["b"] } });
  const d = resource("d", { provider: "p::id" });

  it("is the reverse of dependencies, providers last", () => {
    const all = [provider, a, d, b, c];
    assert.deepEqual(names(deletionWaves(new Set(all), all)), [["c"], ["b"], ["a", "d"], ["p"]]);
  });

  it("leaves out who stays", () => {
    assert.deepEqual(names(deletionWaves(new Set([a, c]), [provider, a, d, b, c])), [["a", "c"]]);
  });

  it("ends with parents", () => {
    const parent = resource("parent", { custom: false });
    const child = resource("child", { parent: "parent" });
    const user = resource("user", { dependencies: ["parent"] });
    const all = [parent, child, user];
    // Who depends on a component depends on its children.
    assert.deepEqual(names(deletionWaves(new Set(all), all)), [["user"], ["child"], ["parent"]]);
  });

  it("keeps what something that stayed needs", () => {
    assert.deepEqual([...neededBy(c, [provider, a, d, b, c])].map(({ urn }) => urn).sort(), ["a", "b", "p"]);
    assert.deepEqual(
      [...neededBy(d, [provider, a, d, b, c])].map(({ urn }) => urn),
      ["p"],
    );
  });

  it("knows who depends on what, through others", () => {
    const all = [provider, a, d, b, c];
    assert.deepEqual(
      dependentsOf(a, all, new Set()).map(({ urn }) => urn),
      ["b", "c"],
    );
    assert.deepEqual(dependentsOf(a, all, new Set([b])), []);
    assert.deepEqual(
      dependentsOf(provider, all, new Set()).map(({ urn }) => urn),
      ["a", "d", "b", "c"],
    );
  });

  it("drops references to what a refresh did not find", () => {
    const left = [
      resource("child", { parent: "lost", dependencies: ["lost", "kept"] }),
      resource("user", { propertyDependencies: { x: ["lost"], y: ["child", "lost"] } }),
    ];
    const parents = new Map([["lost", "kept"]]);
    const changes = withoutLost([resource("kept"), ...left], parents);
    for (const one of left) Object.assign(one, changes.get(one));
    assert.deepEqual(
      left.map(({ parent, dependencies, propertyDependencies }) => ({ parent, dependencies, propertyDependencies })),
      [
        { parent: "kept", dependencies: ["kept"], propertyDependencies: undefined },
        { parent: undefined, dependencies: undefined, propertyDependencies: { y: ["child"] } },
      ],
    );
  });
});
