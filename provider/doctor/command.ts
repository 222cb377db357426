import { parseArgs } from "node:util";
import { idProblem, orUndefined } from "../records/fields";
import { readDate } from "../rotation/schedule";
import { type Check, checkAll } from "./checks";
import { cover, coverageText } from "./coverage";
import { findProject, readStack } from "./project";
import { readStackState } from "./stackState";

const help = `Usage: pulumi-rekey doctor [options]

Checks the settings and the installation of the project in this folder, and its connection to the platform. Changes nothing.
With --coverage, lists every secret of the account that can be rotated, and what the stack knows of it, instead.

  -s, --stack <name>  the stack (default: PULUMI_STACK, else the one that is selected, else dev)
  -d, --database <id> also read this database, without its credentials
      --coverage      list the secrets of the account, which resource of the stack rotates each, and when it did last
      --since <date>  with --coverage: also print which are older than a date (2026-04-19, or a time with a zone)
  -j, --json          print one JSON object
  -h, --help          print this help

Example:
  npx --no pulumi-rekey doctor --stack production --database db-sessions
  npx --no pulumi-rekey doctor --stack production --coverage --since 2026-04-19

Exit codes:
  0  no check found a problem; with --coverage, everything was listed, and nothing is older than the date
  1  a check found a problem, or the command could not be run; with --coverage, a secret is older, of unknown age, or
     may exist without being listed
`;

const options = {
  stack: { type: "string", short: "s", default: process.env.PULUMI_STACK },
  database: { type: "string", short: "d" },
  coverage: { type: "boolean", default: false },
  since: { type: "string" },
  json: { type: "boolean", short: "j", default: false },
  help: { type: "boolean", short: "h", default: false },
} as const;

/** Runs the command with the arguments of this process. */
export async function run(): Promise<void> {
  try {
    const { values, positionals } = parseArgs({ options, allowPositionals: true });
    if (values.help) return void process.stdout.write(help);
    if (positionals.join(" ") !== "doctor") throw new Error("the only command is `pulumi-rekey doctor`");
    const { report, text, isGood } = await resultOf(values);
    process.stdout.write(values.json ? `${JSON.stringify(report, undefined, 2)}\n` : text);
    process.exitCode = isGood ? 0 : 1;
  } catch (error) {
    // The message alone: a stack trace does not help a user, and an error object may contain more than its message.
    process.stderr.write(`error: ${error instanceof Error ? error.message : String(error)}\n${help}`);
    process.exitCode = 1;
  }
}

type Values = ReturnType<typeof parseArgs<{ options: typeof options }>>["values"];

/** @throws Error for arguments that cannot be used, before anything is sent */
async function resultOf({ stack: name, database, coverage, since }: Values) {
  if (since !== undefined && !coverage) throw new Error("--since needs --coverage");
  if (database !== undefined && coverage) throw new Error("--database cannot be used with --coverage");
  const notAnId = database === undefined ? undefined : idProblem(database);
  if (notAnId !== undefined) throw new Error(`--database ${notAnId}`);
  if (since !== undefined && !orUndefined(() => readDate(since))) {
    throw new Error("--since must be a date (2026-04-19), or a time with a zone (2026-04-19T18:30:00Z)");
  }
  const project = findProject(process.cwd());
  const stack = readStack(project, name);
  if (coverage) {
    const report = await cover(stack, readStackState(project, stack), since);
    return { report, text: coverageText(report), isGood: report.covered };
  }
  const checks = await checkAll(project, stack, database);
  const healthy = checks.every(({ state }) => state !== "wrong");
  return { report: { healthy, checks }, text: asText(checks), isGood: healthy };
}

const marks: Record<Check["state"], string> = { ok: "ok     ", unchecked: "-      ", wrong: "WRONG  " };

function asText(checks: readonly Check[]): string {
  const lines = checks.flatMap(({ state, message, fix }) => {
    return [`${marks[state]}${message}`, ...(fix === undefined ? [] : [`       ${fix}`])];
  });
  const count = checks.filter(({ state }) => state === "wrong").length;
  const summary = count === 0 ? "No problem was found." : `${count} of ${checks.length} checks found a problem.`;
  return `${[...lines, "", summary].join("\n")}\n`;
}
