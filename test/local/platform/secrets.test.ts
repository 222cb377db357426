import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { Receiver } from "@upstash/qstash";
import { type Database, type Platform, type PlatformOptions, startPlatform } from "../../../local/platform/index";
import { databaseReply, hasRedis, type RedisServer, startRedisServer } from "../../support/redis";
import { databasePath } from "../../support/resources";
import { basic, bearer, queue, send } from "./client";
import { Destination } from "./queue/destination";

/** A secret of the platform: its record, and its credentials by their names in a response. */
type Shown = {
  readonly record: object;
  readonly credentials: Readonly<Record<string, string>>;
  readonly resets: number;
};

interface Kind {
  /** The option that creates them; the signing keys have none. */
  readonly option?: "databases" | "vectorIndexes" | "searchIndexes" | "queueUsers";
  /** What errors call one of them. */
  readonly called?: string;
  /** Id of the one that a platform has without options. */
  readonly id: string;
  readonly list?: string;
  readonly read: string;
  readonly resets: readonly string[];
  /** The response to a reset is the record, not `"OK"`. */
  readonly respondsWithRecord: boolean;
  /** The interface of the message queue, with a token. */
  readonly isOfQueue?: boolean;
  readonly shown: (platform: Platform, id: string) => Shown;
  /** A change that is not a reset. */
  readonly change: (platform: Platform, id: string) => unknown;
  /** Whether the platform accepts credentials; both tokens of a pair, or neither. */
  readonly accepts: (platform: Platform, id: string, credentials: Shown["credentials"]) => Promise<boolean>;
}

const database = ({ record, password, restToken, readOnlyRestToken, resets }: Database): Shown => {
  return { record, credentials: { password, rest_token: restToken, read_only_rest_token: readOnlyRestToken }, resets };
};
const tokenResource =
  (option: "vectorIndexes" | "searchIndexes" | "queueUsers"): Kind["shown"] =>
  (platform, id) => {
    const { record, token, readOnlyToken, resets } = platform[option].get(id)!;
    return { record, credentials: { token, read_only_token: readOnlyToken }, resets };
  };
/** Whether both tokens open a path of the platform. */
const opens =
  (pathOf: (id: string) => string): Kind["accepts"] =>
  async (platform, id, tokens) => {
    const statuses = Object.values(tokens).map(async (queueToken) => {
      return (await send(platform, "GET", pathOf(id), bearer({ queueToken }))).status;
    });
    const [one, other] = await Promise.all(statuses);
    assert.equal(one, other);
    return one === 200;
  };
const authenticates =
  (userOf: (id: string) => string[]): Kind["accepts"] =>
  async (platform, id, { password = "" }) =>
    (await databaseReply(platform.database(id).record, ["AUTH", ...userOf(id), password])).startsWith("+OK");

/** Whether the message that is delivered now is signed with the current key. */
const signs: Kind["accepts"] = async (platform, _id, { current = "" }) => {
  const destination = await new Destination().start();
  await queue(platform, "POST", `/publish/${destination.url}/hook`, { body: "größe" });
  await destination.arrived(1);
  const { headers, body } = destination.deliveries[0]!;
  await destination.close();
  const receiver = new Receiver({ currentSigningKey: current, nextSigningKey: current, devMode: false });
  const request = { signature: String(headers["upstash-signature"]), body, url: `${destination.url}/hook` };
  return receiver.verify(request).catch(() => false);
};

const ofDatabases = {
  option: "databases",
  called: "database",
  id: "db-quickstart",
  list: "/v2/redis/databases",
  read: databasePath,
  resets: ["/v2/keyvalue/reset-password/{id}", "/v2/redis/reset-password/{id}"],
  respondsWithRecord: true,
  shown: (platform: Platform, id: string) => database(platform.database(id)),
  change: (platform: Platform, id: string) => platform.changePassword(id),
} as const;

