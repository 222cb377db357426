import assert from "node:assert/strict";
import { ResourceHandler, type Saved } from "../../../../provider/engine/adapter";
import { resources, type ResourceType } from "../../../../provider/engine/resources";
import { type Properties } from "../../../../provider/pulumi/values";
import { type Notice } from "../../../../provider/resource/resource";
import { type PlatformClient } from "../../../../provider/run/platformClient";
import { type Platform, Run, startRun } from "../../../../provider/run/run";
import { Settings } from "../../../../provider/settings/settings";

/** What came of one call of the engine. */
export interface Came {
  /** The texts of its notices, in lines. */
  readonly said: string;
  /** The message of its failure, whether or not a state was saved. */
  readonly failure?: string | undefined;
}

const textsOf = (notices: readonly Notice[]): string => notices.map(({ text }) => text).join("\n");

/** One resource over several runs, with real requests and in this process. */
export class RealResource {
  saved: Saved | undefined;

  constructor(
    private readonly type: ResourceType,
    public settings: Readonly<Record<string, string | undefined>> = {},
  ) {}

  get outputs(): Properties {
    return this.saved?.outputs ?? {};
  }

  /** @param parts of the platform in place of the real ones */
  start(parts?: Partial<Platform>): Run {
    const run = startRun(new Settings((name) => this.settings[name]), { log: () => undefined });
    if (!parts) return run;
    const { platform } = run;
    const all = Object.assign(Object.create(platform) as Platform, parts, {
      during: () => all as unknown as PlatformClient,
    });
    return new Run({ ...run.options, platform: () => all });
  }

  check(inputs: Properties): string {
    return this.#handler().check(inputs).join("\n");
  }

  preview(inputs: Properties, run?: Run) {
    const { notices, changing = [], ...planned } = this.#handler(run).plan(this.saved, inputs);
    return { ...planned, notices, changing: [...changing].sort(), said: textsOf(notices) };
  }

  async up(inputs: Properties, run = this.start()): Promise<Came> {
    assert.equal(this.check(inputs), "");
    const handler = this.#handler(run);
    try {
      const { id, outputs, failure, notices } = await handler.apply(this.saved, handler.decide({}, inputs));
      this.saved = { id, outputs: JSON.parse(JSON.stringify(outputs)) as Properties };
      return { said: textsOf(notices), failure: failure?.message };
    } catch (error) {
      return { said: "", failure: (error as Error).message };
    }
  }

  async refresh(run = this.start()): Promise<Came> {
    const { saved } = this;
    assert.ok(saved);
    const { outputs, notices } = await this.#handler(run).refresh(saved);
    this.saved = { ...saved, outputs: JSON.parse(JSON.stringify(outputs)) as Properties };
    return { said: textsOf(notices) };
  }

  #handler(run = this.start()): ResourceHandler {
    return new ResourceHandler(resources[this.type], run);
  }
}
