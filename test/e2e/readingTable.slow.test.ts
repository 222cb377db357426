import assert from "node:assert/strict";
import { type Fault } from "../../local/index";
import { type Adapter, adapters } from "../support/host";
import {
  type Delivery,
  HostedRotation,
  type ReadableWorld,
  requestsOf,
  startReadable,
  type Step,
} from "../support/hostedRotation";

const deliveries: readonly Delivery[] = ["always", "read", "once", "never"];

/** What a step sent and saved. The password is the platform's newest one, a former one, or none. */
interface Seen {
  readonly posts: number;
  readonly gets: number | typeof polled;
  readonly outcome: string;
  readonly password: "new" | "former" | "none";
}

/** One read before the reset, and reads until the deadline: five, or fewer on a slow machine. */
const polled = "2 to 6";

type Known = Seen["password"];
const step = (posts: number, gets: Seen["gets"], outcome: string, password: Known): Seen => ({
  ...{ posts, gets, outcome, password },
});
const reset = (gets: Seen["gets"], password: Known = "new") => step(1, gets, "reset", password);
const unknown = (gets: Seen["gets"], password: Known) => step(1, gets, "unknown", password);
const read = (password: Known = "new", outcome = "reset") => step(0, 1, outcome, password);
const same = (password: Known = "new", outcome = "reset") => step(0, 0, outcome, password);

interface Scenario {
  readonly name: string;
  /** Of the reset in the step `rotate`, or else in the first step. */
  readonly fault?: Fault;
  /** `change` changes the password and the record outside of Rekey. */
  readonly steps: readonly (Step | "change")[];
  /** What the steps show in turn, without `change`. */
  readonly expected: Readonly<Partial<Record<Delivery, readonly Seen[]>>>;
}

/** A reset that was not applied: one in this run, and one in the next. */
const notApplied = {
  steps: ["create", "rotate", "up", "up"],
  expected: {
    always: [reset(1), unknown(polled, "new"), reset(1), same()],
    read: [reset(2), unknown(polled, "new"), reset(2), same()],
    once: [reset(1), unknown(2, "new"), reset(1), same()],
    never: [reset(1, "none"), unknown(1, "none"), reset(1, "none"), same("none")],
  },
} as const;

/** A reset that was applied: if credentials can be read, there is no other one. */
const applied = (gets: Seen["gets"]) => ({
  steps: ["create", "rotate", "up", "up"] as const,
  expected: {
    always: [reset(1), reset(gets), same(), same()],
    read: [reset(2), reset(gets), same(), same()],
    once: [reset(1), unknown(2, "former"), reset(1), same()],
    never: [reset(1, "none"), unknown(1, "none"), reset(1, "none"), same("none")],
  },
});

const scenarios: readonly Scenario[] = [
  {
    name: "a first up and a rotation",
    steps: ["create", "rotate", "up"],
    expected: {
      always: [reset(1), reset(1), same()],
      read: [reset(2), reset(2), same()],
      once: [reset(1), reset(1), same()],
      never: [reset(1, "none"), reset(1, "none"), same("none")],
    },
  },
  { name: "a response lost before the reset", fault: { dropConnection: "before-apply" }, ...notApplied },
  { name: "a response with status 500", fault: { status: 500 }, ...notApplied },
  { name: "a response lost after the reset", fault: { dropConnection: "after-apply" }, ...applied(2) },
  {
    name: "a response lost before a delayed reset",
    fault: { dropConnection: "after-apply", applyAfterMs: 600 },
    ...applied(polled),
  },
  {
    name: "a lost response to the first reset",
    fault: { dropConnection: "before-apply" },
    steps: ["create", "up", "up"],
    expected: {
      always: [unknown(polled, "none"), reset(1), same()],
      read: [unknown(polled, "none"), reset(2), same()],
      once: [unknown(1, "none"), reset(1), same()],
      never: [unknown(1, "none"), reset(1, "none"), same("none")],
    },
  },
  {
    name: "a reset that is applied between two runs",
    fault: { dropConnection: "after-apply", applyAfterMs: "never" },
    steps: ["create", "rotate", "change", "up", "up"],
    expected: {
      always: [reset(1), unknown(polled, "former"), read(), same()],
      read: [reset(2), unknown(polled, "former"), read(), same()],
      once: [reset(1), unknown(2, "former"), reset(1), same()],
      never: [reset(1, "none"), unknown(1, "none"), reset(1, "none"), same("none")],
    },
  },
  {
    name: "a reset that is applied before a refresh",
    fault: { dropConnection: "after-apply", applyAfterMs: "never" },
    steps: ["create", "rotate", "refresh", "change", "refresh", "up"],
    expected: {
      always: [reset(1), unknown(polled, "former"), read("former", "unknown"), read(), same()],
      once: [reset(1), unknown(2, "former"), read("former", "unknown"), read("former", "unknown"), reset(1)],
    },
  },
  {
    name: "a confirmed reset that reads do not show",
    fault: { applyAfterMs: "never" },
    steps: ["create", "rotate", "refresh", "up", "change", "up", "up"],
    expected: { read: [reset(2), reset(polled, "none"), read("none"), read("none"), read(), same()] },
  },
  {
    name: "a confirmed reset that a refresh shows",
    fault: { applyAfterMs: "never" },
    steps: ["create", "rotate", "change", "refresh", "up"],
    expected: { read: [reset(2), reset(polled, "none"), read(), same()] },
  },
  {
    name: "an adoption",
    steps: ["adopt", "up", "refresh", "up"],
    expected: {
      always: [read("new", "adopted"), same("new", "adopted"), read("new", "adopted"), same("new", "adopted")],
      once: [read("none", "adopted"), same("none", "adopted"), read("none", "adopted"), same("none", "adopted")],
    },
  },
  {
    name: "a change outside",
    steps: ["create", "refresh", "change", "refresh", "up"],
    expected: {
      always: [reset(1), read(), read(), same()],
      read: [reset(2), read(), read(), same()],
      once: [reset(1), read(), read("former"), same("former")],
      never: [reset(1, "none"), read("none"), read("none"), same("none")],
    },
  },
];

