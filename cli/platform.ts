import { type Command, InvalidArgumentError, Option } from "commander";
import type * as local from "../local/platform";
import type { CredentialsInAnswer, Platform, PlatformOptions, PlatformRequest } from "../local/platform";

interface Flags {
  readonly port: number;
  readonly host: string;
  readonly database?: string[];
  readonly flowControlKey?: string[];
  readonly username?: string;
  readonly password?: string;
  readonly queueToken?: string;
  readonly credentials: CredentialsInAnswer;
  readonly json?: true;
}

/** Adds `rekey platform`, which runs the local platform until it is told to end. */
export function addPlatformCommand(program: Command): void {
  program
    .command("platform")
    .description("run a local platform for development and tests; it keeps everything in memory")
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
    .option("--json", "print one JSON object a line: first the platform, then each request")
    .action(async (flags: Flags, command: Command) => {
      // Loaded only here: no other command needs a server.
      const { PlatformOptionError, startPlatform } = require("../local/platform") as typeof local;
      const print = flags.json ? asJson : asText;
      const ended = new Promise((resolve) => ["SIGINT", "SIGTERM"].forEach((signal) => process.once(signal, resolve)));
      const options = platformOptions(flags, (request) => print.request(request));
      const platform = await startPlatform(options).catch((error: unknown): never => {
        if (error instanceof PlatformOptionError) {
          command.error(`error: ${flagOf(error.option)}: ${error.problem}`);
        }
        throw error;
      });
      print.start(platform);
      await ended;
      await platform.close();
    });
}

function platformOptions(flags: Flags, onRequest: (request: PlatformRequest) => void): PlatformOptions {
  return {
    port: flags.port,
    host: flags.host,
    username: flags.username,
    password: flags.password,
    queueToken: flags.queueToken,
    databases: flags.database,
    flowControlKeys: flags.flowControlKey,
    credentialsInAnswer: flags.credentials,
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

const asJson = {
  start(platform: Platform): void {
    const { url, username, password, queueToken } = platform;
    line({ url, username, password, queueToken, ...dataOf(platform), environment: environment(platform) });
  },
  request(request: PlatformRequest): void {
    line({ ...request, status: request.status ?? null });
  },
};

const asText = {
  start(platform: Platform): void {
    const { databases, flowControlKeys } = dataOf(platform);
    const variables = Object.entries(environment(platform));
    process.stdout.write(
      [
        `Local platform at ${platform.url} (both interfaces)`,
        "It keeps everything in memory, and is for development and tests.",
        "",
        `  databases          ${databases.join(", ")}`,
        `  flow-control keys  ${flowControlKeys.join(", ")}`,
        `  user name          ${platform.username}`,
        `  password           ${platform.password}`,
        `  queue token        ${platform.queueToken}`,
        "",
        "In a stack:",
        ...configuration(platform).map((setting) => `  pulumi config set ${setting}`),
        "",
        "or in the environment:",
        ...variables.map(([name, value]) => `  export ${name}=${quoted(value)}`),
        "",
        "Ctrl+C ends it. Requests:",
        "",
      ].join("\n"),
    );
  },
  request({ method, path, status }: PlatformRequest): void {
    process.stdout.write(`${method} ${path} → ${status ?? "connection cut"}\n`);
  },
};

function line(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}

function dataOf(platform: Platform): { databases: string[]; flowControlKeys: string[] } {
  return { databases: [...platform.databases.keys()], flowControlKeys: [...platform.flowControlKeys.keys()] };
}

function environment({ url, username, password, queueToken }: Platform): Record<string, string> {
  return {
    REKEY_BASE_URL: url,
    REKEY_QUEUE_URL: url,
    REKEY_USERNAME: username,
    REKEY_PASSWORD: password,
    REKEY_QUEUE_TOKEN: queueToken,
  };
}

function configuration({ url, username, password, queueToken }: Platform): string[] {
  return [
    `rekey:baseUrl ${url}`,
    `rekey:queueUrl ${url}`,
    `rekey:username ${quoted(username)}`,
    `--secret rekey:password ${quoted(password)}`,
    `--secret rekey:queueToken ${quoted(queueToken)}`,
  ];
}

/** A value as one word of a POSIX shell. */
function quoted(value: string): string {
  return /^[\w@%+=:,./-]+$/.test(value) ? value : `'${value.replaceAll("'", "'\\''")}'`;
}
