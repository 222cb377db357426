import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { type Platform, type PlatformOptions, startPlatform, type TokenResource } from "../../../local/platform/index";
import { basic, bearer, send } from "./client";

interface NextPair {
  readonly next_token: string;
  readonly next_read_only_token: string;
}

// That `rotate-token` replaces the pair at once: secrets.test.ts.
describe("Local platform: two valid queue tokens", () => {
  let platform: Platform;
  const start = async (options: PlatformOptions = {}) =>
    (platform = await startPlatform({ queueUsers: ["one", "two"], credentials: "read", ...options }));
  afterEach(() => platform.close());

  const user = (id = "one"): TokenResource => platform.queueUsers.get(id)!;
  const post = (operation: string, id = "one", body?: string) =>
    send(platform, "POST", `/v2/qstash/${operation}/${id}`, basic(platform), { ...(body && { body }) });
  const prepare = async (id = "one") => (await post("next-token", id)).body as NextPair;
  const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
  const roll = (token: string, id = "one") =>
    post("roll-token", id, JSON.stringify({ next_token_hash: sha256(token) }));
  const read = async () => (await send(platform, "GET", "/v2/qstash/user/one", basic(platform))).body;
  /** Whether the queue accepts tokens, each for two of its operations. */
  const accepts = (...tokens: string[]) =>
    Promise.all(
      tokens.map(async (queueToken) => {
        const paths = ["/v2/globalParallelism", "/v2/flowControl/orders"];
        const sent = paths.map((path) => send(platform, "GET", path, bearer({ queueToken })));
        const [one, other] = await Promise.all(sent);
        assert.equal(one?.status, other?.status);
        return one?.status === 200;
      }),
    );
  const values = ({ next_token, next_read_only_token }: NextPair) => [next_token, next_read_only_token];

  it("are both accepted until the roll, which a hash of either next token asks for", async () => {
    await start();
    for (const by of ["next_token", "next_read_only_token"] as const) {
      const former = user();
      const next = await prepare();
      assert.deepEqual(Object.keys(next), ["next_token", "next_read_only_token"]);
      assert.deepEqual(await prepare(), next, "the same pair until it is rolled");
      const all = [former.token, former.readOnlyToken, ...values(next)];
      assert.deepEqual(await accepts(...all), [true, true, true, true]);
      assert.deepEqual(await read(), {
        ...former.record,
        token: former.token,
        read_only_token: former.readOnlyToken,
        has_next_token: true,
      });
      const { status, body } = await roll(next[by]);
      assert.deepEqual({ status, body }, { status: 200, body: former.record });
      assert.deepEqual(await accepts(...all), [false, false, true, true]);
      const [token, read_only_token] = values(next);
      assert.deepEqual(await read(), { ...former.record, token, read_only_token, has_next_token: false });
      assert.equal(platform.queueToken, token);
    }
    assert.deepEqual([user().resets, platform.resetCount], [2, 2]);
  });

  it("stay valid if the hash is not that of a next token, or there is none", async () => {
    await start();
    const { token } = user();
    assert.equal((await roll(token)).status, 409);
    const next = await prepare();
    const others = await prepare("two");
    for (const wrong of [token, others.next_token, "", sha256(next.next_token)]) {
      const { status, error } = await roll(wrong);
      assert.deepEqual([status, /^next_token_hash: /.test(error)], [409, true]);
    }
    for (const body of ["", "{", "{}", "[]", '{ "next_token_hash": 1 }']) {
      assert.equal((await post("roll-token", "one", body)).status, 400, body);
    }
    assert.deepEqual(await accepts(token, next.next_token, others.next_token), [true, true, false]);
    assert.equal((await roll(next.next_token)).status, 200);
    assert.equal((await roll(next.next_token)).status, 409, "a repeated roll");
    assert.equal((await roll(next.next_token, "none")).status, 404);
    assert.equal((await post("next-token", "none")).status, 404);
    assert.deepEqual(await accepts(next.next_token), [true]);
  });

  it("refuses a read-only next token for changes", async () => {
    await start();
    const statusWith = async (queueToken: string) =>
      (await send(platform, "POST", "/v2/flowControl/orders/reset", bearer({ queueToken }))).status;
    const next = await prepare();
    assert.deepEqual([await statusWith(next.next_token), await statusWith(next.next_read_only_token)], [200, 401]);
  });

  for (const [title, replace] of Object.entries({
    "a reset": () => post("rotate-token"),
    "a change elsewhere": async () => platform.changeQueueUserTokens("one"),
    "reset()": () => platform.reset(),
  })) {
    it(`are replaced, and a next pair is dropped, by ${title}`, async () => {
      await start({ queueToken: "t0ken" });
      const [former, next] = [user(), await prepare()];
      await replace();
      const isRestored = title === "reset()";
      assert.deepEqual(await accepts(former.token, former.readOnlyToken, ...values(next)), [
        isRestored,
        false,
        false,
        false,
      ]);
      assert.equal((await roll(next.next_token)).status, 409);
      assert.equal(user().record["has_next_token"], false);
      assert.notDeepEqual(await prepare(), next);
    });
  }

  it("are rolled later or never, and the former pair kept, as a fault of the roll asks", async () => {
    await start();
    const { token } = user();
    const { next_token } = await prepare();
    for (const applyAfterMs of ["never", 60_000] as const) {
      platform.failNext({ applyAfterMs });
      assert.equal((await roll(next_token)).status, 200);
      assert.deepEqual(await accepts(token, next_token), [true, true]);
      assert.equal((await prepare()).next_token, next_token);
    }
    platform.failNext({ applyAfterMs: 20 });
    await roll(next_token);
    // One request at a time: the roll may be applied between two.
    const ask = () => send(platform, "GET", "/v2/globalParallelism", bearer({ queueToken: token }));
    while ((await ask()).status === 200);
    assert.deepEqual(await accepts(token, next_token), [false, true]);
    const later = await prepare();
    platform.failNext({ keepFormerPassword: true });
    await roll(later.next_token);
    assert.deepEqual(await accepts(next_token, later.next_token), [true, true]);
    assert.equal(user().record["has_next_token"], false);
  });

  it("do not exist at a platform without the operations", async () => {
    await start({ nextToken: false });
    const { token } = user();
    for (const { status } of [await post("next-token"), await roll(token)]) assert.equal(status, 404);
    assert.ok(!("has_next_token" in user().record));
    assert.equal((await post("rotate-token")).status, 200);
  });
});
