import { parseArgs } from "node:util";
import { idProblem, orUndefined } from "../records/fields";
import { isFuture, readDate } from "../rotation/schedule";
import { type Check, checkAll } from "./checks";
import { cover, coverageText } from "./coverage";
import {
  environmentOnly,
  findProject,
  noProject,
  type Project,
  readStack,
  selectedStack,
} from "./project";
import { neededServices, readStackState, readStateFile } from "./stackState";

const help = `Usage: pulumi-rekey doctor [options]

Checks the settings and the installation of the project in this folder, and its connection to the platform. Changes nothing.
With --coverage, lists every secret of the account that can be rotated, and what stacks know about it, instead.

  -s, --stack <name>  the stack (default: PULUMI_STACK, else the one that is selected, else dev). With --coverage, it may
                      be repeated, also with stacks of other projects (organization/project/stack); the first one has
                      the settings
  -d, --database <id> also read this database, without its credentials
      --coverage      list the secrets of the account, which resource rotates each, when it did last, and whether the
                      value is in the state, in an age file only, or known by its mark only
      --state <file>  with --coverage: also compare a state that \`pulumi stack export\` wrote; may be repeated
      --since <date>  with --coverage: also print which are older than a date (2026-04-19, or a time with a zone)
  -j, --json          print one JSON object
  -h, --help          print this help

Example:
  npx --no pulumi-rekey doctor --stack production --database db-sessions
  npx --no pulumi-rekey doctor --coverage --since 2026-04-19 --stack production --state shared.json

Exit codes:
  0  no check found a problem; with --coverage, everything was listed that the settings are for, and nothing is older
     than the date
  1  a check found a problem, or the command could not be run; with --coverage, a secret is older, of unknown age, or
     may exist without being listed
`;

const options = {
  stack: { type: "string", short: "s", multiple: true },
  database: { type: "string", short: "d" },
  coverage: { type: "boolean", default: false },
  state: { type: "string", multiple: true },
  since: { type: "string" },
  json: { type: "boolean", short: "j", default: false },
  help: { type: "boolean", short: "h", default: false },
} as const;

/** Runs the command with the arguments of this process. */
export async function run(): Promise<void> {
  try {
    const { values, positionals } = parseArgs({ options, allowPositionals: true });
    if (values.help) return void process.stdout.write(help);
    if (positionals.join(" ") !== "doctor") {
      throw new Error("the only command is `pulumi-rekey doctor`");
    }
    const { report, text, isGood } = await runDoctor(values);
    process.stdout.write(values.json ? `${JSON.stringify(report, undefined, 2)}\n` : text);
    process.exitCode = isGood ? 0 : 1;
  } catch (error) {
    // The message alone: a stack trace does not help a user, and an error object may contain more than its message.
    process.stderr.write(
      `error: ${error instanceof Error ? error.message : String(error)}\n${help}`,
    );
    process.exitCode = 1;
  }
}

type Values = ReturnType<typeof parseArgs<{ options: typeof options }>>["values"];

/** @throws Error for arguments that cannot be used, before anything is sent */
async function runDoctor(values: Values) {
  const problem = values.coverage ? coverageProblem(values) : checkProblem(values);
  if (problem !== undefined) throw new Error(problem);
  const cwd = process.cwd();
  const project = findProject(cwd);
  if (values.coverage) return coverAccount(cwd, project, values);
  if (project === undefined) throw new Error(noProject(cwd));
  const [name = selectedStack(project)] = stacksIn(values);
  const stack = readStack(project.directory, name);
  const needed = neededServices(project.directory, name);
  const checks = await checkAll(project, stack, needed, values.database);
  const healthy = checks.every(({ state }) => state !== "wrong");
  return { report: { healthy, checks }, text: asText(checks), isGood: healthy };
}

function checkProblem({ stack = [], state = [], database, since }: Values): string | undefined {
  if (since !== undefined) return "--since needs --coverage";
  if (state.length > 0) return "--state needs --coverage";
  if (stack.length > 1) return "--stack can be repeated only with --coverage";
  const problem = database === undefined ? undefined : idProblem(database);
  return problem === undefined ? undefined : `--database ${problem}`;
}

function coverageProblem({ database, since }: Values): string | undefined {
  if (database !== undefined) return "--database cannot be used with --coverage";
  const date = since === undefined ? new Date(0) : orUndefined(() => readDate(since));
  if (!date) {
    return "--since must be a date (2026-04-19), or a time with a zone (2026-04-19T18:30:00Z)";
  }
  const now = new Date();
  if (!isFuture(date.toISOString(), now)) return undefined;
  return `--since must not be more than five minutes in the future: by this machine's clock, it is ${now.toISOString()}`;
}

/** The stacks that are named. An empty variable counts as not set. */
function stacksIn({ stack = [process.env.PULUMI_STACK ?? ""] }: Values): string[] {
  return stack.filter((name) => name !== "");
}

/** Lists the account of the first stack. Without a project, the environment has its settings. */
async function coverAccount(cwd: string, project: Project | undefined, values: Values) {
  const files = (values.state ?? []).map(readStateFile);
  const directory = project?.directory ?? cwd;
  const named = stacksIn(values);
  const names = named.length === 0 && project ? [selectedStack(project)] : named;
  const [first] = names;
  const own = first === undefined ? environmentOnly(cwd) : readStack(directory, first);
  const stacks = names.map((name) =>
    readStackState(directory, name, name === first ? own : undefined),
  );
  const coverage = await cover(own.settings, [...stacks, ...files], values.since);
  const report = {
    ...coverage,
    notes: [...(own.unread ? [own.unread.message] : []), ...coverage.notes],
  };
  return { report, text: coverageText(report), isGood: report.covered };
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
