import { parseArgs } from "node:util";
import { futureProblem, readInterval } from "../rotation/memory/schedule";
import { checkAll } from "./checks";
import { cover, coverageText } from "./coverage";
import { dueMarkdown, dueText, findDue } from "./due";
import {
  type Check,
  environmentOnly,
  findProject,
  noProject,
  type Project,
  readStack,
  selectedStack,
} from "./project";
import { exportStack, neededServices, readStateFile, stackStateOf } from "./stackState";

const help = `Usage: pulumi-rekey doctor [options]

Checks the settings and the installation of the project in this folder, and its connection to the platform. Changes nothing.
With --coverage, lists every secret of the account that can be rotated, and what stacks know about it, instead.
With --due, lists what is overdue in the states of stacks, or waits. It needs no account, and decrypts nothing.

  -s, --stack <name>  the stack (default: PULUMI_STACK, else the one that is selected, else dev). With --coverage or
                      --due, it may be repeated, also with stacks of other projects (organization/project/stack); of
                      --coverage, the first one has the settings
      --coverage      list the secrets of the account, which resource rotates each, when it did last, and whether the
                      value is in the state, in an age file only, or known by its mark only
      --state <file>  with --coverage or --due: also read a state that \`pulumi stack export\` wrote; may be repeated
      --since <date>  with --coverage: also print which are older than a date (2026-04-19, or a time with a zone)
      --due           list what should have been rotated or retired, has failed, or waits
      --grace <time>  with --due: what counts as overdue (default: 24h)
      --markdown      with --due: print a table of what was looked at, for the summary of a job
  -j, --json          print one JSON object
  -h, --help          print this help

Example:
  npx --no pulumi-rekey doctor --stack production
  npx --no pulumi-rekey doctor --coverage --since 2026-04-19 --stack production --state shared.json

Exit codes:
  0  no check found a problem; with --coverage, everything was listed that the settings are for, and nothing is older
     than the date; with --due, nothing is due
  1  a check found a problem, or the command could not be run; with --coverage, a secret is older, of unknown age, or
     may exist without being listed; with --due, something is due
  2  with --due, a state cannot be read, no state has a resource of Rekey, or the command could not be run
`;

const options = {
  stack: { type: "string", short: "s", multiple: true },
  coverage: { type: "boolean" },
  state: { type: "string", multiple: true },
  since: { type: "string" },
  due: { type: "boolean" },
  grace: { type: "string" },
  markdown: { type: "boolean" },
  json: { type: "boolean", short: "j" },
  help: { type: "boolean", short: "h" },
} as const;

/** Runs the command with the arguments of this process. */
export async function run(): Promise<void> {
  try {
    const { values, positionals } = parseArgs({ options, allowPositionals: true });
    if (values.help) return void process.stdout.write(help);
    if (positionals.join(" ") !== "doctor") {
      throw new Error("the only command is `pulumi-rekey doctor`");
    }
    const { report, text, code } = await runDoctor(values);
    process.stdout.write(values.json ? `${JSON.stringify(report, undefined, 2)}\n` : text);
    process.exitCode = code;
  } catch (error) {
    // The message alone: a stack trace does not help a user, and an error object may contain more than its message.
    process.stderr.write(
      `error: ${error instanceof Error ? error.message : String(error)}\nRun \`pulumi-rekey doctor --help\` for the options.\n`,
    );
    process.exitCode = parseArgs({ options, strict: false }).values.due ? 2 : 1;
  }
}

type Values = ReturnType<typeof parseArgs<{ options: typeof options }>>["values"];

/** @throws Error for arguments that cannot be used, before anything is sent */
async function runDoctor(values: Values) {
  const problem = combinationProblem(values) ?? valueProblem(values);
  if (problem !== undefined) throw new Error(problem);
  const cwd = process.cwd();
  const project = findProject(cwd);
  if (values.due) return listDue(cwd, project, values);
  if (values.coverage) return coverAccount(cwd, project, values);
  if (project === undefined) throw new Error(noProject(cwd));
  const [name = ""] = stacksIn(values, project);
  const stack = readStack(project.directory, name);
  const needed = neededServices(project.directory, name);
  const checks = await checkAll(project, stack, needed);
  const healthy = checks.every(({ state }) => state !== "wrong");
  return { report: { healthy, checks }, text: asText(checks), code: healthy ? 0 : 1 };
}

