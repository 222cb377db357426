import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { LocalStack, type OpenOptions, OperationError, type OperationResult } from "../../../local/engine/index";
import { resultOf } from "../../support/engine";
import { Project } from "../../support/project";

export const passphrase = "trace";
export const fixtures = resolve(__dirname, "../../fixtures/traces");

/** A call that the recorded provider wrote down. */
export type Call = { method: string; id?: string; olds?: Json; news?: Json; props?: Json };
export type Json = Record<string, unknown>;

/** A resource as the recorded program reads it. */
export interface Wanted {
  name: string;
  type?: string;
  props?: Json;
  refs?: Record<string, string>;
  secrets?: Record<string, unknown>;
  dependsOn?: string[];
  parent?: string;
  component?: boolean;
  options?: Json;
}

/** A project with the program and the provider of the recorded traces, or others. */
export class TestProject extends Project {
  readonly #log = this.path("calls.log");
  #read = 0;

  /** @param sources also the resources of the program's first run; default: none */
  constructor(sources: { program?: string; provider?: string; typescript?: boolean; wanted?: Wanted[] } = {}) {
    const recorded = JSON.parse(readFileSync(join(fixtures, "engine-traces.json"), "utf8")) as Record<string, string>;
    super(sources.program ?? recorded["program"]!, { name: "trace", ...(sources.typescript && { typescript: true }) });
    this.write("provider.js", sources.provider ?? recorded["provider"]!);
    this.want(sources.wanted ?? []);
  }

  /** Sets the resources of the program's next run. */
  want(resources: readonly Wanted[]): void {
    this.write("resources.json", JSON.stringify({ resources }));
  }

  /** The environment that an engine's command line needs to run the project. */
  get environment(): Record<string, string> {
    return { PULUMI_CONFIG_PASSPHRASE: passphrase, TRACE_LOG: this.#log };
  }

  open(options: Partial<OpenOptions> = {}): Promise<LocalStack> {
    const env = { TRACE_LOG: this.#log, ...options.env };
    return LocalStack.open({ projectDir: this.directory, passphrase, ...options, env });
  }

  get statePath(): string {
    return this.path(".rekey/stacks/trace/dev.json");
  }

  /** The calls that the provider received since the last time. */
  newCalls(): Call[] {
    if (!existsSync(this.#log)) return [];
    const lines = readFileSync(this.#log, "utf8").split("\n").filter(Boolean);
    const fresh = lines.slice(this.#read).map((line) => JSON.parse(line) as Call);
    this.#read = lines.length;
    return fresh;
  }

  /** Those of the new calls that change something. */
  newChanges(): Call[] {
    return this.newCalls().filter(({ method }) => ["create", "update", "delete"].includes(method));
  }
}

/** The error that an operation ends with. */
export async function failing(promise: Promise<OperationResult>): Promise<OperationResult> {
  const result = await resultOf(promise);
  assert.ok(result instanceof OperationError, JSON.stringify(result));
  return result;
}

/** The messages of the errors. */
export function errors({ diagnostics }: OperationResult): string[] {
  return diagnostics.filter(({ severity }) => severity === "error").map(({ message }) => message);
}
