import { type Command } from "commander";
import { type Check } from "./doctor/check";
import { examine } from "./doctor/examine";

interface Flags {
  readonly stack: string;
  readonly cwd: string;
  readonly json?: true;
}

/** Adds `rekey doctor`, which looks at all that a project needs before its first `up`. */
export function addDoctorCommand(program: Command): void {
  program
    .command("doctor")
    .description("check a project's settings, installation and way to the platform; nothing is changed")
    .option("-s, --stack <name>", "the stack", process.env.PULUMI_STACK ?? "dev")
    .option("-C, --cwd <path>", "the project's folder, or one below it", ".")
    .option("-j, --json", "print one JSON object")
    .action(async ({ cwd, stack, json }: Flags) => {
      const checks = await examine(cwd, stack, process.env);
      const healthy = checks.every(({ state }) => state !== "wrong");
      process.stdout.write(json ? `${JSON.stringify({ healthy, checks }, undefined, 2)}\n` : asText(checks));
      process.exitCode = healthy ? 0 : 1;
    });
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
