import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { LocalStack, type OpenOptions, OperationError, type OperationResult } from "../../../local/engine/index";

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

interface Recorded {
  provider: string;
  program: string;
}

/** A project in a folder of its own, with the program and the provider of the recorded traces, or others. */
export class TestProject {
  readonly directory = mkdtempSync(join(tmpdir(), "engine-"));
  private readonly log = join(this.directory, "calls.log");
  private read = 0;

  constructor(sources: { program?: string; provider?: string; typescript?: boolean } = {}) {
    const recorded = JSON.parse(readFileSync(join(fixtures, "engine-traces.json"), "utf8")) as Recorded;
    symlinkSync(resolve(__dirname, "../../../node_modules"), join(this.directory, "node_modules"), "dir");
    // Without TypeScript a program starts in half the time.
    const typescript = sources.typescript ?? false;
    this.write("Pulumi.yaml", `name: trace\nruntime:\n  name: nodejs\n  options:\n    typescript: ${typescript}\n`);
    this.write("package.json", '{ "name": "trace", "main": "index.js" }');
    this.write("provider.js", sources.provider ?? recorded.provider);
    this.write("index.js", sources.program ?? recorded.program);
    this.want([]);
  }

  path(name: string): string {
    return join(this.directory, name);
  }

  write(name: string, text: string): void {
    writeFileSync(this.path(name), text);
  }

  /** Sets the resources of the program's next run. */
  want(resources: readonly Wanted[]): void {
    this.write("resources.json", JSON.stringify({ resources }));
  }

  open(options: Partial<OpenOptions> = {}): Promise<LocalStack> {
    const env = { TRACE_LOG: this.log, ...options.env };
    return LocalStack.open({ projectDir: this.directory, passphrase, ...options, env });
  }

  get statePath(): string {
    return this.path(".rekey/stacks/trace/dev.json");
  }

  /** The calls that the provider got since the last look. */
  newCalls(): Call[] {
    if (!existsSync(this.log)) return [];
    const lines = readFileSync(this.log, "utf8").split("\n").filter(Boolean);
    const fresh = lines.slice(this.read).map((line) => JSON.parse(line) as Call);
    this.read = lines.length;
    return fresh;
  }

  remove(): void {
    rmSync(this.directory, { recursive: true, force: true });
  }
}

/** The error that an operation ends with. */
export async function failing(promise: Promise<OperationResult>): Promise<OperationError> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof OperationError, String(error));
  return error;
}

/** What was said of what went wrong. */
export function errors({ diagnostics }: OperationResult): string[] {
  return diagnostics.filter(({ severity }) => severity === "error").map(({ message }) => message);
}
