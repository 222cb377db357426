import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Platform, type PlatformOptions } from "../../local/platform/index";
import { markAccount } from "../../provider/run";
import { type Engine, localEngine, type State } from "./engine";
import { runEngine } from "./engineProcess";
import { projectRoot } from "./host";
import { fixture } from "./onEngines";
import { databasePath } from "./resources";

/**
 * A stack that commit 95e65e9 saved on the pulumi CLI, through one of the adapters, and the state that its platform
 * then had. Its program states what each resource shows.
 */
export class SavedStack {
  readonly #folder: string;
  /** Starts the platform of the stack, at another address. */
  readonly platformOptions: PlatformOptions;
  readonly #url: string;

  constructor(adapter: "dynamic" | "native") {
    this.#folder = join(projectRoot, "test/fixtures/commit-95e65e9", adapter);
    const { url, ...options } = JSON.parse(this.#read("platform.json")) as PlatformOptions & { readonly url: string };
    this.#url = url;
    this.platformOptions = { ...options, databasePath, credentials: "always" };
  }

  get program(): string {
    return this.#read("index.js");
  }

  /** The state, as if it was saved at the address of a platform. */
  stateAt({ url, username }: Pick<Platform, "url" | "username">): State {
    const text = this.#read("stack.json");
    const mark = markAccount(this.#url, username);
    assert.ok(text.includes(mark));
    return JSON.parse(text.replaceAll(this.#url, url).replaceAll(mark, markAccount(url, username))) as State;
  }

  #read(file: string): string {
    return readFileSync(join(this.#folder, file), "utf8");
  }
}

/** The resources of a saved stack, without the providers. */
function resourcesOf({ deployment: { resources = [] } }: State): number {
  return resources.filter(({ urn }) => !urn.includes("::pulumi:providers:")).length;
}

/** A project with a stack that an earlier commit saved, and the platform of the stack. */
export async function savedFixture(engine: Engine, change: (state: State) => void = () => undefined) {
  const saved = new SavedStack(engine.native ? "native" : "dynamic");
  const made = await fixture(engine, saved.program, saved.platformOptions);
  const state = saved.stateAt(made.platform);
  change(state);
  made.project.write("stack.json", JSON.stringify(state));
  const command = engine === localEngine ? ["import"] : ["stack", "import", "--stack", "dev"];
  const { code, printed } = await runEngine(engine, [...command, "--file", "stack.json"], made.project.directory);
  assert.equal(code, 0, printed);
  return { ...made, program: saved.program, resources: resourcesOf(state) };
}

/** The databases of the stack whose last reset was not confirmed. */
export const unconfirmedIds = ["first", "unconfirmed", "undecided"];

/** The ids of the databases that were reset, sorted. */
export function resetIds({ requests }: Pick<Platform, "requests">): string[] {
  return requests.flatMap(({ path }) => /\/reset-password\/(.*)$/.exec(path)?.[1] ?? []).sort();
}

/** The methods of the requests, each once, sorted. */
export function methodsOf({ requests }: Pick<Platform, "requests">): string[] {
  return [...new Set(requests.map(({ method }) => method))].sort();
}
