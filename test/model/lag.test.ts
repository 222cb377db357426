import assert from "node:assert/strict";
import fc from "fast-check";
import { type Credentials } from "../../provider/records/credentials";
import { type SecretResponse } from "../../provider/records/response";
import {
  asShown,
  FakeRun,
  notSent,
  passwordRotation,
  rejected,
  type SavedRotation,
  unconfirmed,
} from "../support/fakeRun";
import { seed } from "../support/suite";

const { apply, plan, refresh } = asShown(passwordRotation);

/** How a record shows its credentials. */
const masks = {
  none: (all: Credentials): Credentials => all,
  "password masked": ({ restToken }: Credentials): Credentials => (restToken === undefined ? {} : { restToken }),
  "tokens masked": ({ password }: Credentials): Credentials => (password === undefined ? {} : { password }),
  "all masked": (): Credentials => ({}),
};
type Mask = keyof typeof masks;

/** What happens to a reset. */
const outcomes = [
  "confirmed",
  "repeats the record from before",
  "lost, applied",
  "lost, not applied",
  "rejected",
] as const;

/** One choice for each request of a step, used in turn. */
interface Choice {
  /** Seconds by which a read is late: each is made at another replica. */
  readonly lagSeconds: number;
  readonly mask: Mask;
  readonly isFailing: boolean;
}

interface Step {
  readonly do: "up" | "refresh";
  readonly isNewVersion: boolean;
  readonly isKilled: boolean;
  readonly outcome: (typeof outcomes)[number];
  readonly responseMask: Mask;
  readonly reads: readonly Choice[];
  readonly pauseSeconds: number;
}

const maxLagSeconds = 60;
const mask = fc.constantFrom(...(Object.keys(masks) as Mask[]));
const honest: Choice = { lagSeconds: 0, mask: "none", isFailing: false };
const choice = fc.record({
  lagSeconds: fc.integer({ min: 0, max: maxLagSeconds }),
  mask: fc.oneof({ weight: 4, arbitrary: fc.constant("none" as const) }, mask),
  isFailing: fc.integer({ max: 7, min: 0 }).map((one) => one === 0),
});
const step: fc.Arbitrary<Step> = fc.record({
  do: fc.constantFrom("up" as const, "up" as const, "refresh" as const),
  isNewVersion: fc.boolean(),
  isKilled: fc.integer({ max: 5, min: 0 }).map((one) => one === 0),
  outcome: fc.constantFrom(...outcomes),
  responseMask: fc.oneof(fc.constant("none" as const), mask),
  reads: fc.array(choice, { minLength: 1, maxLength: 6 }),
  pauseSeconds: fc.integer({ min: 0, max: 90 }),
});
const quiet = {
  isKilled: false,
  outcome: "confirmed",
  responseMask: "none",
  reads: [honest],
  pauseSeconds: 0,
} as const;

/** An honest platform that is late: its records are true, but may be up to a minute old. */
class LatePlatform {
  readonly fake = new FakeRun();
  /** When each generation of a database began, by its id. */
  readonly #begins = new Map<string, number[]>();
  #reads = 0;
  step: Step = { ...quiet, do: "up", isNewVersion: true };

  constructor() {
    this.fake.canRead = true;
    this.fake.readDatabase = (id) => this.#read(id);
    this.fake.answer = (id) => this.#reset(id);
  }

  begin(next: Step): void {
    this.step = next;
    this.#reads = 0;
  }

  current(id: string): Credentials {
    return this.#of(id, this.#generations(id).length - 1);
  }

  #generations(id: string): number[] {
    const begins = this.#begins.get(id) ?? [-Infinity];
    this.#begins.set(id, begins);
    return begins;
  }

  #of(id: string, generation: number): Credentials {
    return { password: `p-${id}-${generation}`, restToken: `r-${id}-${generation}` };
  }

  #show(id: string, generation: number, how: Mask): Partial<SecretResponse> {
    return { record: { databaseId: id, port: generation + 1 }, credentials: masks[how](this.#of(id, generation)) };
  }

  #read(id: string): Partial<SecretResponse> | Error {
    const isBefore = this.fake.resets.length === 0;
    const { lagSeconds, mask: how, isFailing } = this.step.reads[this.#reads++ % this.step.reads.length] ?? honest;
    if (isFailing) return notSent();
    const at = this.fake.elapsedMs - lagSeconds * 1000;
    const generation = this.#generations(id).findLastIndex((began) => began <= at);
    // What was never shown cannot be recognized later: a read before a reset is not masked here.
    return this.#show(id, generation, isBefore ? "none" : how);
  }

  #reset(id: string): Partial<SecretResponse> | Error {
    const { outcome, responseMask } = this.step;
    if (outcome === "rejected") return rejected();
    if (outcome === "lost, not applied") return unconfirmed();
    const generations = this.#generations(id);
    generations.push(this.fake.elapsedMs);
    if (outcome === "lost, applied") return unconfirmed();
    const isOld = outcome !== "confirmed";
    return this.#show(id, generations.length - (isOld ? 2 : 1), responseMask);
  }
}

