#!/usr/bin/env node
import { parseArgs } from "node:util";
import { type Check } from "./check";
import { examine } from "./examine";

const help = `Usage: pulumi-rekey doctor [options]

Checks a project's settings, installation and way to the platform; nothing is changed.

  -s, --stack <name>  the stack (default: PULUMI_STACK, else dev)
  -C, --cwd <path>    the project's folder, or one below it (default: the current one)
  -j, --json          print one JSON object
  -h, --help          print this text
`;

const options = {
  stack: { type: "string", short: "s", default: process.env.PULUMI_STACK ?? "dev" },
  cwd: { type: "string", short: "C", default: "." },
  json: { type: "boolean", short: "j", default: false },
  help: { type: "boolean", short: "h", default: false },
} as const;

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({ options, allowPositionals: true });
  if (values.help) return void process.stdout.write(help);
  if (positionals.join(" ") !== "doctor") throw new Error("the only command is `pulumi-rekey doctor`");
  const checks = await examine(values.cwd, values.stack, process.env);
  const healthy = checks.every(({ state }) => state !== "wrong");
  process.stdout.write(values.json ? `${JSON.stringify({ healthy, checks }, undefined, 2)}\n` : asText(checks));
  process.exitCode = healthy ? 0 : 1;
}

const marks: Record<Check["state"], string> = { ok: "ok     ", unchecked: "-      ", wrong: "WRONG  " };

function asText(checks: readonly Check[]): string {
  const lines = checks.flatMap(({ state, message, mend }) => [
    `${marks[state]}${message}`,
    ...(mend === undefined ? [] : [`       ${mend}`]),
  ]);
  const count = checks.filter(({ state }) => state === "wrong").length;
  const summary =
    count === 0 ? "Nothing wrong was found." : `${count} of ${checks.length} checks found something wrong.`;
  return `${[...lines, "", summary].join("\n")}\n`;
}

main().catch((error: unknown) => {
  // The message alone: a stack trace tells a user nothing, and an error may carry more than it shows.
  process.stderr.write(`error: ${error instanceof Error ? error.message : String(error)}\n${help}`);
  process.exitCode = 1;
});
