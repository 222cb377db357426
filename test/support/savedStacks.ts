import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Platform, type PlatformOptions } from "../../local/platform/index";
import { markAccount } from "../../provider/run";
import { type State } from "./engine";
import { projectRoot } from "./host";
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