/** Options that do not belong together. */
function combinationProblem(values: Values): string | undefined {
  const { stack = [], state, coverage, due } = values;
  if (due && coverage) return "--coverage cannot be used with --due";
  const needs = { since: "coverage", grace: "due", markdown: "due" } as const;
  for (const [option, needed] of Object.entries(needs)) {
    const isGiven = values[option as keyof typeof needs] !== undefined;
    if (isGiven && !values[needed]) return `--${option} needs --${needed}`;
  }
  if (due || coverage) return undefined;
  if (state) return "--state needs --coverage or --due";
  return stack.length < 2 ? undefined : "--stack can be repeated only with --coverage or --due";
}

function valueProblem({ grace = "0h", since = "2000-01-01" }: Values): string | undefined {
  const problems = {
    grace: () => void readInterval(grace, { orZero: true }),
    since: () => futureProblem(since, new Date()),
  };
  for (const [option, problemOf] of Object.entries(problems)) {
    try {
      const problem = problemOf();
      if (problem !== undefined) return `--${option} ${problem}`;
    } catch (error) {
      return `--${option} ${(error as Error).message}`;
    }
  }
  return undefined;
}

/** The stacks that are named, otherwise the one that is selected. An empty variable counts as not set. */
function stacksIn(
  { stack = [process.env.PULUMI_STACK ?? ""] }: Values,
  project: Project | undefined,
): string[] {
  const named = stack.filter((name) => name !== "");
  return named.length === 0 && project ? [selectedStack(project)] : named;
}

/** Reads states only. */
function listDue(cwd: string, project: Project | undefined, values: Values) {
  const { state = [], grace = "24h", stack } = values;
  const stacks = stack || state.length === 0 ? stacksIn(values, project) : [];
  if (stacks.length + state.length === 0) throw new Error(noProject(cwd));
  const states = [
    ...state.map(readStateFile),
    ...stacks.map((name) => exportStack(project?.directory ?? cwd, name)),
  ];
  const report = findDue(states, grace, new Date());
  const text = values.markdown ? dueMarkdown(report) : dueText(report);
  const isBlind = report.unread.length > 0 || report.lookedAt.length + report.due.length === 0;
  return { report, text, code: isBlind ? 2 : report.due.length > 0 ? 1 : 0 };
}

/** Lists the account of the first stack. Without a project, the environment has its settings. */
async function coverAccount(cwd: string, project: Project | undefined, values: Values) {
  const files = (values.state ?? []).map((file) => stackStateOf(readStateFile(file)));
  const directory = project?.directory ?? cwd;
  const names = stacksIn(values, project);
  const [first] = names;
  const own = first === undefined ? environmentOnly(cwd) : readStack(directory, first);
  const stacks = names.map((name) =>
    stackStateOf(exportStack(directory, name), name === first ? own : undefined),
  );
  const coverage = await cover(own.settings, [...stacks, ...files], values.since);
  const report = {
    ...coverage,
    notes: [...(own.unread ? [own.unread.message] : []), ...coverage.notes],
  };
  return { report, text: coverageText(report), code: report.covered ? 0 : 1 };
}

const marks: Record<Check["state"], string> = {
  ok: "ok     ",
  unchecked: "-      ",
  wrong: "WRONG  ",
};

function asText(checks: readonly Check[]): string {
  const lines = checks.flatMap(({ state, message, fix }) => {
    return [`${marks[state]}${message}`, ...(fix === undefined ? [] : [`       ${fix}`])];
  });
  const count = checks.filter(({ state }) => state === "wrong").length;
  const summary =
    count === 0 ? "No problem was found." : `${count} of ${checks.length} checks found a problem.`;
  return `${[...lines, "", summary].join("\n")}\n`;
}
