import { type Command, InvalidArgumentError, Option } from "commander";
import type * as local from "../platform/index";
import {
  type CredentialDelivery,
  type PlatformOptions,
  type PlatformRequest,
  type PlatformSeed,
} from "../platform/index";
import { asJson, asText } from "./platformOutput";
import { savePlatform } from "./platformSave";

interface Flags {
  readonly port: number;
  readonly host: string;
  readonly database?: string[];
  readonly vectorIndex?: string[];
  readonly searchIndex?: string[];
  readonly flowControlKey?: string[];
  readonly username?: string;
  readonly password?: string;
  readonly queueToken?: string;
  readonly databasePath?: string;
  readonly credentials: CredentialDelivery;
  readonly redis?: true | string;
  readonly seed?: string;
  readonly json?: true;
}

/** Adds `rekey-local platform`, which runs the local platform until it is stopped, and `rekey-local platform save`. */
export function addPlatformCommand(program: Command): void {
  const platformCommand = program
    .command("platform")
    .description(
      "run a local platform for development and tests; it keeps all data in memory and stops with its parent process",
    )
    .option("--port <number>", "port to listen on; 0 selects a free port", port, 0)
    .option("--host <address>", "address to listen on", "127.0.0.1")
    .option("--database <id...>", "ids of the databases (default: db-quickstart and db-sessions)")
    .option("--vector-index <id...>", "ids of the vector indexes (default: idx-vectors)")
    .option("--search-index <id...>", "ids of the search indexes (default: idx-search)")
    .option("--flow-control-key <key...>", "flow-control keys (default: orders and emails)")
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
      "--redis [address]",
      "make each database a user of a real Redis: one that this command starts, or the one at redis://… (default: the platform's own listener, which only knows AUTH and PING)",
    )
    .option(
      "--seed <file>",
      "YAML or JSON file with databases, indexes, flow-control keys and credentials; other options take precedence",
    )
    .option("--json", "print one JSON object per line: first the platform, then each request")
    .action(async (flags: Flags, command: Command) => {
      // Loaded here because no other command needs a server.
      const { PlatformOptionError, readSeed, startPlatform } = require("../platform/index") as typeof local;
      const print = flags.json ? asJson : asText;
      const signalled = new Promise((resolve) =>
        ["SIGINT", "SIGTERM"].forEach((signal) => process.once(signal, resolve)),
      );
      const ended = Promise.race([signalled, parentEnded()]);
      const start = async () => {
        const seed = flags.seed === undefined ? {} : readSeed(flags.seed);
        return startPlatform(platformOptions(flags, seed, (request) => print.request(request)));
      };
      const platform = await start().catch((error: unknown): never => {
        if (error instanceof PlatformOptionError) {
          command.error(`error: ${flagOf(error.option)}: ${error.problem}`);
        }
        throw error;
      });
      print.start(platform);
      await ended;
      await platform.close();
    });

  platformCommand
    .command("save [file]")
    .description(
      "save the state of the running platform, including passwords, as a seed file: JSON if the name ends in .json, else YAML (default: print YAML). Needs REKEY_BASE_URL, REKEY_USERNAME and REKEY_PASSWORD",
    )
    .action(savePlatform);
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

function platformOptions(
  flags: Flags,
  seed: PlatformSeed,
  onRequest: (request: PlatformRequest) => void,
): PlatformOptions {
  return {
    ...seed,
    port: flags.port,
    host: flags.host,
    username: flags.username ?? seed.username,
    password: flags.password ?? seed.password,
    queueToken: flags.queueToken ?? seed.queueToken,
    databases: flags.database ?? seed.databases,
    vectorIndexes: flags.vectorIndex ?? seed.vectorIndexes,
    searchIndexes: flags.searchIndex ?? seed.searchIndexes,
    flowControlKeys: flags.flowControlKey ?? seed.flowControlKeys,
    databasePath: flags.databasePath,
    credentials: flags.credentials,
    redis: flags.redis,
    onRequest,
  };
}

function port(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535) {
    throw new InvalidArgumentError("It must be an integer from 0 to 65535.");
  }
  return Number(text);
}

function flagOf(option: string): string {
  const flags: Record<string, string> = {
    queueToken: "--queue-token",
    databases: "--database",
    vectorIndexes: "--vector-index",
    searchIndexes: "--search-index",
    databasePath: "--database-path",
    flowControlKeys: "--flow-control-key",
  };
  const name = option.replace(/[.[].*/s, "");
  return flags[name] ?? `--${name}`;
}
