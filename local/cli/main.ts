import { Command } from "commander";
import { addPlatformCommand } from "./platform";
import { addStackCommands } from "./stack";

// The package's own name resolves from both the sources and the build.
const { version } = require("rekey-local/package.json") as { version: string };

const more = `
Examples:
  rekey-local platform --database sessions          run a platform with one database
  rekey-local platform save platform.yaml           save its state, including passwords
  rekey-local config set rekey:baseUrl http://127.0.0.1:49152
  rekey-local preview --diff                        show the planned changes
  rekey-local up --yes                              deploy without asking
  rekey-local refresh --yes                         read the actual state of every resource
  rekey-local output password --show-secrets        print one output
  rekey-local export --file state.json              save the state
  rekey-local import --file state.json              restore it
  rekey-local destroy --yes                         delete all resources

Exit codes:
  0  success; for \`platform\` also after Ctrl+C
  1  invalid usage, a failed or cancelled operation, or a declined confirmation

NO_COLOR=1 disables colours. \`rekey-local <command> --help\` lists the options of a command.
`;

const program = new Command("rekey-local")
  .version(version)
  .description(
    "Runs a Pulumi program, and the platform that pulumi-rekey needs, on this machine. For development and tests.",
  )
  .addHelpText("after", more);
addPlatformCommand(program);
addStackCommands(program);

program.parseAsync().catch((error: unknown) => {
  // Only the message: a stack trace does not help users, and an error object may contain secrets.
  process.stderr.write(`error: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