const idOf = (name: string): string => name.replaceAll(" ", "-");
const start = (adapter: Adapter, delivery: Delivery) =>
  startReadable(
    adapter,
    delivery,
    scenarios.map(({ name }) => idOf(name)),
  );

async function play(
  { platform, hosts }: ReadableWorld,
  { name, fault, steps }: Omit<Scenario, "expected">,
): Promise<readonly Seen[]> {
  const id = idOf(name);
  const resource = new HostedRotation(id);
  const lastOfRun = Math.max(0, steps.indexOf("rotate"));
  const seen: Seen[] = [];
  for (const [index, step] of steps.entries()) {
    if (step === "change") {
      await platform.changePassword(id);
      platform.changeRecord(id, { type: "pro" });
      continue;
    }
    if (fault && index === lastOfRun) platform.failNext({ ...fault, path: `/v2/keyvalue/reset-password/${id}` });
    const before = { posts: requestsOf(platform, id, "POST"), gets: requestsOf(platform, id, "GET") };
    const { outcome, password } = await resource.play(step, hosts[index > lastOfRun ? 1 : 0]);
    const isNew = password === platform.database(id).password;
    seen.push({
      posts: requestsOf(platform, id, "POST") - before.posts,
      gets: requestsOf(platform, id, "GET") - before.gets,
      outcome: String(outcome),
      password: password === undefined ? "none" : isNew ? "new" : "former",
    });
  }
  return seen;
}

/** The same, with a number of reads that depends on the machine's speed as its range. */
function rounded(seen: Seen, expected: Seen | undefined): Seen {
  const isPolled = expected?.gets === polled && Number(seen.gets) >= 2 && Number(seen.gets) <= 6;
  return isPolled ? { ...seen, gets: polled } : seen;
}

for (const delivery of deliveries) {
  describe(`reading: requests and credentials: ${delivery}`, () => {
    const played = adapters.flatMap((adapter) =>
      scenarios.flatMap(({ expected, ...scenario }) => {
        const wanted = expected[delivery];
        return wanted ? [{ adapter, scenario, wanted }] : [];
      }),
    );
    let worlds: Readonly<Record<Adapter, ReadableWorld>>;
    let results: readonly Promise<readonly Seen[]>[];
    before(async () => {
      const [dynamic, plugin] = await Promise.all([start("dynamic", delivery), start("plugin", delivery)]);
      worlds = { dynamic, plugin };
      // All at once, because some of them wait for the deadline.
      results = played.map(({ adapter, scenario }) => play(worlds[adapter], scenario));
      await Promise.allSettled(results);
    });
    after(() => Promise.all([worlds.dynamic.end(), worlds.plugin.end()]));

    for (const [index, { adapter, scenario, wanted }] of played.entries()) {
      it(`${scenario.name}, by the ${adapter} adapter`, async () => {
        const seen = (await results[index]) ?? [];
        assert.deepEqual(
          seen.map((one, nth) => rounded(one, wanted[nth])),
          wanted,
        );
      });
    }
  });
}
