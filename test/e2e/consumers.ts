import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { examples } from "../support/project";

/** Processes of one example. They run until `end`. */
export class Consumers {
  readonly lines: string[] = [];
  readonly #processes;

  constructor(example: string, count: number, args: readonly string[]) {
    const script = join(examples, example, "consumer.mjs");
    this.#processes = Array.from({ length: count }, () => {
      const one = spawn(process.execPath, [script, ...args], { stdio: ["ignore", "pipe", "inherit"] });
      createInterface({ input: one.stdout }).on("line", (line) => this.lines.push(line));
      return one;
    });
  }

  get refused(): string[] {
    return this.lines.filter((line) => line.startsWith("refused"));
  }

  /** How often consumers have begun to use a new secret. */
  get changes(): number {
    return this.lines.filter((line) => line.startsWith("uses")).length;
  }

  async until(isDone: () => boolean): Promise<void> {
    while (!isDone()) {
      for (const { exitCode } of this.#processes) assert.equal(exitCode, null, this.lines.join("\n"));
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  /** Waits for a line that matches, from a place in the lines on. @returns its place */
  async said(wanted: RegExp, from = 0): Promise<number> {
    const place = () => this.lines.findIndex((line, nth) => nth >= from && wanted.test(line));
    await this.until(() => place() >= 0);
    return place();
  }

  async end(): Promise<void> {
    const ended = this.#processes.filter(({ exitCode }) => exitCode === null).map((one) => once(one, "close"));
    for (const one of this.#processes) one.kill();
    await Promise.all(ended);
  }
}
