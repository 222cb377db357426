import { type Platform, type PlatformRequest } from "../platform/index";

export const asJson = {
  start(platform: Platform): void {
    const { url, username, password, queueToken, redisUrl } = platform;
    const printed = { url, username, password, queueToken, redisUrl, ...dataOf(platform) };
    line({ ...printed, environment: environment(platform) });
  },
  request(request: PlatformRequest): void {
    line({ ...request, status: request.status ?? null });
  },
};

export const asText = {
  start(platform: Platform): void {
    const { databases, vectorIndexes, searchIndexes, queueUsers, flowControlKeys } = dataOf(platform);
    const variables = Object.entries(environment(platform));
    process.stdout.write(
      [
        `Local platform at ${platform.url} (management interface and message queue)`,
        "For development and tests. It keeps all data in memory; `rekey-local platform save` saves it to a file.",
        "",
        `  databases          ${databases.join(", ")}`,
        ...(platform.redisUrl ? [`  Redis              ${platform.redisUrl}, user rekey-<database>`] : []),
        `  vector indexes     ${vectorIndexes.join(", ")}`,
        `  search indexes     ${searchIndexes.join(", ")}`,
        `  flow-control keys  ${flowControlKeys.join(", ")}`,
        `  queue users        ${queueUsers.join(", ")}`,
        `  user name          ${platform.username}`,
        `  password           ${platform.password}`,
        `  queue token        ${platform.queueToken}`,
        "",
        "Settings for a stack:",
        ...configuration(platform).map((setting) => `  pulumi config set ${setting}`),
        "",
        "or for the environment:",
        ...variables.map(([name, value]) => `  export ${name}=${quoted(value)}`),
        "",
        "Press Ctrl+C to stop. Requests:",
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

/** The ids and names of what the platform has. */
function dataOf(platform: Platform) {
  return {
    databases: [...platform.databases.keys()],
    vectorIndexes: [...platform.vectorIndexes.keys()],
    searchIndexes: [...platform.searchIndexes.keys()],
    queueUsers: [...platform.queueUsers.keys()],
    flowControlKeys: [...platform.flowControlKeys.keys()],
  };
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

/** A value quoted for a POSIX shell. */
function quoted(value: string): string {
  return /^[\w@%+=:,./-]+$/.test(value) ? value : `'${value.replaceAll("'", "'\\''")}'`;
}
