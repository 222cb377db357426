#!/usr/bin/env node
import { Command } from "commander";
import { addDoctorCommand } from "./doctor";
import { addLocalCommands } from "./local";
import { addPlatformCommand } from "./platform";

// Through the package's own name, which is found from the sources and from the build alike.
const { version } = require("pulumi-rekey/package.json") as { version: string };

const program = new Command("rekey").version(version).description("tools of the Pulumi provider Rekey");
addPlatformCommand(program);
addLocalCommands(program);
addDoctorCommand(program);

program.parseAsync().catch((error: unknown) => {
  // The message alone: a stack trace says nothing to somebody who didn't write this, and errors may carry more than they show.
  process.stderr.write(`error: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