function ofIndexes(kind: "vector" | "search", list: string, change: Kind["change"]): Kind {
  const option = `${kind}Indexes` as const;
  return {
    option,
    called: `${kind} index`,
    id: kind === "vector" ? "idx-vectors" : "idx-search",
    list,
    read: `${list}/{id}`,
    resets: [`${list}/{id}/reset-password`],
    respondsWithRecord: false,
    shown: tokenResource(option),
    change,
    accepts: opens((id) => `/indexes/${kind}/${encodeURIComponent(id)}/info`),
  };
}

let redis: RedisServer | undefined;
before(async () => (redis = hasRedis ? await startRedisServer() : undefined));
after(() => redis?.close());

const kinds: Readonly<Record<string, Kind>> = {
  "databases, with the platform's listener": { ...ofDatabases, accepts: authenticates(() => []) },
  ...(hasRedis && {
    "databases, in a Redis": { ...ofDatabases, accepts: authenticates((id) => [`rekey-${encodeURIComponent(id)}`]) },
  }),
  "vector indexes": ofIndexes("vector", "/v2/vector/index", (platform, id) => platform.changeVectorIndexTokens(id)),
  "search indexes": ofIndexes("search", "/v2/search", (platform, id) => platform.changeSearchIndexTokens(id)),
  "queue users": {
    option: "queueUsers",
    called: "queue user",
    id: "00000000-0000-4000-8000-000000000001",
    list: "/v2/qstash/users",
    read: "/v2/qstash/user/{id}",
    resets: ["/v2/qstash/rotate-token/{id}"],
    respondsWithRecord: true,
    shown: tokenResource("queueUsers"),
    change: (platform, id) => platform.changeQueueUserTokens(id),
    accepts: opens(() => "/v2/globalParallelism"),
  },
  "signing keys": {
    id: "keys",
    read: "/v2/keys",
    resets: ["/v2/keys/rotate"],
    respondsWithRecord: true,
    isOfQueue: true,
    shown: ({ signingKeys: { current, next, rolls } }) => ({
      record: {},
      credentials: { current, next },
      resets: rolls,
    }),
    change: (platform) => platform.changeSigningKeys(),
    accepts: signs,
  },
};