/** A single rotation, or a fleet with some databases. */
interface Subject<State> {
  readonly ids: readonly string[];
  up(saved: State | undefined, version: number, fake: FakeRun): Promise<State>;
  refresh(saved: State, fake: FakeRun): Promise<State>;
  isDue(saved: State, version: number, fake: FakeRun): boolean;
  databases(saved: State): readonly SavedRotation[];
}

const single: Subject<SavedRotation> = {
  ids: ["db"],
  up: async (saved, version, fake) => (await apply(saved, { databaseId: "db", version }, fake.start())).outputs,
  refresh: async (saved, fake) => (await refresh(saved, fake.start())).outputs,
  isDue: (saved, version, fake) => plan(saved, { databaseId: "db", version }, fake.start()).changes,
  databases: (saved) => [saved],
};

async function run<State>(subject: Subject<State>, steps: readonly Step[]): Promise<void> {
  const platform = new LatePlatform();
  const { fake } = platform;
  const confirmedIn = new Map<string, number>();
  let version = 1;
  let saved: State = await subject.up(undefined, version, fake);
  let lastReset = 0;
  let wasKilled = false;
  let isEnding = false;

  /** Saves what a step returns, and compares each database with its former state. */
  const save = (next: State): void => {
    const before = subject.databases(saved);
    for (const [index, database] of subject.databases(next).entries()) {
      const { databaseId, outcome, password, restToken, rotationCount } = database;
      const was = before[index] ?? assert.fail();
      const now = platform.current(databaseId);
      const name = `${databaseId} after ${JSON.stringify(platform.step)}`;
      const isConfirmed = rotationCount > was.rotationCount;
      if (outcome !== "unknown") {
        const isNew = isConfirmed || password !== was.password;
        if (isNew && password !== undefined) assert.equal(password, now.password, name);
        const isNewToken = isConfirmed || restToken !== was.restToken;
        if (isNewToken && restToken !== undefined) assert.equal(restToken, now.restToken, name);
      }
      if (!isConfirmed || isEnding) continue;
      const key = `${databaseId} ${version}`;
      confirmedIn.set(key, (confirmedIn.get(key) ?? 0) + rotationCount - was.rotationCount);
      assert.ok((confirmedIn.get(key) ?? 0) <= 1, `${name}: more than one reset of version ${version}`);
    }
    saved = next;
  };

  const take = async (next: Step): Promise<void> => {
    platform.begin(next);
    fake.elapsedMs += next.pauseSeconds * 1000;
    fake.resets.length = 0;
    // A password that was never shown, or whose mark was lost with a killed run, is not recognized later: two resets,
    // and a killed run and a refresh, are more than a minute apart.
    if (next.do === "up" || wasKilled) {
      fake.elapsedMs = Math.max(fake.elapsedMs, lastReset + (maxLagSeconds + 1) * 1000);
    }
    if (next.do === "refresh") return save(await subject.refresh(saved, fake));
    // A version that is set while a reset is unconfirmed would count for both.
    const isOpen = subject.databases(saved).some(({ outcome }) => outcome !== "reset");
    if (next.isNewVersion && (!isOpen || isEnding)) version++;
    if (!subject.isDue(saved, version, fake)) return;
    const result = await subject.up(saved, version, fake).catch(() => saved);
    if (fake.resets.length > 0) lastReset = fake.elapsedMs;
    wasKilled = next.isKilled;
    if (!wasKilled) save(result);
  };

  for (const next of steps) await take(next);
  isEnding = true;
  // Once reads are honest, one refresh brings the current credentials, or shows that a reset was not applied.
  fake.elapsedMs += (maxLagSeconds + 1) * 1000;
  await take({ ...quiet, do: "refresh", isNewVersion: false });
  for (let up = 0; up < 2; up++) {
    for (const { databaseId, outcome, password, restToken } of subject.databases(saved)) {
      if (outcome === "unknown" && up === 0) continue;
      assert.deepEqual({ password, restToken }, platform.current(databaseId), `${databaseId} in the end`);
    }
    await take({ ...quiet, do: "up", isNewVersion: true });
  }
  assert.ok(!subject.isDue(saved, version, fake), "nothing is left to be done");
}

describe("rotation on an honest platform that is late", function () {
  const numRuns = Number(process.env["REKEY_MODEL_RUNS"] ?? 300);
  const sequences = fc.array(step, { minLength: 1, maxLength: 20, size: "max" });
  const check = (each: (steps: readonly Step[]) => Promise<void>) =>
    fc.assert(fc.asyncProperty(sequences, each), { seed, numRuns, timeout: 200_000 });

  it(`saves no secret that a reset has replaced in ${numRuns} sequences (PasswordRotation, REKEY_SEED=${seed})`, () =>
    check((steps) => run(single, steps)));
});
