import { spawnSync } from "node:child_process";

/** What the `pulumi` CLI printed, or the first line of its error. */
export type Printed = { readonly text: string } | { readonly error: string };

/** A backend that does not respond must not block the command permanently. */
const timeoutMs = 60_000;

/**
 * Runs the `pulumi` CLI without input, so that it asks for nothing.
 *
 * @returns undefined if there is no CLI on PATH
 */
export function runPulumi(cwd: string, ...args: readonly string[]): Printed | undefined {
  const { status, stdout, stderr, error } = spawnSync("pulumi", args, {
    cwd,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
    timeout: timeoutMs,
    // The state of a large stack has megabytes.
    maxBuffer: Infinity,
  });
  if ((error as NodeJS.ErrnoException | undefined)?.code === "ENOENT") return undefined;
  if (error) return { error: error.message };
  if (status === 0) return { text: stdout };
  // Only the first line: the lines after it may show parts of the settings file, and so a secret in plain text.
  return { error: /^error: (.*?)[.:]?$/m.exec(stderr)?.[1] ?? `it ended with exit code ${status}` };
}
