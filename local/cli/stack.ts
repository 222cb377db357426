import { readFileSync } from "node:fs";
import { createInterface } from "node:readline/promises";
import { type Command, InvalidArgumentError } from "commander";
import type * as engine from "../engine/index";
import { type ExportedDeployment, type LocalStack, type OperationOptions, type OperationResult } from "../engine/index";
import { type findProject } from "../engine/config";
import { writePrivately } from "./privateFile";
import { Progress } from "./progress";

interface StackFlags {
  readonly stack: string;
  readonly cwd: string;
  readonly stateDir?: string;
}

interface OperationFlags extends StackFlags {
  readonly json?: true;
  readonly parallel?: number;
  readonly yes?: true;
  readonly skipPreview?: true;
  readonly refresh?: true;
  readonly diff?: true;
  readonly clearPendingCreates?: true;
}

type Run = (stack: LocalStack, flags: OperationFlags, options: OperationOptions) => Promise<OperationResult>;

/**
 * Adds the commands of `pulumi` that the local engine supports, with the same names. They need neither the `pulumi` CLI
 * nor an account.
 */
export function addStackCommands(program: Command): void {
  program.configureOutput({
    outputError: (text, write) => {
      const unknown = /unknown (option|command) '([^']*)'/.exec(text)?.[2];
      const problem = "is not supported by the local engine. Check the spelling, or use the `pulumi` CLI";
      write(unknown === undefined ? text : `error: ${unknown} ${problem}. See: rekey-local --help\n`);
    },
  });

  operation(program, "preview", "show what `up` would do")
    .option("-r, --refresh", "refresh the state before the operation")
    .option("--diff", "show the changed inputs of each resource")
    .action(async (flags: OperationFlags) => void (await operate(flags, previews.up)));
  operation(program, "up", "create, update and delete resources as the program declares")
    .alias("update")
    .option("-r, --refresh", "refresh the state before the operation")
    .option("--diff", "show the changed inputs of each resource")
    .action((flags: OperationFlags) =>
      change(flags, "update", previews.up, (s, f, o) => s.up({ ...o, refresh: f.refresh })),
    );
  operation(program, "refresh", "read the actual state of every resource")
    .option("--clear-pending-creates", "forget resource creations that were interrupted")
    .action((flags: OperationFlags) =>
      change(flags, "refresh", previews.refresh, (s, f, o) =>
        s.refresh({ ...o, clearPendingCreates: f.clearPendingCreates }),
      ),
    );
  operation(program, "destroy", "delete all resources of the stack")
    .option("-r, --refresh", "refresh the state before the operation")
    .action((flags: OperationFlags) =>
      change(flags, "destroy", previews.destroy, (s, f, o) => s.destroy({ ...o, refresh: f.refresh })),
    );
  stackCommand(program, "output [name]", "show the stack's outputs")
    .option("-j, --json", "print JSON")
    .option("--show-secrets", "show secrets in plain text")
    .action(showOutputs);
  stackCommand(program, "export", "print the state in the format of `pulumi stack export`")
    .option("--file <path>", "output file (default: standard output)")
    .option("--show-secrets", "include secrets in plain text")
    .action(async (flags: StackFlags & { file?: string; showSecrets?: true }) => {
      const exported = await (await open(flags)).exportStack({ showSecrets: flags.showSecrets });
      const text = `${JSON.stringify(exported, undefined, 4)}\n`;
      if (flags.file === undefined) process.stdout.write(text);
      else writeFile(flags.file, text);
    });
  stackCommand(program, "import", "replace the state with an exported one, as `pulumi stack import` does")
    .option("--file <path>", "input file (default: standard input)")
    .action(async (flags: StackFlags & { file?: string }) => {
      const exported = readExported(flags.file);
      await (await open(flags)).importStack(exported);
      process.stdout.write("Import complete.\n");
    });
  addConfigCommands(program);
}

