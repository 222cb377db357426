import assert from "node:assert/strict";
import { type Platform, type PlatformOptions, startPlatform } from "../../../local/platform/index";
import { basic, bearer, queue, send } from "./client";

describe("local platform: the token of the queue", () => {
  let platform: Platform;
  const start = async (options: PlatformOptions = {}) => (platform = await startPlatform(options));
  afterEach(() => platform.close());

  const firstUser = () => [...platform.queueUsers.values()][0]!;
  const rotate = (id = firstUser().record.id) =>
    send(platform, "POST", `/v2/qstash/rotate-token/${id}`, basic(platform));
  const statusWith = async (queueToken: string, method = "GET", path = "/v2/globalParallelism") =>
    (await send(platform, method, path, bearer({ queueToken }))).status;

  it("is that of one user in Europe by default", async () => {
    await start();
    assert.deepEqual([...platform.queueUsers.keys()], ["00000000-0000-4000-8000-000000000001"]);
    assert.deepEqual(
      { region: firstUser().record.region, token: firstUser().token },
      {
        region: "eu-central-1",
        token: platform.queueToken,
      },
    );
  });

  it("changes with a rotation", async () => {
    await start();
    const former = platform.queueToken;
    await rotate();
    assert.equal(platform.queueToken, firstUser().token);
    assert.deepEqual([await statusWith(former), await statusWith(platform.queueToken)], [401, 200]);
  });

  it("is the initial one again after reset()", async () => {
    for (const options of [{}, { queueToken: "given" }]) {
      await start(options);
      const former = platform.queueToken;
      await rotate();
      await platform.reset();
      assert.equal(platform.queueToken, former);
      assert.equal(await statusWith(former), 200);
      await platform.close();
    }
  });

  it("is the given one, or that of the first user's state", async () => {
    const users = [{ record: { id: "one" }, token: "of-one" }, "two"];
    await start({ queueUsers: users });
    assert.equal(platform.queueToken, "of-one");
    await platform.close();
    await start({ queueUsers: users, queueToken: "given" });
    assert.equal(platform.queueToken, "given");
    assert.equal(firstUser().token, "given");
  });

  it("is not that of another user", async () => {
    await start({ queueUsers: ["one", { id: "two", region: "us-east-1" }] });
    const { queueToken } = platform;
    assert.equal(await statusWith(platform.queueUsers.get("two")!.token), 401);
    await rotate("two");
    assert.equal(platform.queueToken, queueToken);
    assert.equal(await statusWith(queueToken), 200);
  });

  it("may read and write; the read-only token may read alone", async () => {
    await start();
    const { token, readOnlyToken } = firstUser();
    const reset = "/v2/flowControl/orders/reset";
    assert.deepEqual([await statusWith(token), await statusWith(token, "POST", reset)], [200, 200]);
    const statuses = ["GET", "HEAD", "POST"].map((method) =>
      statusWith(readOnlyToken, method, method === "POST" ? reset : "/v2/flowControl"),
    );
    assert.deepEqual(await Promise.all(statuses), [200, 200, 401]);
    assert.equal(platform.requests.at(-1)?.authorized, false);
  });

  it("is in the saved state", async () => {
    await start();
    await rotate();
    const again = await startPlatform(platform.state());
    assert.equal((await queue(again, "GET", "/globalParallelism")).status, 200);
    assert.equal(again.queueToken, platform.queueToken);
    await again.close();
  });
});
