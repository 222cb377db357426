import assert from "node:assert/strict";
import { type Adapter } from "../support/host";
import { until } from "../support/results";
import { type OverlappingSecret, testByAdapter } from "./overlappingSecret";
import { closePlatforms, Queue, queueUserId } from "./queueOfPlatform";
import { UserOfServer, userRows, usersOfPlatform, type UserServer } from "./userOfServer";

/** A secret, and all that was sent to its server. */
interface Subject {
  readonly secret: OverlappingSecret;
  readonly sent: () => readonly string[];
}

/** Each is due by a date, and for a new version. */
const due = (version: number) => ({ version, rotatedSince: "2026-01-01" });
const changesIn = ({ sent }: Subject) => sent().filter((one) => !/^(GET|AUTH|ACL GETUSER) /.test(one));

describe("faults: previews of two valid secrets", () => {
  const { closes } = userRows();
  let server: UserServer;
  before(async () => {
    const started = await usersOfPlatform();
    closes(started.platform);
    ({ server } = started);
  });
  after(closePlatforms);

  const startQueue = async (adapter: Adapter): Promise<Subject> => {
    const secret = await Queue.start(adapter);
    return { secret, sent: () => secret.platform.requests.map(({ method, path }) => `${method} ${path}`) };
  };
  const startUser = async (adapter: Adapter): Promise<Subject> => {
    const secret = await UserOfServer.start(adapter, server);
    const sent: string[] = [];
    closes(secret.gate).meet = (command, point) => {
      if (point === "arrived") sent.push(command);
      return undefined;
    };
    return { secret, sent: () => sent };
  };

  for (const [kind, start] of Object.entries({ QueueTokenRotation: startQueue, AclUserRotation: startUser })) {
    testByAdapter(
      [108, "a preview and a refresh before and after an `up` and a retirement", kind, "nothing is sent but reads"],
      async (adapter) => {
        const subject = await start(adapter);
        const { secret } = subject;
        const preview = async (version: number) => {
          const before = changesIn(subject);
          for (let nth = 1; nth <= 2; nth++) await secret.preview(due(version));
          assert.deepEqual(changesIn(subject), before);
        };
        await preview(1);
        assert.equal(await secret.rotate(due(1)), "");
        const { length } = changesIn(subject);
        assert.ok(length > 0, "an `up` sends it");
        await preview(1);
        await preview(2);
        assert.equal(await secret.retire(), "");
        assert.ok(changesIn(subject).length > length, "a Retirement retires");
        await preview(2);
      },
    );

    testByAdapter(
      [108, "a destroy while two are valid", kind, "nothing is sent; says that both may stay valid"],
      async (adapter) => {
        const { secret, sent } = await start(adapter);
        assert.equal(await secret.rotate(due(1)), "");
        const { length } = sent();
        await secret.rotation.destroy();
        assert.equal(sent().length, length);
        await until(() => /two (token|password)s may stay valid/.test(secret.said.join("\n")));
      },
    );

    testByAdapter([108, "a destroy of a Retirement", kind, "nothing is sent"], async (adapter) => {
      const { secret, sent } = await start(adapter);
      assert.equal(await secret.rotate(due(1)), "");
      assert.equal(await secret.retire(), "");
      const { length } = sent();
      await secret.retirement.destroy();
      assert.equal(sent().length, length);
    });
  }

  testByAdapter(
    [108, "an import", "AclUserRotation", "fails, nothing is sent; says how to adopt it"],
    async (adapter) => {
      const { secret, sent } = await startUser(adapter);
      await secret.preview(due(1));
      await assert.rejects(secret.rotation.import("app"), /Nothing was sent.*initialRotation: false/s);
      assert.deepEqual(sent(), []);
    },
    ["plugin"],
  );

  testByAdapter(
    [108, "an import while a next token exists", "QueueTokenRotation", "nothing is sent but reads"],
    async (adapter) => {
      const subject = await startQueue(adapter);
      const { secret } = subject;
      assert.equal(await secret.rotate(due(1)), "");
      const before = changesIn(subject);
      await secret.rotation.import(queueUserId);
      await secret.preview(due(1));
      assert.deepEqual(changesIn(subject), before);
    },
    ["plugin"],
  );
});