function addConfigCommands(program: Command): void {
  type ConfigFlags = StackFlags & { json?: true; showSecrets?: true; secret?: true; plaintext?: true };
  const config = stackCommand(program, "config", "show and change the settings of the stack")
    .option("-j, --json", "print JSON")
    .option("--show-secrets", "show secrets in plain text");
  const list = async (flags: ConfigFlags): Promise<void> => {
    const settings = Object.entries(await (await open(flags)).getAllConfig()).sort();
    const shown = settings.map(([key, { value, secret }]) => {
      return { key, secret, value: secret && !flags.showSecrets ? undefined : value };
    });
    if (flags.json) printJson(Object.fromEntries(shown.map(({ key, ...about }) => [key, about])));
    else table([["KEY", "VALUE"], ...shown.map(({ key, value }) => [key, value ?? "[secret]"])]);
  };
  config.action(list);
  config
    .command("ls")
    .description("list all settings")
    .action((_, command: Command) => list(command.optsWithGlobals()));
  config
    .command("set <key> [value]")
    .description("set a setting; without a value, read it from standard input")
    .option("--secret", "encrypt the value")
    .option("--plaintext", "do not encrypt the value")
    .action(async (key: string, value: string | undefined, _: unknown, command: Command) => {
      const flags: ConfigFlags = command.optsWithGlobals();
      const text = value ?? readFileSync(0, "utf8").replace(/\r?\n$/, "");
      await (await open(flags)).setConfig(key, text, { secret: flags.secret });
    });
  config
    .command("get <key>")
    .description("print a setting; secrets are printed in plain text")
    .action(async (key: string, _: unknown, command: Command) => {
      const flags: ConfigFlags = command.optsWithGlobals();
      const stack = await open(flags);
      const found = (await stack.getAllConfig())[stack.configKey(key)];
      if (!found) throw new Error(`configuration key '${key}' not found for stack '${flags.stack}'`);
      process.stdout.write(`${found.value}\n`);
    });
  config
    .command("rm <key>")
    .description("remove a setting")
    .action(async (key: string, _: unknown, command: Command) => {
      const flags: ConfigFlags = command.optsWithGlobals();
      const removed = await (await open(flags)).removeConfig(key);
      if (!removed) throw new Error(`configuration key '${key}' not found for stack '${flags.stack}'`);
    });
}

function stackCommand(program: Command, name: string, description: string): Command {
  return program
    .command(name)
    .description(description)
    .option("-s, --stack <name>", "name of the stack", process.env.PULUMI_STACK ?? "dev")
    .option("-C, --cwd <path>", "the project folder, or a folder in it", ".")
    .option("--state-dir <path>", "folder of the state (default: .rekey in the project folder)");
}

function operation(program: Command, name: string, description: string): Command {
  return stackCommand(program, name, description)
    .option("-y, --yes", "do not ask for confirmation")
    .option("-f, --skip-preview", "do not show a preview first")
    .option("-p, --parallel <number>", "number of resources to process at the same time", count)
    .option("-j, --json", "print one JSON object");
}

function count(text: string): number {
  if (!/^[1-9]\d*$/.test(text)) throw new InvalidArgumentError("It must be an integer of at least 1.");
  return Number(text);
}

const previews: Record<"up" | "refresh" | "destroy", Run> = {
  up: (stack, flags, options) => stack.preview({ ...options, refresh: flags.refresh }),
  refresh: (stack, _, options) => stack.refresh({ ...options, preview: true }),
  destroy: (stack, flags, options) => stack.destroy({ ...options, refresh: flags.refresh, preview: true }),
};

/** Shows a preview, asks for confirmation, and runs the operation. */
async function change(flags: OperationFlags, what: string, preview: Run, run: Run): Promise<void> {
  const mayAsk = process.stdin.isTTY && process.stdout.isTTY && !flags.json;
  if (!flags.yes && !flags.skipPreview && !mayAsk) {
    throw new Error("--yes or --skip-preview must be passed in to proceed when running in non-interactive mode");
  }
  if (!flags.skipPreview) {
    if (!flags.json) process.stdout.write(`Previewing ${what} (${flags.stack}):\n`);
    const succeeded = await operate(flags, preview, flags.json);
    if (!succeeded) return;
    if (!flags.json) process.stdout.write("\n");
  }
  if (!flags.yes && !(flags.skipPreview && !mayAsk)) {
    const terminal = createInterface({ input: process.stdin, output: process.stdout });
    const answer = await terminal.question(`Do you want to perform this ${what}? (yes/no) `);
    terminal.close();
    if (answer.trim().toLowerCase() !== "yes") {
      throw new Error(`confirmation declined, not proceeding with the ${what}`);
    }
  }
  if (!flags.json) {
    process.stdout.write(
      `${what === "update" ? "Updating" : what === "destroy" ? "Destroying" : "Refreshing"} (${flags.stack}):\n`,
    );
  }
  await operate(flags, run);
}

