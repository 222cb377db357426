import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { type Platform } from "../../local/platform/index";
import { type Adapter } from "../support/host";
import { acceptsPassword, aclOf, addUser } from "../support/redis";
import { acceptsToken, databasePath } from "../support/resources";
import { Consumers } from "./consumers";
import { EngineStack, onEngineByAdapter, succeeds } from "./engineStack";
import { startServer } from "./keyVendor";
import { loadExample } from "./loadExample";

const queueUserId = "7b1ad1c2-0e7e-4e0c-9d3f-0c2c1c1f5a11";
/** Rekey reads the token that it uses itself, so that it can be retired. */
const ownToken = { "rekey:queueToken": undefined, "rekey:queueUserId": queueUserId };

interface Example {
  readonly name: string;
  /** What its clients have before the first `up`. */
  readonly before: (platform: Platform) => Promise<string>;
  /** Whether the platform still accepts a secret. */
  readonly accepts: (secret: string, platform: Platform) => Promise<boolean>;
  /** Someone else makes all secrets invalid. */
  readonly revoke: (platform: Platform) => unknown;
}

const queue: Example = {
  name: "queue",
  before: async ({ queueToken }) => queueToken,
  accepts: (token, platform) => acceptsToken(platform, token),
  revoke: (platform) => platform.changeQueueUserTokens(queueUserId),
};

const redis: Example = {
  name: "redis",
  // Its clients have a password already.
  before: async (platform) => {
    const database = platform.database("db-sessions");
    const token = await addUser(database, "app", "~*");
    return `redis://app:${token}@${String(database.record["endpoint"])}:${String(database.record["port"])}`;
  },
  accepts: async (url) => {
    const { hostname: endpoint, port, username, password } = new URL(url);
    return acceptsPassword({ endpoint, port }, username, password);
  },
  revoke: (platform) => aclOf(platform.database("db-sessions"))("DELUSER", "app"),
};

/** A stack of an example, and the file that it writes. */
async function start({ name, before }: Example, adapter: Adapter) {
  const stack = await EngineStack.start(
    (rekey) => loadExample(`no-outage/${name}`, { "pulumi-rekey": rekey }) as Record<string, unknown>,
    {
      adapter,
      platform: { databases: ["db-sessions"], databasePath, credentials: "always", queueUsers: [queueUserId] },
      config: { queueUserId, databaseId: "db-sessions", "rekey:databasePath": databasePath, ...ownToken },
    },
  );
  const file = stack.path("secret");
  await stack.configure({ file });
  writeFileSync(file, await before(stack.platform));
  return { stack, file };
}

onEngineByAdapter("The consumers of the examples no-outage", (adapter) => {
  for (const example of [queue, redis]) {
    it(`are never refused while a version rotates and retires: ${example.name}`, async () => {
      const { stack, file } = await start(example, adapter);
      const { platform } = stack;
      const read = () => readFileSync(file, "utf8");
      const consumers = new Consumers(`no-outage/${example.name}`, 3, [file, platform.url]);
      try {
        await consumers.until(() => consumers.changes >= 3);
        const first = read();
        await succeeds(stack.up());
        const second = read();
        await stack.configure({ version: "2" });
        await succeeds(stack.up());
        const third = read();
        const { size } = new Set([first, second, third]);
        await consumers.until(() => consumers.changes >= size * 3);
        assert.deepEqual(consumers.refused, []);
        const accepted = [second, third].map((one) => example.accepts(one, platform));
        assert.deepEqual(await Promise.all(accepted), [false, true]);
        await example.revoke(platform);
        await consumers.until(() => consumers.refused.length > 0);
      } finally {
        await consumers.end();
      }
    });
  }
});

onEngineByAdapter("The consumers of the example any-key", (adapter) => {
  it("are never refused while a version turns and the former key is deleted", async () => {
    const vendor = await startServer();
    const stack = await EngineStack.start(
      (rekey) => loadExample("any-key", { "pulumi-rekey": rekey }) as Record<string, unknown>,
      { adapter, config: { server: vendor.url } },
    );
    const file = stack.path("key");
    await stack.configure({ file });
    await succeeds(stack.up());
    const [former] = vendor.keys.values();
    const consumers = new Consumers("any-key", 3, [file, vendor.url]);
    try {
      await consumers.until(() => consumers.changes >= 3);
      await stack.configure({ version: "2" });
      await succeeds(stack.up());
      await consumers.until(() => consumers.changes >= 6);
      const { outputs } = await succeeds(stack.up());
      assert.equal(outputs["formerRefused"]?.value, true);
      assert.deepEqual([...vendor.keys.values()], [readFileSync(file, "utf8")]);
      assert.notEqual(readFileSync(file, "utf8"), former);
      assert.deepEqual(consumers.refused, []);
      vendor.statusOf = () => 401;
      await consumers.until(() => consumers.refused.length > 0);
    } finally {
      await consumers.end();
      vendor.close();
    }
  });
});
