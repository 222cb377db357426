import { Command } from "commander";
import { addPlatformCommand } from "./platform";

// The package's own name resolves from both the sources and the build.
const { version } = require("rekey-local/package.json") as { version: string };

const more = `
Examples:
  rekey-local platform --database sessions          run a platform with one database

Exit codes:
  0  success; for \`platform\` also after Ctrl+C
  1  invalid usage, or a failure

\`rekey-local <command> --help\` lists the options of a command.
`;

const program = new Command("rekey-local")
  .version(version)
  .description("Runs the platform that pulumi-rekey needs, on this machine. For development and tests.")
  .addHelpText("after", more);
addPlatformCommand(program);

program.parseAsync().catch((error: unknown) => {
  // Only the message: a stack trace does not help users, and an error object may contain secrets.
  process.stderr.write(`error: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