/** What an unsaved change means for the resources of pulumi-rekey, which the engine does not know. */
const unsavedChangeAdvice =
  "If a password was being reset, the password may have been changed, and the new one is not saved: the next `up` resets it again.";

/** Printed on the first ^C. */
const cancelling =
  "^C received; cancelling. Running operations will finish first. A second ^C terminates immediately and leaves pending operations. " +
  unsavedChangeAdvice;

/** Runs one operation and prints its result. @param quiet whether to print only a failure */
async function operate(flags: OperationFlags, run: Run, quiet = false): Promise<boolean> {
  const { OperationError } = require("../engine/index") as typeof engine;
  const stack = await open(flags);
  const progress = new Progress(process.stdout, flags.json === true, flags.diff === true);
  const interrupt = new AbortController();
  const onSignal = (): void => {
    // The first ^C cancels the operation. The second ends this process, and with it the providers.
    if (interrupt.signal.aborted) process.exit(1);
    process.stderr.write(`\n${cancelling}\n`);
    interrupt.abort();
  };
  process.on("SIGINT", onSignal).on("SIGTERM", onSignal);
  try {
    const { parallel, diff } = flags;
    const result = await run(stack, flags, { ...progress.options, parallel, diff, signal: interrupt.signal });
    if (flags.json && !quiet) printJson(progress.toJson(result));
    return true;
  } catch (error) {
    if (!(error instanceof OperationError)) throw error;
    if (flags.json) printJson(progress.toJson(error));
    process.exitCode = 1;
    return false;
  } finally {
    progress.end();
    process.off("SIGINT", onSignal).off("SIGTERM", onSignal);
  }
}

async function showOutputs(
  name: string | undefined,
  flags: StackFlags & { json?: true; showSecrets?: true },
): Promise<void> {
  const outputs = await (await open(flags)).outputs();
  const shown = Object.entries(outputs).map(([key, { value, secret }]): [string, unknown] => {
    return [key, secret && !flags.showSecrets ? "[secret]" : value];
  });
  if (name !== undefined) {
    const found = shown.find(([key]) => key === name);
    if (!found) throw new Error(`current stack does not have output property '${name}'`);
    if (flags.json) printJson(found[1]);
    else process.stdout.write(`${asText(found[1])}\n`);
  } else if (flags.json) printJson(Object.fromEntries(shown));
  else if (shown.length === 0) process.stdout.write("No output values currently in this stack\n");
  else {
    process.stdout.write(`Current stack outputs (${shown.length}):\n`);
    table([["OUTPUT", "VALUE"], ...shown.map(([key, value]) => [key, asText(value)])], "    ");
  }
}

async function open(flags: StackFlags): Promise<LocalStack> {
  // Loaded here because no other command needs an engine.
  const { LocalStack } = require("../engine/index") as typeof engine;
  const config = require("../engine/config") as { findProject: typeof findProject };
  const { cwd, stack, stateDir } = flags;
  return LocalStack.open({ projectDir: config.findProject(cwd), stack, stateDir, unsavedChangeAdvice });
}

function asText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function readExported(file?: string): ExportedDeployment {
  try {
    return JSON.parse(readFileSync(file ?? 0, "utf8")) as ExportedDeployment;
  } catch (error) {
    const why = `--file: ${file ?? "standard input"} cannot be read as JSON: ${(error as Error).message}`;
    throw new Error(`${why}. Nothing was imported. Use a file that \`pulumi stack export\` wrote`, { cause: error });
  }
}

function writeFile(file: string, text: string): void {
  try {
    writePrivately(file, text);
  } catch (error) {
    const why = `--file: ${file} cannot be written: ${(error as Error).message}`;
    throw new Error(`${why}. Nothing was exported. Choose another file`, { cause: error });
  }
}

function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value, undefined, 2)}\n`);
}

function table(rows: readonly (readonly string[])[], indent = ""): void {
  const width = Math.max(...rows.map(([first]) => first?.length ?? 0));
  for (const [first = "", second = ""] of rows) process.stdout.write(`${indent}${first.padEnd(width)}  ${second}\n`);
}
