import assert from "node:assert/strict";
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { type Readable } from "node:stream";
import { projectRoot } from "../../support/host";
import { until } from "../../support/results";

/** A process whose output is collected while it runs. */
export class Run {
  output = "";
  errors = "";
  readonly ended: Promise<number | null>;

  constructor(readonly child: ChildProcessByStdio<null, Readable, Readable>) {
    child.stdout.setEncoding("utf8").on("data", (text: string) => (this.output += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (this.errors += text));
    this.ended = once(child, "close").then(([code]) => code as number | null);
  }

  /** Waits until the output matches. */
  async printed(pattern: RegExp): Promise<RegExpExecArray> {
    const { child } = this;
    await until(() => pattern.test(this.output) || child.exitCode !== null || child.signalCode !== null);
    const match = pattern.exec(this.output);
    assert.ok(match, `it ended before it printed ${pattern}: ${this.output}${this.errors}`);
    return match;
  }
}

/** Runs JavaScript in a new process, in the root of the project, whose TypeScript modules it may load. */
export function runSource(
  code: string,
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): ChildProcessByStdio<null, Readable, Readable> {
  const node = ["-r", "ts-node/register/transpile-only", "-e", code, "--", ...args];
  const all = { ...process.env, ...env };
  return spawn(process.execPath, node, { cwd: projectRoot, env: all, stdio: ["ignore", "pipe", "pipe"] });
}
