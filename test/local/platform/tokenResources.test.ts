import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import {
  type Platform,
  type PlatformOptions,
  startPlatform,
  type TokenResource,
  type TokenResourceRecord,
} from "../../../local/platform/index";
import { basic, bearer, send } from "./client";

interface Kind {
  readonly option: "vectorIndexes" | "searchIndexes" | "queueUsers";
  readonly name: string;
  /** Id of the one that a platform has without options. */
  readonly id: string;
  readonly list: string;
  /** Path of the read of an id; and of the reset. */
  readonly read: (id: string) => string;
  readonly reset: (id: string) => string;
  /** Whether the response to a reset is the record. */
  readonly respondsWithRecord: boolean;
  readonly change: (platform: Platform, id: string) => void;
  /** Path that the tokens of the first one open. */
  readonly opened: (id: string) => string;
}

const kinds: readonly Kind[] = [
  {
    option: "vectorIndexes",
    name: "vector index",
    id: "idx-vectors",
    list: "/v2/vector/index",
    read: (id) => `/v2/vector/index/${id}`,
    reset: (id) => `/v2/vector/index/${id}/reset-password`,
    respondsWithRecord: false,
    change: (platform, id) => platform.changeVectorIndexTokens(id),
    opened: (id) => `/indexes/vector/${id}/info`,
  },
  {
    option: "searchIndexes",
    name: "search index",
    id: "idx-search",
    list: "/v2/search",
    read: (id) => `/v2/search/${id}`,
    reset: (id) => `/v2/search/${id}/reset-password`,
    respondsWithRecord: false,
    change: (platform, id) => platform.changeSearchIndexTokens(id),
    opened: (id) => `/indexes/search/${id}/info`,
  },
  {
    option: "queueUsers",
    name: "queue user",
    id: "00000000-0000-4000-8000-000000000001",
    list: "/v2/qstash/users",
    read: (id) => `/v2/qstash/user/${id}`,
    reset: (id) => `/v2/qstash/rotate-token/${id}`,
    respondsWithRecord: true,
    change: (platform, id) => platform.changeQueueUserTokens(id),
    opened: () => "/v2/globalParallelism",
  },
];

const tokensOf = ({ token, readOnlyToken }: TokenResource) => ({ token, read_only_token: readOnlyToken });

