import assert from "node:assert/strict";
import { type Platform, startPlatform } from "../../../local/platform/index";
import { adapters, type Adapter, Host } from "../../support/host";
import { databaseReply } from "../../support/redis";
import { databasePath, settingsFor } from "../../support/resources";
import { secretOutputs } from "../../support/secretOutputs";
import { hostCalls, Stack } from "../../support/stack";
import { isSecret, secretNames } from "../../support/wire";

describe("the user of a database of the local platform", () => {
  let platform: Platform;
  beforeEach(async () => {
    platform = await startPlatform({ databases: ["db", "other"], credentials: "read", databasePath });
    await acl("SETUSER", "app", "on", "+@all", "~*");
  });
  afterEach(() => platform.close());

  const acl = (...words: string[]): Promise<string> => {
    const { record, password } = platform.database("db");
    return databaseReply(record, ["AUTH", password], ["ACL", ...words]);
  };
  const hashes = async (): Promise<string[]> => (await acl("GETUSER", "app")).match(/^[\da-f]{64}(?=\r)/gm) ?? [];
  const accepts = async (token: unknown): Promise<boolean> =>
    (await databaseReply(platform.database("db").record, ["AUTH", "app", String(token)])) === "+OK\r\n";
  const settings = () => settingsFor(platform, { databasePath });

  async function walk(adapter: Adapter): Promise<unknown[]> {
    const host = await Host.start({ adapter, settings: settings() });
    const stackOf = (provider: Parameters<typeof hostCalls>[1]): Stack => new Stack(hostCalls(host, provider));
    const [database, app, verification] = [
      stackOf("passwordRotation"),
      stackOf("aclUserRotation"),
      stackOf("credentialVerification"),
    ] as const;
    const inputsOf = (version: number) => ({ userName: "app", version, admin: String(database.plain["access"]) });
    const seen: unknown[] = [];
    /** A version, whose former token its verification retires. */
    const hand = async (version: number): Promise<void> => {
      const former = app.plain["password"];
      const before = await hashes();
      await app.preview(inputsOf(version));
      assert.deepEqual(await hashes(), before, "a preview changes nothing");
      await app.up(inputsOf(version));
      const { password, restToken, __provider: _text, ...others } = app.plain;
      assert.equal(restToken, password);
      for (const one of former === undefined ? [password] : [former, password]) assert.ok(await accepts(one));
      await verification.up({ access: app.plain["access"], retireFormerAfter: ["deployment"] });
      assert.equal((await hashes()).length, 1);
      assert.ok(await accepts(password));
      if (former !== undefined) assert.equal(await accepts(former), false);
      // A read learns of the retirement.
      await app.refresh();
      assert.equal((await app.up(inputsOf(version))).did, "same");
      const marks = secretNames(app.saved?.outputs ?? {});
      assert.deepEqual(
        marks,
        secretOutputs.AclUserRotation.filter((name) => name in app.plain),
      );
      seen.push({ outputs: Object.keys(others).sort(), marks, verified: verification.plain["verified"] });
    };
    try {
      await database.up({ databaseId: "db", initialRotation: false });
      await hand(1);
      await hand(2);
      // A new password of the admin causes no request.
      await database.up({ databaseId: "db", initialRotation: false, version: 1 });
      const kept = await hashes();
      assert.equal((await app.up(inputsOf(2))).did, "update");
      assert.deepEqual(await hashes(), kept);
      await hand(3);
      await app.destroy();
      assert.equal((await hashes()).length, 1);
      return seen;
    } finally {
      await host.stop();
    }
  }

  for (const adapter of adapters) {
    it(`is rotated and handed over by the ${adapter} adapter`, async () => {
      const [first, second] = await walk(adapter);
      assert.deepEqual(Object.keys(first as object), Object.keys(second as object));
    });
  }

  it("has an admin, and the credential of a verification, as secrets in the plugin, whatever they are given as", async () => {
    const host = await Host.start({ adapter: "plugin", settings: settings() });
    const admin = { host: "redis.example.com", port: 6379, password: "p" };
    const { inputs, problems } = await hostCalls(host, "aclUserRotation").check({ userName: "app", admin }, {});
    const verification = { credential: "a-key", http: { url: "https://api.example.com" } };
    const verified = await hostCalls(host, "credentialVerification").check(verification, {});
    await host.stop();
    assert.deepEqual([problems, isSecret(inputs["admin"])], [[], true]);
    assert.deepEqual([verified.problems, isSecret(verified.inputs["credential"])], [[], true]);
  });
});
