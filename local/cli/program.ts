import { Command } from "commander";
import { addPlatformCommand } from "./platform";

// The package's own name resolves from both the sources and the build.
const { version } = require("rekey-local/package.json") as { version: string };

const more = `
Example:
  rekey-local platform --database sessions   run a platform with one database

Exit codes:
  0  success; for \`platform\` also after Ctrl+C
  1  invalid usage, or a failure

\`rekey-local platform --help\` lists the options.
`;

export function createProgram(): Command {
  const program = new Command("rekey-local")
    .version(version)
    .description("Runs the platform that pulumi-rekey needs, on this machine. For development and tests.")
    .addHelpText("after", more);
  addPlatformCommand(program);
  return program;
}