for (const kind of kinds) {
  describe(`local platform: ${kind.option}`, () => {
    const { id, option } = kind;
    let platform: Platform;
    const start = async (options: PlatformOptions = {}) => (platform = await startPlatform(options));
    afterEach(() => platform.close());

    const found = (of = id) => platform[option].get(of)!;
    const read = (of = id, query = "") =>
      send(platform, "GET", kind.read(encodeURIComponent(of)) + query, basic(platform));
    const reset = (of = id) => send(platform, "POST", kind.reset(encodeURIComponent(of)), basic(platform));
    const opens = async (token: string) =>
      (await send(platform, "GET", kind.opened(id), bearer({ queueToken: token }))).status === 200;
    /** Which of these are accepted; both tokens of each are, or neither. */
    const accepted = async (...resources: TokenResource[]): Promise<boolean[]> => {
      const results = resources.map(async ({ token, readOnlyToken }) => {
        const [one, other] = await Promise.all([opens(token), opens(readOnlyToken)]);
        assert.equal(one, other);
        return one;
      });
      return Promise.all(results);
    };
    const assertRead = async (expected: TokenResource): Promise<void> =>
      assert.deepEqual((await read()).body, { ...expected.record, ...tokensOf(expected) });

    it("have two tokens that are replaced by a reset, which refuses the former ones at once", async () => {
      await start();
      const before = found();
      const { status, body, headers } = await reset();
      const after = found();
      const expected = kind.respondsWithRecord ? after.record : "OK";
      assert.deepEqual({ status, body }, { status: 200, body: expected });
      assert.equal(headers["content-type"], "application/json");
      assert.equal(new Set([before, after].flatMap((given) => Object.values(tokensOf(given)))).size, 4);
      assert.deepEqual(await accepted(before, after), [false, true]);
      assert.deepEqual({ ...before, ...after }, { ...after, resets: before.resets + 1 });
      assert.equal(platform.resetCount, 1);
    });

    for (const { credentials, inResponse, inRead } of [
      { credentials: "always", inResponse: true, inRead: true },
      { credentials: "read", inResponse: false, inRead: true },
      { credentials: "once", inResponse: true, inRead: false },
      { credentials: "never", inResponse: false, inRead: false },
    ] as const) {
      it(`send their tokens with credentials: "${credentials}"`, async () => {
        await start({ credentials });
        const { body } = await reset();
        const { record } = found();
        const tokens = tokensOf(found());
        assert.deepEqual(body, kind.respondsWithRecord ? { ...record, ...(inResponse && tokens) } : "OK");
        const expected = { ...record, ...(inRead && tokens) };
        assert.deepEqual((await read()).body, expected);
        assert.deepEqual((await send(platform, "GET", kind.list, basic(platform))).body, [expected]);
      });
    }

    it("are read and listed without tokens if these are to be hidden", async () => {
      await start({ credentials: "always" });
      assert.deepEqual((await read(id, "?credentials=hide")).body, found().record);
      const { body } = await send(platform, "GET", `${kind.list}?credentials=hide`, basic(platform));
      assert.deepEqual(body, [found().record]);
    });

    it("refuse unknown ids with 404, and name the parameter and the id", async () => {
      await start();
      for (const { status, error } of [await read("none"), await reset("none")]) {
        assert.equal(status, 404);
        assert.equal(error, `id: ${kind.name} "none" does not exist`);
      }
      assert.equal(platform.resetCount, 0);
      assert.throws(() => kind.change(platform, "none"), { name: "RangeError", message: /"none" does not exist/ });
    });

    it("need Basic authentication", async () => {
      await start();
      for (const [method, path] of [
        ["GET", kind.list],
        ["GET", kind.read(id)],
        ["POST", kind.reset(id)],
      ] as const) {
        const { status, headers } = await send(platform, method, path, bearer(platform));
        assert.equal(status, 401);
        assert.equal(headers["www-authenticate"], 'Basic realm="local platform"');
      }
      assert.equal(platform.resetCount, 0);
    });

    it("are given by id, with other fields, or with their state", async () => {
      const state = { token: "given", readOnlyToken: "given-too", resets: 2 };
      const other = { id: "other", type: "odd", region: undefined, future: { a: [1] } };
      await start({ credentials: "read", [option]: ["a/b ü", other, { record: { id: "third" }, ...state }] });
      assert.deepEqual([...platform[option].keys()], ["a/b ü", "other", "third"]);
      assert.deepEqual((await read("a/b ü")).body, { ...found("a/b ü").record, ...tokensOf(found("a/b ü")) });
      const { record } = found("other");
      assert.deepEqual({ ...record, ...other }, record);
      const sent = (await read("other")).body as TokenResourceRecord;
      assert.deepEqual({ ...sent, ...(({ region: _, ...given }) => given)(other) }, sent);
      assert.ok(!("region" in sent));
      assert.deepEqual(found("third"), { record: { id: "third" }, ...state });
      assert.equal((await reset("third")).status, 200);
      assert.equal(found("third").resets, 3);
      await platform.reset();
      assert.deepEqual(found("third"), { record: { id: "third" }, ...state });
    });

    it("have the same state in a platform that is started with it", async () => {
      await start();
      await reset();
      const again = await startPlatform(platform.state());
      assert.deepEqual(again.state()[option], platform.state()[option]);
      const { record, ...expected } = found();
      assert.deepEqual({ ...again[option].get(id), record }, { record, ...expected });
      await again.close();
    });

    it("apply a reset late: until then, only the former tokens are accepted and read", async () => {
      await start({ credentials: "read" });
      const former = found();
      platform.failNext({ applyAfterMs: 60_000 });
      await reset();
      assert.deepEqual(await accepted(former, found()), [true, false]);
      await assertRead(former);
      platform.failNext({ applyAfterMs: 20 });
      await reset();
      const current = found();
      while (!(await opens(current.token)));
      assert.deepEqual(await accepted(former, current), [false, true]);
      await assertRead(current);
      assert.equal(platform.resetCount, 2);
    });

    it("never apply a reset, and apply the next one", async () => {
      await start({ credentials: "read" });
      const former = found();
      platform.failNext({ applyAfterMs: "never" });
      await reset();
      const lost = found();
      assert.deepEqual(await accepted(former, lost), [true, false]);
      await assertRead(former);
      await reset();
      assert.deepEqual(await accepted(former, lost, found()), [false, false, true]);
      await assertRead(found());
    });

    it("accept the former tokens until the next reset, if a fault keeps them", async () => {
      await start({ credentials: "read" });
      const former = found();
      platform.failNext({ keepFormerPassword: true });
      await reset();
      const current = found();
      assert.deepEqual(await accepted(former, current), [true, true]);
      await assertRead(current);
      await reset();
      assert.deepEqual(await accepted(former, current, found()), [false, false, true]);
    });

    for (const dropConnection of ["before-apply", "after-apply", "within-answer"] as const) {
      it(`are read with the valid tokens after a reset that was cut ${dropConnection}`, async () => {
        await start({ credentials: "read" });
        const former = found();
        platform.failNext({ dropConnection });
        await assert.rejects(reset());
        const isApplied = dropConnection !== "before-apply";
        assert.deepEqual(await accepted(former), [!isApplied]);
        assert.equal(platform.resetCount, isApplied ? 1 : 0);
        await assertRead(found());
      });
    }

    it("are changed elsewhere without a reset, which also replaces a late reset", async () => {
      await start({ credentials: "read" });
      const former = found();
      platform.failNext({ applyAfterMs: 50 });
      await reset();
      const late = found();
      kind.change(platform, id);
      await sleep(100);
      assert.deepEqual(await accepted(former, late, found()), [false, false, true]);
      await assertRead(found());
      assert.deepEqual({ count: platform.resetCount, resets: found().resets }, { count: 1, resets: 1 });
    });

    it("do not apply a late reset after reset()", async () => {
      await start();
      platform.failNext({ applyAfterMs: 50 });
      await reset();
      const late = found();
      await platform.reset();
      await sleep(100);
      assert.deepEqual(await accepted(late, found()), [false, true]);
      assert.equal(platform.resetCount, 0);
    });
  });
}
