import { type Command, InvalidArgumentError, Option } from "commander";
import type * as local from "../platform/index";
import {
  type CredentialsInAnswer,
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
  readonly flowControlKey?: string[];
  readonly username?: string;
  readonly password?: string;
  readonly queueToken?: string;
  readonly credentials: CredentialsInAnswer;
  readonly redis?: true | string;
  readonly seed?: string;
  readonly json?: true;
}

/**
 * Adds `rekey-local platform`, which runs the local platform until it is told to end, and `rekey-local platform save`.
 */
export function addPlatformCommand(program: Command): void {
  const platformCommand = program
    .command("platform")
    .description(
      "run a local platform for development and tests; it keeps everything in memory, and ends with the process that started it",
    )
    .option("--port <number>", "port to listen at; 0 takes a free one", port, 0)
    .option("--host <address>", "address to listen at", "127.0.0.1")
    .option("--database <id...>", "databases to have (default: db-quickstart and db-sessions)")
    .option("--flow-control-key <key...>", "flow-control keys to have (default: orders and emails)")
    .option("--username <name>", "user name of the management interface (default: random)")
    .option("--password <password>", "password of the management interface (default: random)")
    .option("--queue-token <token>", "token of the queue interface (default: random)")
    .addOption(
      new Option("--credentials <when>", "whether a password reset answers the new credentials")
        .choices(["never", "always"])
        .default("never"),
    )
    .option(
      "--redis [address]",
      "make each database a user of a real Redis: of a redis-server started for it, or of the one at redis://…",
    )
    .option(
      "--seed <file>",
      "databases, flow-control keys and credentials to begin with, YAML or JSON; other flags win over it",
    )
    .option("--json", "print one JSON object a line: first the platform, then each request")
    .action(async (flags: Flags, command: Command) => {
      // Loaded only here: no other command needs a server.
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
      "save the running platform as a seed file, passwords included, JSON or YAML by its name (default: print YAML); it is the one of REKEY_BASE_URL, REKEY_USERNAME and REKEY_PASSWORD",
    )
    .action(savePlatform);
}

/**
 * Resolves when the process that started this one has ended: npx, for one, ends at a signal that does not reach its
 * child.
 */
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
    flowControlKeys: flags.flowControlKey ?? seed.flowControlKeys,
    credentialsInAnswer: flags.credentials,
    redis: flags.redis,
    onRequest,
  };
}

function port(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535) {
    throw new InvalidArgumentError("It must be a whole number from 0 to 65535.");
  }
  return Number(text);
}

function flagOf(option: string): string {
  const flags: Record<string, string> = {
    queueToken: "--queue-token",
    databases: "--database",
    flowControlKeys: "--flow-control-key",
  };
  const name = option.replace(/[.[].*/s, "");
  return flags[name] ?? `--${name}`;
}
