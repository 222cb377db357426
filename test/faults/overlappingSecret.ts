import assert from "node:assert/strict";
import { startRun } from "../../provider/run/run";
import { Settings } from "../../provider/settings/settings";
import { dynamicCalls, pluginCalls } from "../model/adapterCalls";
import { leaksOf } from "../support/canaries";
import { type Adapter, adapters } from "../support/host";
import { secretOutputs } from "../support/secretOutputs";
import { type EngineCalls, Stack } from "../support/stack";
import { itInPairs } from "../support/suite";
import { type Properties, secretNames } from "../support/wire";
import { titled, type Titled } from "./describeFaults";

/** A secret of which two may be valid: its rotation and its Retirement, in several runs. */
export abstract class OverlappingSecret {
  readonly rotation = new Stack(undefined as never);
  readonly retirement = new Stack(undefined as never);
  readonly said: string[] = [];
  readonly #given: string[];

  /** @param first what is valid before the first rotation */
  protected constructor(
    readonly adapter: Adapter,
    private readonly type: "QueueTokenRotation" | "AclUserRotation",
    public settings: Properties,
    first: string,
  ) {
    this.#given = [first];
  }

  /** Whether the server accepts it now. */
  abstract accepts(secret: string): Promise<boolean>;

  /** What the program says of it in each run. */
  protected abstract get inputs(): Properties;

  /** What no message may show, in addition to what the program had. */
  protected abstract get canaries(): Readonly<Record<string, string>>;

  /** Creates or updates the rotation in a new run. @returns its failure */
  async rotate(inputs: Properties): Promise<string> {
    this.nextRun();
    const failure = await failureOf(this.rotation.up({ ...this.inputs, ...inputs }));
    const { password, token = password } = this.rotation.plain;
    if (typeof token === "string" && !this.#given.includes(token)) this.#given.push(token);
    this.#assertNoSecrets(failure);
    const { outputs = {} } = this.rotation.saved ?? {};
    assert.deepEqual(
      secretNames(outputs),
      secretOutputs[this.type].filter((name) => name in outputs),
    );
    return failure;
  }

  /** Replaces the Retirement in a new run, which retires at its end. @returns its failure */
  async retire(): Promise<string> {
    const { access } = this.rotation.plain;
    if (!this.retirement.saved) await this.retirement.up({ access });
    this.nextRun();
    const failure = await failureOf(this.retirement.up({ access }).then(() => this.retirement.end()));
    this.#assertNoSecrets(failure);
    return failure;
  }

  /** Previews both in a new run, and refreshes the rotation. */
  async preview(inputs: Properties): Promise<void> {
    this.nextRun();
    await this.rotation.preview({ ...this.inputs, ...inputs });
    if (!this.rotation.saved) return;
    const { access } = await this.rotation.refresh();
    await this.retirement.preview({ access });
  }

  async refresh(): Promise<Properties> {
    this.nextRun();
    return this.rotation.refresh();
  }

  /** How those that the program had, in their order, are accepted now. */
  valid(): Promise<boolean[]> {
    return Promise.all(this.#given.map((one) => this.accepts(one)));
  }

  protected nextRun(): void {
    const values = this.settings as Readonly<Record<string, string | number | undefined>>;
    const settings = new Settings((name) => values[name]?.toString());
    const run = startRun(settings, { log: (line) => void this.said.push(line) });
    const callsOf = (type: OverlappingSecret["type"] | "Retirement"): EngineCalls =>
      this.adapter === "dynamic" ? dynamicCalls(type, run) : pluginCalls(type, run, this.said);
    this.rotation.calls = callsOf(this.type);
    this.retirement.calls = callsOf("Retirement");
  }

  #assertNoSecrets(failure: string): void {
    const secrets = { ...Object.fromEntries(this.#given.entries()), ...this.canaries };
    assert.deepEqual(leaksOf(failure + this.said.join("\n"), secrets), []);
  }
}

async function failureOf(change: Promise<unknown>): Promise<string> {
  return change.then(
    () => "",
    ({ message }: Error) => message,
  );
}

/** Tests a row with each adapter, in this process. */
export function testByAdapter(title: Titled, test: (adapter: Adapter) => Promise<void>, on = adapters): void {
  itInPairs(on, (adapter) => titled(...title, adapter), test);
}
