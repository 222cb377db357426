import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { Receiver } from "@upstash/qstash";
import { type Platform, type PlatformOptions, type SigningKeys, startPlatform } from "../../../local/platform/index";
import { signature } from "../../../local/platform/queue/signature";
import { basic, queue, send } from "./client";
import { type Delivery, Destination } from "./queue/destination";

describe("local platform: signing keys", () => {
  let platform: Platform;
  let destination: Destination;
  const start = async (options: PlatformOptions = {}) => (platform = await startPlatform(options));
  beforeEach(async () => (destination = await new Destination().start()));
  afterEach(async () => {
    await platform.close();
    await destination.close();
  });

  const pairOf = ({ current, next }: SigningKeys) => ({ current, next });
  const read = () => queue(platform, "GET", "/keys");
  const roll = () => queue(platform, "POST", "/keys/rotate");
  /** Publishes a message, and returns how it arrived. */
  const deliver = async (path = "/hook?a=1", body = "größe", headers = {}): Promise<Delivery> => {
    const count = destination.deliveries.length;
    const { status } = await queue(platform, "POST", `/publish/${destination.url}${path}`, { body, headers });
    assert.equal(status, 201);
    await destination.arrived(count + 1);
    return destination.deliveries.at(-1)!;
  };
  const signatureOf = ({ headers }: Delivery) => String(headers["upstash-signature"]);
  /** Whether a client with these keys accepts a delivery; the keys are tried in this order. */
  const verifies = async ({ current, next }: Omit<SigningKeys, "rolls">, delivery: Delivery) => {
    const receiver = new Receiver({ currentSigningKey: current, nextSigningKey: next, devMode: false });
    const request = { signature: signatureOf(delivery), body: delivery.body, url: destination.url + delivery.path };
    return receiver.verify(request).catch(() => false);
  };
  const isSignedWith = (key: string, delivery: Delivery) => verifies({ current: key, next: key }, delivery);

  it("sign each message, so that the client of the vendor accepts it", async () => {
    await start();
    const delivery = await deliver();
    assert.equal(await isSignedWith(platform.signingKeys.current, delivery), true);
    assert.equal(await isSignedWith(platform.signingKeys.next, delivery), false);
    assert.equal(await verifies(platform.signingKeys, { ...delivery, body: "other" }), false);
    assert.equal(await verifies(platform.signingKeys, { ...delivery, path: "/other" }), false);
  });

  it("sign a message without a body, and instead of a forwarded signature", async () => {
    await start();
    const headers = { "Upstash-Method": "GET", "Upstash-Forward-Upstash-Signature": "forged" };
    assert.equal(await verifies(platform.signingKeys, await deliver("/", "ignored", headers)), true);
  });

  it("sign callbacks", async () => {
    await start();
    await deliver("/", "x", { "Upstash-Callback": `${destination.url}/callback` });
    await destination.arrived(2);
    const callback = destination.deliveries.find(({ path }) => path === "/callback")!;
    assert.equal(await verifies(platform.signingKeys, callback), true);
  });

  it("have the claims and the header of the vendor", () => {
    const parts = signature("key", "https://example.com/", Buffer.from(""), 1_700_000_000_999).split(".");
    const [header, claims] = parts.map((part) => Buffer.from(part, "base64url").toString("latin1"));
    assert.deepEqual(JSON.parse(header!), { alg: "HS256", typ: "JWT" });
    const { jti, ...others } = JSON.parse(claims!) as Record<string, unknown>;
    assert.match(String(jti), /^jwt_\w{20,}$/);
    assert.deepEqual(others, {
      iss: "Upstash",
      sub: "https://example.com/",
      exp: 1_700_000_300,
      nbf: 1_700_000_000,
      iat: 1_700_000_000,
      body: "47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU=",
    });
  });

  it("are random and look like the vendor's", async () => {
    await start();
    const { current, next } = platform.signingKeys;
    for (const key of [current, next]) assert.match(key, /^sig_\w{28}$/);
    await platform.reset();
    assert.equal(new Set([current, next, platform.signingKeys.current, platform.signingKeys.next]).size, 4);
  });

  it("are rolled: the next key signs, and there is a new next key", async () => {
    await start({ credentials: "always" });
    const former = platform.signingKeys;
    const { status, body } = await roll();
    const { current, next, rolls } = platform.signingKeys;
    assert.deepEqual({ status, body }, { status: 200, body: { current, next } });
    assert.deepEqual({ current, rolls }, { current: former.next, rolls: 1 });
    assert.ok(![former.current, former.next].includes(next));
    assert.equal(platform.resetCount, 1);
    const delivery = await deliver();
    assert.equal(await verifies(former, delivery), true);
    await roll();
    assert.equal(await verifies(former, await deliver()), false);
  });

  for (const { credentials, inResponse, inRead } of [
    { credentials: "always", inResponse: true, inRead: true },
    { credentials: "read", inResponse: false, inRead: true },
    { credentials: "once", inResponse: true, inRead: false },
    { credentials: "never", inResponse: false, inRead: false },
  ] as const) {
    it(`are sent with credentials: "${credentials}"`, async () => {
      await start({ credentials });
      const rolled = (await roll()).body;
      const pair = pairOf(platform.signingKeys);
      assert.deepEqual(rolled, inResponse ? pair : {});
      assert.deepEqual((await read()).body, inRead ? pair : {});
    });
  }

  it("need the token of the queue, the read-only one for a read", async () => {
    await start({ credentials: "read" });
    const [{ readOnlyToken } = { readOnlyToken: "" }] = platform.queueUsers.values();
    const statusWith = async (method: string, path: string, authorization?: string) =>
      (await send(platform, method, path, authorization)).status;
    assert.equal(await statusWith("GET", "/v2/keys", basic(platform)), 401);
    assert.equal(await statusWith("POST", "/v2/keys/rotate"), 401);
    assert.equal(await statusWith("GET", "/v2/keys", `Bearer ${readOnlyToken}`), 200);
    assert.equal(await statusWith("POST", "/v2/keys/rotate", `Bearer ${readOnlyToken}`), 401);
    assert.equal(platform.signingKeys.rolls, 0);
  });

  it("are rolled late: until then, the former key signs and is read", async () => {
    await start({ credentials: "read" });
    const former = platform.signingKeys;
    platform.failNext({ applyAfterMs: 60_000 });
    assert.equal((await roll()).status, 200);
    assert.deepEqual((await read()).body, pairOf(former));
    assert.equal(await isSignedWith(former.current, await deliver()), true);
    platform.failNext({ applyAfterMs: 20 });
    await roll();
    assert.equal(platform.signingKeys.current, former.next, "the late roll was replaced");
    while ((await read()).text.includes(former.current));
    assert.deepEqual((await read()).body, pairOf(platform.signingKeys));
    assert.equal(await isSignedWith(former.next, await deliver()), true);
    assert.equal(platform.signingKeys.rolls, 2);
  });

  it("are never rolled, and rolled once by the next roll", async () => {
    await start({ credentials: "read" });
    const former = platform.signingKeys;
    platform.failNext({ applyAfterMs: "never" });
    await roll();
    assert.deepEqual((await read()).body, pairOf(former));
    await roll();
    assert.deepEqual((await read()).body, pairOf(platform.signingKeys));
    assert.equal(platform.signingKeys.current, former.next);
  });

  for (const dropConnection of ["before-apply", "after-apply"] as const) {
    it(`show in a read whether a roll that was cut ${dropConnection} was applied`, async () => {
      await start({ credentials: "read" });
      const former = platform.signingKeys;
      platform.failNext({ dropConnection });
      await assert.rejects(roll());
      const { current } = (await read()).body as SigningKeys;
      assert.equal(current, dropConnection === "after-apply" ? former.next : former.current);
    });
  }

  it("are rolled elsewhere without being counted, which replaces a late roll", async () => {
    await start({ credentials: "read" });
    const former = platform.signingKeys;
    platform.failNext({ applyAfterMs: 50 });
    await roll();
    const late = platform.signingKeys;
    platform.changeSigningKeys();
    await sleep(100);
    const { current, next, rolls } = platform.signingKeys;
    assert.deepEqual({ current, rolls }, { current: former.next, rolls: 1 });
    assert.notEqual(next, late.next);
    assert.deepEqual((await read()).body, { current, next });
  });

  it("are given, saved, and restored by reset()", async () => {
    const given = { current: "sig_a", next: "sig_b", rolls: 3 };
    await start({ signingKeys: given });
    assert.deepEqual(platform.signingKeys, given);
    await roll();
    const again = await startPlatform(platform.state());
    assert.deepEqual(again.signingKeys, platform.signingKeys);
    assert.equal(again.signingKeys.rolls, 4);
    await again.close();
    await platform.reset();
    assert.deepEqual(platform.signingKeys, given);
  });
});
