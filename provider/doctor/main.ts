#!/usr/bin/env node
import { parseArgs } from "node:util";
import { type Check, checkNode } from "./check";
import type * as covering from "./cover";
import { examine } from "./examine";

const help = `Usage: pulumi-rekey doctor [options]

Checks the settings and the installation of a project, and its connection to the platform. Changes nothing.
With --coverage, lists every secret of the account that can be rotated, and what the stack knows of it, instead.

  -s, --stack <name>  the stack (default: PULUMI_STACK, else the one that is selected, else dev)
  -C, --cwd <path>    the project folder, or a folder in it (default: the current folder)
  -d, --database <id> also read this database, without its credentials
      --coverage      list the secrets of the account, which resource of the stack rotates each, and when it did last
      --since <date>  with --coverage: also print which are older than a date (2026-04-19, or a time with a zone)
  -j, --json          print one JSON object
  -h, --help          print this help

Example:
  npx --no pulumi-rekey doctor --stack production --database db-sessions
  npx --no pulumi-rekey doctor --stack production --coverage --since 2026-04-19

Exit codes:
  0  no check found a problem; with --since, every secret was rotated or created since then
  1  a check found a problem, or the command could not be run; with --since, a secret is older, of unknown age, or may
     exist without being listed
`;

const options = {
  stack: { type: "string", short: "s", default: process.env.PULUMI_STACK },
  cwd: { type: "string", short: "C", default: "." },
  database: { type: "string", short: "d" },
  coverage: { type: "boolean", default: false },
  since: { type: "string" },
  json: { type: "boolean", short: "j", default: false },
  help: { type: "boolean", short: "h", default: false },
} as const;

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({ options, allowPositionals: true });
  if (values.help) return void process.stdout.write(help);
  if (positionals.join(" ") !== "doctor") throw new Error("the only command is `pulumi-rekey doctor`");
  if (values.coverage) return cover(values);
  if (values.since !== undefined) throw new Error("--since needs --coverage");
  const checks = await examine(values, process.env);
  const healthy = checks.every(({ state }) => state !== "wrong");
  process.stdout.write(values.json ? `${JSON.stringify({ healthy, checks }, undefined, 2)}\n` : asText(checks));
  process.exitCode = healthy ? 0 : 1;
}

async function cover({
  database,
  ...values
}: Parameters<typeof covering.cover>[0] & { database?: string | undefined }): Promise<void> {
  if (database !== undefined) throw new Error("--database cannot be used with --coverage");
  const node = checkNode(process.versions.node);
  if (node.state === "wrong") throw new Error(`${node.message} ${node.fix}`);
  // Loaded only now: an older Node cannot load it.
  const { cover } = require("./cover") as typeof covering;
  const { text, isComplete } = await cover(values, process.env);
  process.stdout.write(text);
  process.exitCode = isComplete ? 0 : 1;
}

const marks: Record<Check["state"], string> = { ok: "ok     ", unchecked: "-      ", wrong: "WRONG  " };

function asText(checks: readonly Check[]): string {
  const isUnset = ({ state, source }: Check) => state === "ok" && source === "not set";
  const unset = checks.filter(isUnset).map(({ subject }) => subject);
  const lines = checks.flatMap((check) => {
    const { state, message, fix } = check;
    // Those without a value are one line, in the place of the last.
    if (isUnset(check) && check.subject !== unset.at(-1)) return [];
    const text = isUnset(check) ? `Not set, and not needed: ${unset.join(", ")}.` : message;
    return [`${marks[state]}${text}`, ...(fix === undefined ? [] : [`       ${fix}`])];
  });
  const count = checks.filter(({ state }) => state === "wrong").length;
  const summary = count === 0 ? "No problem was found." : `${count} of ${checks.length} checks found a problem.`;
  return `${[...lines, "", summary].join("\n")}\n`;
}

main().catch((error: unknown) => {
  // The message alone: a stack trace does not help a user, and an error object may contain more than its message.
  process.stderr.write(`error: ${error instanceof Error ? error.message : String(error)}\n${help}`);
  process.exitCode = 1;
});
