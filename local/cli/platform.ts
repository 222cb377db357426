import { type Command, InvalidArgumentError, Option } from "commander";
import type * as local from "../platform/index";
import { type CredentialDelivery, type PlatformOptions, type PlatformSeed } from "../platform/index";
import { printPlatform, printRequest } from "./platformOutput";

interface Flags {
  readonly port: number;
  readonly database?: string[];
  readonly username?: string;
  readonly password?: string;
  readonly queueToken?: string;
  readonly databasePath?: string;
  readonly credentials: CredentialDelivery;
  readonly redis?: string;
  readonly seed?: string;
}

/** Adds `rekey-local platform`, which runs the local platform until it is stopped. */
export function addPlatformCommand(program: Command): void {
  program
    .command("platform")
    .description(
      "run a local platform for development and tests; it keeps all data in memory and stops with its parent process",
    )
    .option("--port <number>", "port to listen on; 0 selects a free port", port, 0)
    .option("--database <id...>", "ids of the databases (default: db-quickstart and db-sessions)")
    .option("--username <name>", "user name of the management interface (default: random)")
    .option("--password <password>", "password of the management interface (default: random)")
    .option("--queue-token <token>", "token of the message queue (default: random)")
    .option(
      "--database-path <path>",
      "path of an operation that reads a database, such as /v2/redis/database/{id} (default: no such operation)",
    )
    .addOption(
      new Option(
        "--credentials <when>",
        "which responses contain passwords, tokens and signing keys: to a reset and a read, only to a read, only to a reset, or none",
      )
        .choices(["always", "read", "once", "never"])
        .default("always"),
    )
    .option(
      "--redis <url>",
      "make each database a user of the Redis at redis://… (default: the platform's own listener, which only knows AUTH, PING and ACL)",
    )
    .option(
      "--seed <file>",
      "YAML or JSON file with databases, indexes, queue users, flow-control keys and credentials; other options take precedence",
    )
    .action(async (flags: Flags, command: Command) => {
      // Loaded here because help and errors of the command line need no server.
      const { PlatformOptionError, readSeed, startPlatform } = require("../platform/index") as typeof local;
      const signalled = new Promise((resolve) =>
        ["SIGINT", "SIGTERM"].forEach((signal) => process.once(signal, resolve)),
      );
      const ended = Promise.race([signalled, parentEnded()]);
      const start = async () =>
        startPlatform(platformOptions(flags, flags.seed === undefined ? {} : readSeed(flags.seed)));
      const platform = await start().catch((error: unknown): never => {
        if (error instanceof PlatformOptionError) command.error(`error: ${flagOf(error.option)}: ${error.problem}`);
        throw error;
      });
      printPlatform(platform, flags.databasePath);
      await ended;
      await platform.close();
    });
}

/** Resolves when the parent process has ended. npx, for example, ends on a signal that does not reach its child. */
function parentEnded(): Promise<void> {
  const parent = process.ppid;
  return new Promise((resolve) => {
    const timer = setInterval(() => {
      if (process.ppid === parent) return;
      clearInterval(timer);
      resolve();
    }, 200).unref();
  });
}

function platformOptions({ database, seed: _, ...flags }: Flags, seed: PlatformSeed): PlatformOptions {
  return { ...seed, ...flags, databases: database ?? seed.databases, onRequest: printRequest };
}

function port(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535) {
    throw new InvalidArgumentError("It must be an integer from 0 to 65535.");
  }
  return Number(text);
}

function flagOf(option: string): string {
  const name = option.replace(/[.[].*/s, "");
  return name === "databases" ? "--database" : `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}
