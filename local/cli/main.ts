import { Command } from "commander";
import { addPlatformCommand } from "./platform";
import { addStackCommands } from "./stack";

// Through the package's own name, which is found from the sources and from the build alike.
const { version } = require("rekey-local/package.json") as { version: string };

const program = new Command("rekey-local")
  .version(version)
  .description(
    "runs a Pulumi program, and the platform that pulumi-rekey talks to, on this machine; for development and tests",
  );
addPlatformCommand(program);
addStackCommands(program);

program.parseAsync().catch((error: unknown) => {
  // The message alone: a stack trace says nothing to somebody who didn't write this, and errors may carry more than
  // they show.
  process.stderr.write(`error: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
