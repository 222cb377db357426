import { type Platform, type PlatformRequest } from "../platform/index";

/** Prints what the platform has, and the settings for it. @param databasePath that of the operation, if there is one */
export function printPlatform(platform: Platform, databasePath?: string): void {
  const { databases, vectorIndexes, searchIndexes, queueUsers, flowControlKeys } = platform;
  const { url, username, password, queueToken } = platform;
  const pathIn = (start: string): string => (databasePath === undefined ? "" : `\n${start}${quoted(databasePath)}`);
  const names = (all: ReadonlyMap<string, unknown>): string => [...all.keys()].join(", ");
  process.stdout.write(`Local platform at ${url} (management interface and message queue)
For development and tests. It keeps all data in memory.

  databases          ${names(databases)}
  vector indexes     ${names(vectorIndexes)}
  search indexes     ${names(searchIndexes)}
  flow-control keys  ${names(flowControlKeys)}
  queue users        ${names(queueUsers)}

Settings for a stack:
  pulumi config set rekey:baseUrl ${url}
  pulumi config set rekey:queueUrl ${url}
  pulumi config set rekey:username ${quoted(username)}
  pulumi config set --secret rekey:password ${quoted(password)}
  pulumi config set --secret rekey:queueToken ${quoted(queueToken)}${pathIn("  pulumi config set rekey:databasePath ")}

or for the environment:
  export REKEY_BASE_URL=${url}
  export REKEY_QUEUE_URL=${url}
  export REKEY_USERNAME=${quoted(username)}
  export REKEY_PASSWORD=${quoted(password)}
  export REKEY_QUEUE_TOKEN=${quoted(queueToken)}${pathIn("  export REKEY_DATABASE_PATH=")}

Press Ctrl+C to stop. Requests:
`);
}

export function printRequest({ method, path, status }: PlatformRequest): void {
  process.stdout.write(`${method} ${path} → ${status ?? "connection cut"}\n`);
}

/** A value quoted for a POSIX shell. */
function quoted(value: string): string {
  return /^[\w@%+=:,./-]+$/.test(value) ? value : `'${value.replaceAll("'", "'\\''")}'`;
}
