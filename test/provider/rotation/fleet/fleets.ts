import assert from "node:assert/strict";
import { passwordRotationFleet } from "../../../../provider/rotation/fleet/fleet";
import { type FleetOutputs } from "../../../../provider/rotation/fleet/fleetOutputs";
import { asShown, FakeRun } from "../../../support/fakeRun";

const { apply, ...others } = asShown(passwordRotationFleet);
export const { check, plan, refresh } = others;
export type Inputs = Parameters<typeof passwordRotationFleet.plan>[1];

/** Databases by their ids. */
export const of = (...ids: string[]): Inputs["databases"] => Object.fromEntries(ids.map((id) => [id, id]));
export const many = (count: number) => of(...Array.from({ length: count }, (_, nth) => `db-${nth}`));

/** What a read or a response shows. */
export const showing = (password: string) => () => ({ credentials: { password } });

/** A fleet over several runs. Each password names its database, and its reset. */
export class Fleet {
  readonly fake = new FakeRun();
  saved: FleetOutputs | undefined;

  constructor(settings: FakeRun["settings"] = {}) {
    this.fake.settings = settings;
    this.fake.answer = (id) => ({
      record: { databaseId: id, endpoint: `${id}.example.com`, port: 6379, tls: true, state: "active" },
      credentials: { password: `p-${id}-${this.resetsOf(id)}` },
    });
  }

  /** What was saved; the test fails if nothing was. */
  get known(): FleetOutputs {
    return this.saved ?? assert.fail("nothing is saved");
  }

  resetsOf(id: string): number {
    return this.fake.resets.filter((one) => one === id).length;
  }

  plan(inputs: Inputs, run = this.fake.start()) {
    return plan(this.saved, inputs, run);
  }

  async up(inputs: Inputs, run = this.fake.start()) {
    const before = this.fake.resets.length;
    const result = await apply(this.saved, inputs, run);
    this.#save(result.outputs);
    return { ...result, sent: this.fake.resets.slice(before).sort() };
  }

  async refresh() {
    const result = await refresh(this.known, this.fake.start());
    this.#save(result.outputs);
    return result;
  }

  /** As the engine does: as JSON, with sorted names. */
  #save(outputs: FleetOutputs) {
    this.saved = sorted(JSON.parse(JSON.stringify(outputs))) as FleetOutputs;
  }

  /** Passwords by name. */
  get passwords() {
    return Object.fromEntries(Object.entries(this.known.credentials).map(([name, one]) => [name, one.password]));
  }
}

/** What a fleet remembers of each database, by id. */
export function memoriesIn({ memory }: FleetOutputs): Record<string, object> {
  return (JSON.parse(memory) as { databases: Record<string, object> }).databases;
}

export function sorted(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([name, inner]) => [name, sorted(inner)]));
}
