import assert from "node:assert/strict";
import { Receiver } from "@upstash/qstash";
import { type Platform } from "../../local/platform/index";
import { queue } from "../local/platform/client";
import { Destination } from "../local/platform/queue/destination";
import { type Team } from "./age";
import { type Rekey, type Result, valuesOf } from "./engineStack";
import { databaseReply } from "./redis";
import { databasePath } from "./resources";
import { type Properties } from "./wire";

export const userId = "00000000-0000-4000-8000-000000000001";

interface Arguments {
  readonly version: number;
  readonly saveCredentials?: boolean;
  readonly encryptFor?: string[];
}

/** Declares each kind of secret, and a fleet. Its outputs are what is encrypted of them. */
export function declareEverySecret(
  rekey: Rekey,
  all: Arguments,
  options: (name: "single" | "vector" | "search" | "queue" | "keys") => object = () => ({}),
) {
  const made = {
    single: new rekey.PasswordRotation("single", { databaseId: "db-single", ...all }, options("single")),
    vector: new rekey.VectorTokenRotation("vector", { indexId: "idx-vectors", ...all }, options("vector")),
    search: new rekey.SearchTokenRotation("search", { indexId: "idx-search", ...all }, options("search")),
    queue: new rekey.QueueTokenRotation("queue", { queueUserId: userId, ...all }, options("queue")),
    keys: new rekey.SigningKeyRotation("keys", { minInterval: "0s", ...all }, options("keys")),
  };
  const databases = { a: "db-a", b: "db-b" };
  const fleet = new rekey.PasswordRotationFleet("fleet", { databases, includeRecords: true, ...all });
  const files = Object.entries(made).map(([name, { encryptedCredentials }]) => [name, encryptedCredentials] as const);
  return { made, fleet, outputs: { ...Object.fromEntries(files), fleet: fleet.encryptedCredentials } };
}

export const databases = ["db-single", "db-a", "db-b"];

/** The credentials of one secret at the platform, by the names of the outputs. */
const credentialsAt = {
  database: (platform: Platform, id: string) => {
    const { password, restToken, readOnlyRestToken } = platform.database(id);
    return { password, restToken, readOnlyRestToken };
  },
  vectorIndex: (platform: Platform, id: string) => tokensOf(platform.vectorIndexes.get(id)),
  searchIndex: (platform: Platform, id: string) => tokensOf(platform.searchIndexes.get(id)),
  queueUser: (platform: Platform, id: string) => tokensOf(platform.queueUsers.get(id)),
  signingKeys: ({ signingKeys: { current, next } }: Platform) => ({ currentKey: current, nextKey: next }),
};

function tokensOf(resource: { readonly token: string; readonly readOnlyToken: string } | undefined) {
  assert.ok(resource);
  const { token, readOnlyToken } = resource;
  return { token, readOnlyToken };
}

/** Sends a request with credentials, which the platform must accept. */
const useCredentials = {
  database: async (platform: Platform, { databaseId, password, connectionUrl }: Properties): Promise<void> => {
    const { record } = platform.database(String(databaseId));
    const reply = await databaseReply(record, ["AUTH", String(password)], ["PING"]);
    assert.equal(reply, "+OK\r\n+PONG\r\n");
    // A fleet does not save records: its URL is not known if it is encrypted later.
    if (connectionUrl === undefined && databaseId !== "db-single") return;
    assert.equal(
      connectionUrl,
      `redis://default:${String(password)}@${String(record.endpoint)}:${String(record["port"])}`,
    );
  },
  index: async (_platform: Platform, { restUrl, token }: Properties): Promise<void> => {
    await accepts(`${String(restUrl)}/info`, token);
  },
  queueUser: async ({ url }: Platform, { token, readOnlyToken }: Properties): Promise<void> => {
    for (const one of [token, readOnlyToken]) await accepts(`${url}/v2/flowControl`, one);
  },
  /** A receiver that knows these keys accepts a message. */
  signingKeys: async (platform: Platform, { currentKey, nextKey }: Properties): Promise<void> => {
    const destination = await new Destination().start();
    try {
      await queue(platform, "POST", `/publish/${destination.url}/hook`, { body: "signed" });
      await destination.arrived(1);
      const { headers, body } = destination.deliveries[0] ?? assert.fail();
      const keys = { currentSigningKey: String(currentKey), nextSigningKey: String(nextKey) };
      const receiver = new Receiver({ ...keys, devMode: false });
      const signature = String(headers["upstash-signature"]);
      assert.ok(await receiver.verify({ signature, body, url: `${destination.url}/hook` }));
    } finally {
      await destination.close();
    }
  },
};

async function accepts(url: string, token: unknown): Promise<void> {
  const { status } = await fetch(url, { headers: { authorization: `Bearer ${String(token)}` } });
  assert.equal(status, 200, url);
}

/** A secret of the program: its file, and the platform's side. */
export const everySecret: readonly {
  readonly what: string;
  readonly fileIn: (outputs: Properties) => unknown;
  readonly expected: (platform: Platform) => Properties;
  readonly use: (platform: Platform, credentials: Properties) => Promise<void>;
}[] = [
  ...databases.map((id) => ({
    what: id,
    fileIn: ({ single, fleet }: Properties) =>
      id === "db-single" ? single : (fleet as Record<string, unknown>)[id.replace("db-", "")],
    expected: (platform: Platform) => ({ databaseId: id, ...credentialsAt.database(platform, id) }),
    use: useCredentials.database,
  })),
  {
    what: "vector index",
    fileIn: ({ vector }) => vector,
    expected: (platform) => ({ indexId: "idx-vectors", ...credentialsAt.vectorIndex(platform, "idx-vectors") }),
    use: useCredentials.index,
  },
  {
    what: "search index",
    fileIn: ({ search }) => search,
    expected: (platform) => ({ indexId: "idx-search", ...credentialsAt.searchIndex(platform, "idx-search") }),
    use: useCredentials.index,
  },
  {
    what: "queue user",
    fileIn: ({ queue }) => queue,
    expected: (platform) => ({ queueUserId: userId, ...credentialsAt.queueUser(platform, userId) }),
    use: useCredentials.queueUser,
  },
  {
    what: "signing keys",
    fileIn: ({ keys }) => keys,
    expected: (platform) => ({ subject: "signing-keys", ...credentialsAt.signingKeys(platform) }),
    use: useCredentials.signingKeys,
  },
];

/** A platform that can be read, and the settings for it. The queue's token is read, because it is rotated. */
export const everySecretPlatform = { databases, credentials: "always", databasePath } as const;
export const everySecretConfig = { "rekey:databasePath": databasePath, "rekey:queueUserId": userId };

/** Asserts that the files in the outputs have the platform's credentials, and that it accepts them. */
export async function assertEncrypted(result: Pick<Result, "outputs">, team: Team, platform: Platform): Promise<void> {
  for (const { what, fileIn, expected, use } of everySecret) {
    const { rotatedAt, connectionUrl, restUrl, ...found } = await team.decrypt(fileIn(valuesOf(result)));
    assert.deepEqual(found, expected(platform), what);
    await use(platform, { connectionUrl, restUrl, ...found });
  }
}

/** A fault of a reset of the queue's token, with which keys are rolled at the same time. */
export const keepToken = { path: /rotate-token/, keepFormerPassword: true };
