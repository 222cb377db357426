import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { type Platform, startPlatform } from "../../../local/platform";
import { type RedisServer, startRedisServer } from "../../../local/platform/redisServer";
import { session, whoAmI, withRedis } from "../../support/redis";
import { resetPassword } from "./client";

/** What stands between the platform and its Redis: it can go away, come back, and lose answers. */
class Line {
  loseAnswers = false;
  readonly #sockets = new Set<Socket>();
  #server: Server | undefined;
  #port = 0;

  constructor(private readonly redisPort: number) {}

  get port(): number {
    return this.#port;
  }

  async open(): Promise<void> {
    this.#server = createServer((client) => {
      const redis = connect(this.redisPort, "127.0.0.1");
      client.pipe(redis);
      redis.on("data", (data: Buffer) => (this.loseAnswers ? this.cut() : client.write(data)));
      for (const socket of [client, redis]) {
        this.#sockets.add(socket);
        socket.on("error", () => undefined);
        socket.on("close", () => [client, redis].forEach((end) => end.destroy()));
      }
    }).listen(this.#port, "127.0.0.1");
    await once(this.#server, "listening");
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  cut(): void {
    this.#sockets.forEach((socket) => socket.destroy());
    this.#sockets.clear();
  }

  close(): void {
    this.#server?.close();
    this.cut();
  }
}

withRedis("local platform: an attached Redis, and its outages", () => {
  let redis: RedisServer;
  let line: Line;
  let platform: Platform;
  /** The database's address in the Redis itself, around the line. */
  const direct = (url = platform.database("db-quickstart").redisUrl) =>
    (url ?? "").replace(/:\d+$/, `:${new URL(redis.url).port}`);
  /** Waits until the Redis takes the password that the platform has recorded. */
  const agreed = async () => {
    while (!(await whoAmI(direct()).catch(() => undefined))) await sleep(20);
  };

  before(async () => (redis = await startRedisServer()));
  after(() => redis.close());
  beforeEach(async () => {
    const { port, password } = new URL(redis.url);
    line = new Line(Number(port));
    await line.open();
    platform = await startPlatform({ redis: `redis://:${password}@127.0.0.1:${line.port}` });
  });
  afterEach(async () => {
    await platform.close();
    line.close();
  });

  it("answers 503 while it is away, the password unchanged, and goes on when it is back", async () => {
    const before = platform.database("db-quickstart");
    line.close();
    const answer = await resetPassword(platform);
    assert.equal(answer.status, 503);
    assert.match(answer.text, /^{"error":"redis: .+; the password of \\"db-quickstart\\" is unchanged"}$/);
    assert.deepEqual(platform.database("db-quickstart"), before);
    assert.equal(await whoAmI(direct()), "rekey-db-quickstart");
    await line.open();
    while ((await resetPassword(platform)).status !== 200) await sleep(20);
    assert.equal(platform.resetCount, 1);
    await assert.rejects(whoAmI(direct(before.redisUrl)), /WRONGPASS/);
    assert.equal(await whoAmI(direct()), "rekey-db-quickstart");
  });

  it("takes a password back whose confirmation was lost", async () => {
    const before = platform.database("db-quickstart");
    line.loseAnswers = true;
    assert.equal((await resetPassword(platform)).status, 503);
    assert.deepEqual(platform.database("db-quickstart"), before);
    await assert.rejects(whoAmI(direct()), /WRONGPASS/, "the test must have lost the answer, not the request");
    line.loseAnswers = false;
    await agreed();
  });

  it("makes the users once more in a Redis that has lost them", async () => {
    const admin = await session(redis.url);
    await admin.call("acl", "deluser", "rekey-db-quickstart", "rekey-db-sessions");
    line.cut();
    await agreed();
    admin.disconnect();
  });

  it("loses nothing but the platform's own users when the platform ends", async () => {
    const admin = await session(redis.url);
    await admin.call("acl", "setuser", "somebody", "on", ">else");
    await admin.set("kept", "value");
    await platform.close();
    assert.deepEqual(await admin.call("acl", "users"), ["default", "somebody"]);
    assert.equal(await admin.get("kept"), "value");
    admin.disconnect();
  });
});