for (const [title, kind] of Object.entries(kinds)) {
  describe(`Local platform: ${title}`, () => {
    const { id, option, shown } = kind;
    let platform: Platform;
    const start = async (options: PlatformOptions = {}) => {
      const own = title.includes("Redis") ? { redis: redis?.url } : {};
      platform = await startPlatform({ credentials: "read", databasePath, ...own, ...options });
    };
    afterEach(() => platform.close());

    const request = (method: string, path: string, of = id) => {
      const credentials = kind.isOfQueue ? bearer(platform) : basic(platform);
      return send(platform, method, path.replace("{id}", encodeURIComponent(of)), credentials);
    };
    const read = (of = id, query = "") => request("GET", kind.read + query, of);
    const reset = (of = id) => request("POST", kind.resets[0]!, of);
    const accepted = async (...all: Shown[]): Promise<boolean[]> => {
      const results: boolean[] = [];
      for (const { credentials } of all) results.push(await kind.accepts(platform, id, credentials));
      return results;
    };
    const assertRead = async ({ record, credentials }: Shown) =>
      assert.deepEqual((await read()).body, { ...credentials, ...record });

    for (const path of kind.resets) {
      it(`are replaced at once by POST ${path}, and nothing else is`, async () => {
        await start();
        const [before, others] = [shown(platform, id), platform.database("db-sessions")];
        const { status, headers, body } = await request("POST", path);
        const after = shown(platform, id);
        assert.deepEqual({ status, body }, { status: 200, body: kind.respondsWithRecord ? after.record : "OK" });
        assert.equal(headers["content-type"], "application/json");
        const values = [before, after].flatMap(({ credentials }) => Object.values(credentials));
        // The next signing key is the current one afterwards.
        assert.equal(new Set(values).size, kind.isOfQueue ? 3 : values.length);
        if (kind.isOfQueue) assert.equal(after.credentials["current"], before.credentials["next"]);
        assert.deepEqual(await accepted(before, after), [false, true]);
        assert.deepEqual([before.resets, after.resets, platform.resetCount], [0, 1, 1]);
        assert.deepEqual(platform.database("db-sessions"), others);
        await assertRead(after);
      });
    }

    for (const credentials of ["always", "read", "once", "never"] as const) {
      it(`are in the responses that credentials: "${credentials}" asks for`, async () => {
        await start({ credentials });
        const { body } = await reset();
        const { record, credentials: values } = shown(platform, id);
        const isIn = (...deliveries: string[]) => deliveries.includes(credentials) && values;
        assert.deepEqual(body, kind.respondsWithRecord ? { ...isIn("always", "once"), ...record } : "OK");
        const expected = { ...isIn("always", "read"), ...record };
        assert.deepEqual((await read()).body, expected);
        assert.deepEqual((await read(id, "?credentials=hide")).body, record);
        if (kind.list === undefined) return;
        assert.deepEqual(((await request("GET", kind.list)).body as object[])[0], expected);
      });
    }

    it("are valid again, or not yet, as a fault of the reset asks", async () => {
      await start();
      const first = shown(platform, id);
      for (const applyAfterMs of ["never", 60_000] as const) {
        platform.failNext({ applyAfterMs });
        assert.equal((await reset()).status, 200);
        assert.deepEqual(await accepted(first, shown(platform, id)), [true, false]);
        await assertRead(first);
      }
      platform.failNext({ applyAfterMs: 20 });
      await reset();
      const late = shown(platform, id);
      while (!(await read()).text.includes(Object.values(late.credentials).at(-1)!));
      assert.deepEqual(await accepted(first, late), [false, true]);
      await assertRead(late);
      if (kind.isOfQueue) return;
      platform.failNext({ keepFormerPassword: true });
      await reset();
      assert.deepEqual(await accepted(first, late, shown(platform, id)), [false, true, true]);
      await assertRead(shown(platform, id));
      await reset();
      assert.deepEqual(await accepted(late, shown(platform, id)), [false, true]);
    });

    it("are changed elsewhere, which ends a reset that is late, and restored by reset(): neither is a reset", async () => {
      await start();
      platform.failNext({ applyAfterMs: 50 });
      await reset();
      const late = shown(platform, id);
      await kind.change(platform, id);
      const changed = shown(platform, id);
      await sleep(100);
      // Both rolls make the former next key the current one.
      assert.deepEqual(await accepted(late, changed), [kind.isOfQueue === true, true]);
      await assertRead(changed);
      assert.deepEqual([changed.resets, platform.resetCount], [1, 1]);
      await platform.reset();
      assert.deepEqual(await accepted(changed, shown(platform, id)), [false, true]);
      assert.deepEqual([shown(platform, id).resets, platform.resetCount], [0, 0]);
    });

    if (option === undefined) return;

    it("are refused by an unknown id, which the error names", async () => {
      await start();
      for (const { status, error } of [await read("none"), await reset("none")]) {
        assert.deepEqual({ status, error }, { status: 404, error: `id: ${kind.called} "none" does not exist` });
      }
      await assert.rejects(async () => kind.change(platform, "none"), { name: "RangeError", message: /"none"/ });
      assert.equal(platform.resetCount, 0);
    });
  });
}

it("Local platform: the token of the queue is that of the first user, also after reset(), and no other user's", async () => {
  const platform = await startPlatform({ queueToken: "t0ken", queueUsers: ["one", { id: "two" }] });
  const statusWith = async (queueToken: string, method = "GET", path = "/v2/globalParallelism") =>
    (await send(platform, method, path, bearer({ queueToken }))).status;
  const { token, readOnlyToken } = platform.queueUsers.get("one")!;
  assert.deepEqual([platform.queueToken, token], ["t0ken", "t0ken"]);
  assert.equal(await statusWith(platform.queueUsers.get("two")!.token), 401);
  assert.equal(await statusWith(readOnlyToken, "POST", "/v2/flowControl/orders/reset"), 401);
  platform.changeQueueUserTokens("one");
  assert.equal(await statusWith("t0ken"), 401);
  await platform.reset();
  assert.equal(await statusWith("t0ken"), 200);
  await platform.close();
});
