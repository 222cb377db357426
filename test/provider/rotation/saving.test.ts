import assert from "node:assert/strict";
import { type Properties } from "../../../provider/records/properties";
import { type Credentials } from "../../../provider/records/credentials";
import { Team } from "../../support/age";
import { leaksOf } from "../../support/canaries";
import { type FakeRun, unconfirmed } from "../../support/fakeRun";
import { SecretStack } from "../../support/secretStack";
import { secretSubjects } from "../../support/secretSubjects";

for (const subject of secretSubjects) {
  describe(`rotation: credentials of ${subject.what} that are not saved`, () => {
    let stack: SecretStack;
    let fake: FakeRun;
    let team: Team;
    /** Neither saved nor shown to anyone but the team. */
    let hidden: Properties;

    before(async () => {
      team = await Team.create();
      hidden = { saveCredentials: false, encryptFor: [team.recipient] };
    });

    beforeEach(() => {
      stack = new SecretStack(subject);
      ({ fake } = stack);
    });

    const assertEncrypted = async (of: Credentials = stack.current) => {
      stack.assertNoCanary();
      const text = await team.decrypt(stack.single["encryptedCredentials"]);
      const names = Object.keys(of);
      assert.deepEqual(Object.fromEntries(Object.entries(text).filter(([name]) => names.includes(name))), of);
      assert.deepEqual(stack.single["encryptedFor"], [team.recipient]);
      return text;
    };

    for (const isReadable of subject.resource.outputs.includes("indexId") ? [true] : [true, false]) {
      it(`are nowhere in the state after resets, and can be decrypted (${isReadable ? "" : "not "}readable)`, async () => {
        fake.canRead = isReadable;
        for (const version of [1, 2, 3]) {
          await stack.up(version, hidden);
          await assertEncrypted();
          assert.equal(fake.resets.length, version);
          assert.equal(stack.diff(version, hidden).changes, false);
        }
      });
    }

    it("are in the file with the id, the time of the reset and the URLs", async () => {
      const connection = { host: "{id}.example.com", username: "app", port: 7, tls: true };
      const isDatabase = subject.kind.idInput === "databaseId";
      const given = subject.what.includes("fleet") ? { connection } : isDatabase ? connection : {};
      await stack.up(1, { ...hidden, ...given });
      const { password, restToken, token, currentKey, ...others } = await assertEncrypted();
      assert.ok(password ?? token ?? currentKey);
      assert.equal(others[subject.kind.idInput], subject.kind.onlyId ?? "db-1");
      assert.equal(others["rotatedAt"], stack.single["rotatedAt"]);
      const { connectionUrl, restUrl } = others;
      const urls = { connectionUrl, restUrl };
      if (!isDatabase) {
        const expected = subject.kind.restUrl?.(stack.single["record"] as Properties);
        assert.deepEqual(urls, { connectionUrl: undefined, restUrl: expected });
        return;
      }
      assert.deepEqual(urls, {
        connectionUrl: `rediss://app:${String(password)}@db-1.example.com:7`,
        restUrl: "https://db-1.example.com",
      });
    });

    it("are nowhere in the state without encryption either, if the platform can be read", async () => {
      for (const version of [1, 2]) {
        await stack.up(version, { saveCredentials: false });
        stack.assertNoCanary();
        assert.equal(stack.single["encryptedCredentials"], undefined);
        assert.equal(stack.diff(version, { saveCredentials: false }).changes, false);
      }
      assert.equal((await stack.refresh()).notice, undefined);
      stack.generation = 9;
      assert.match((await stack.refresh()).notice ?? "", /changed outside of Rekey/);
      assert.equal((await stack.refresh()).notice, undefined);
      stack.assertNoCanary();
    });

    it("are nowhere in the state if the response is lost, and a read settles it", async () => {
      await stack.up(1, hidden);
      const former = stack.current;
      fake.answer = () => {
        stack.generation++;
        return unconfirmed();
      };
      await stack.up(2, hidden);
      assert.equal(stack.single["outcome"], "reset");
      await assertEncrypted();
      // The next one is applied late.
      fake.answer = unconfirmed;
      await stack.up(3, hidden);
      assert.equal(stack.single["outcome"], "unknown");
      await assertEncrypted();
      await stack.refresh();
      assert.equal(stack.single["outcome"], "unknown");
      stack.generation++;
      assert.match((await stack.refresh()).notice ?? "", /was not confirmed|not confirmed by/);
      assert.equal(stack.single["outcome"], "reset");
      await assertEncrypted();
      // Former credentials are still recognized.
      fake.readDatabase = () => ({ credentials: former });
      assert.match((await stack.refresh()).warning ?? "", /still shows former credentials/);
      assert.equal(fake.resets.length, 3);
    });

    it("are encrypted again by a refresh that shows others, and only then", async () => {
      await stack.up(1, hidden);
      const file = stack.single["encryptedCredentials"];
      assert.deepEqual([(await stack.refresh()).notice, stack.single["encryptedCredentials"]], [undefined, file]);
      stack.generation = 7;
      assert.match((await stack.refresh()).notice ?? "", /changed outside of Rekey/);
      assert.notEqual(stack.single["encryptedCredentials"], file);
      await assertEncrypted();
      assert.equal(stack.diff(1, hidden).changes, false);
    });

    it("stay in the file if a refresh shows only some of them", async () => {
      await stack.up(1, hidden);
      const file = stack.single["encryptedCredentials"];
      const before = stack.current;
      const [first = "", second = ""] = Object.keys(before);
      fake.readDatabase = () => ({ credentials: { [first]: before[first as "password"] } });
      await stack.refresh();
      assert.equal(stack.single["encryptedCredentials"], file);
      if (subject.kind.onlyId !== undefined) return;
      fake.readDatabase = () => ({ credentials: { [second]: "canary-rest-token-9-" } });
      await stack.refresh();
      await assertEncrypted(before);
    });

    it("are adopted without being saved", async () => {
      await stack.up(1, { ...hidden, initialRotation: false });
      assert.equal(fake.resets.length, 0);
      await assertEncrypted();
    });

    it("are encrypted and removed, without a request, if they were saved", async () => {
      await stack.up(1);
      assert.deepEqual(stack.values, stack.current);
      fake.databaseReads.length = 0;
      const { changes, notice } = stack.diff(1, hidden);
      assert.equal(changes, true);
      assert.match(notice ?? "", /removes the credentials of .* from the state/i);
      const { warning } = await stack.up(1, hidden);
      assert.match(warning ?? "", /Older states and backups still have them: set a new version/);
      await assertEncrypted();
      assert.equal(stack.diff(1, hidden).changes, false);
      assert.deepEqual([fake.resets.length, fake.databaseReads.length], [1, 0]);
    });

    it("are read once to be saved again, and removed from nowhere before", async () => {
      await stack.up(1, hidden);
      fake.databaseReads.length = 0;
      assert.match(stack.diff(1).notice ?? "", /reads/i);
      await stack.up(1);
      assert.deepEqual(stack.values, stack.current);
      assert.deepEqual([fake.resets.length, fake.databaseReads.length], [1, 1]);
      assert.equal(stack.single["currentMarks"], undefined);
      assert.equal(stack.single["encryptedCredentials"], undefined);
      assert.equal(stack.diff(1).changes, false);
    });

    it("wait for the next reset to be saved again, with a notice, if the platform cannot be read", async () => {
      await stack.up(1, hidden);
      fake.canRead = false;
      const { changes, notice } = stack.diff(1);
      assert.equal(changes, true);
      assert.match(notice ?? "", /with the next reset/);
      await stack.up(1);
      // The file is the only place that has them.
      await assertEncrypted();
      assert.equal(stack.diff(1).changes, false);
      assert.equal(fake.resets.length, 1);
      fake.canRead = true;
      await stack.up(2);
      assert.deepEqual(stack.values, stack.current);
      assert.equal(stack.single["encryptedCredentials"], undefined);
    });

    it("are encrypted for other recipients after one read", async () => {
      await stack.up(1, hidden);
      const other = await Team.create();
      const both = { ...hidden, encryptFor: [other.recipient, team.recipient, other.recipient] };
      await stack.up(1, both);
      const text = await other.decrypt(stack.single["encryptedCredentials"]);
      assert.deepEqual(text, await team.decrypt(stack.single["encryptedCredentials"]));
      assert.deepEqual(stack.single["encryptedFor"], [other.recipient, team.recipient].sort());
      stack.assertNoCanary();
      for (const encryptFor of [both.encryptFor, both.encryptFor.toReversed()]) {
        assert.equal(stack.diff(1, { ...hidden, encryptFor }).changes, false);
      }
      assert.equal(fake.resets.length, 1);
    });

    it("stay with the former recipients until the next reset, if the platform cannot be read", async () => {
      await stack.up(1, hidden);
      fake.canRead = false;
      const other = { ...hidden, encryptFor: [(await Team.create()).recipient] };
      await stack.up(1, other);
      await assertEncrypted();
      assert.equal(stack.diff(1, other).changes, false);
      fake.canRead = true;
      await stack.refresh();
      assert.deepEqual(stack.single["encryptedFor"], other.encryptFor);
    });

    it("are encrypted and saved, if both is asked for, and nothing changes in ten runs and refreshes", async () => {
      const both = { encryptFor: [team.recipient] };
      await stack.up(1, both);
      assert.deepEqual(stack.values, stack.current);
      const saved = JSON.stringify(stack.saved);
      for (let run = 0; run < 10; run++) {
        const { changes, notice, warning } = stack.diff(1, both);
        assert.deepEqual({ changes, notice, warning }, { changes: false, notice: undefined, warning: undefined });
        await stack.refresh();
        assert.equal(JSON.stringify(stack.saved), saved);
      }
    });

    it("are refused before anything is sent, if they would be lost", async () => {
      fake.canRead = false;
      assert.match(stack.check({ saveCredentials: false }).join(), /saveCredentials: false needs encryptFor/);
      assert.deepEqual(stack.check(hidden), []);
      assert.deepEqual(stack.check({ saveCredentials: false }, new Set(["encryptFor"])), []);
      fake.canRead = true;
      assert.deepEqual(stack.check({ saveCredentials: false }), []);
    });

    it("are not encrypted for what is not a recipient, of which nothing is shown", async () => {
      const truncated = team.recipient.slice(0, -1);
      for (const encryptFor of [[], ["age1x"], [team.recipient, truncated], [team.identity], [5], "age1", [null]]) {
        const reasons = stack.check({ encryptFor }).join();
        assert.match(reasons, /encryptFor (\[\d\]|must)/);
        assert.deepEqual(leaksOf(reasons, { identity: team.identity, truncated }), []);
      }
      assert.match(stack.check({ encryptFor: [team.recipient, team.identity] }).join(), /\[1\] is a secret key/);
    });
  });
}
