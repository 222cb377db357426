import assert from "node:assert/strict";
import { type Properties, unknownValue } from "../../../provider/records/properties";
import { Team } from "../../support/age";
import { allThatShows, leaksOf } from "../../support/canaries";
import { type FakeRun, rejected, unconfirmed } from "../../support/fakeRun";
import { SecretStack, whileEncryptionFails } from "../../support/secretStack";
import { secretSubjects } from "../../support/secretSubjects";

for (const subject of secretSubjects) {
  describe(`rotation: credentials of ${subject.what} that cannot be encrypted or read`, () => {
    const isFleet = subject.what.includes("fleet");
    const isIndex = subject.resource.outputs.includes("indexId");
    let stack: SecretStack;
    let fake: FakeRun;
    let team: Team;
    let hidden: Properties;

    before(async () => {
      team = await Team.create();
      hidden = { saveCredentials: false, encryptFor: [team.recipient] };
    });

    beforeEach(() => {
      stack = new SecretStack(subject);
      ({ fake } = stack);
    });

    /** Why it failed: a fleet saves it, any other resource fails. */
    const failureOf = ({ message }: { readonly message?: string }) =>
      isFleet ? (stack.single["problem"] as string | undefined) : message;

    const assertHidden = async () => {
      stack.assertNoCanary();
      const text = await team.decrypt(stack.single["encryptedCredentials"]);
      for (const [name, value] of Object.entries(stack.current)) assert.equal(text[name], value);
      assert.equal(stack.single["problem"], undefined);
    };

    it("are saved after a reset whose credentials cannot be encrypted, and are encrypted without a reset", async () => {
      const result = await whileEncryptionFails(() => stack.up(1, hidden));
      const failure = failureOf(result) ?? "";
      assert.match(failure, /could not be encrypted.*are saved in the state, as secrets.*REKEY_NOT_ENCRYPTED/s);
      const canaries = stack.current as Record<string, string>;
      assert.deepEqual(leaksOf(allThatShows(result.failure ?? new Error(failure)), canaries), []);
      assert.deepEqual(stack.values, stack.current);
      assert.equal(stack.single["encryptedCredentials"], undefined);
      assert.equal(stack.single["outcome"], "reset");
      fake.databaseReads.length = 0;
      assert.equal(stack.diff(1, hidden).changes, true);
      const next = await stack.up(1, hidden);
      assert.equal(next.message, undefined);
      await assertHidden();
      assert.equal(stack.diff(1, hidden).changes, false);
      assert.deepEqual([fake.resets.length, fake.databaseReads.length], [1, 0]);
    });

    it("keep the file and no value if credentials that are known already cannot be encrypted", async () => {
      await stack.up(1, hidden);
      const before = stack.single["encryptedCredentials"];
      const other = { ...hidden, encryptFor: [(await Team.create()).recipient] };
      const result = await whileEncryptionFails(() => stack.up(1, other));
      assert.match(failureOf(result) ?? "", /could not be encrypted.*The saved state stays/s);
      assert.equal(stack.single["encryptedCredentials"], before);
      stack.assertNoCanary();
      assert.equal(stack.diff(1, other).changes, true);
      await stack.up(1, other);
      assert.deepEqual(stack.single["encryptedFor"], other.encryptFor);
      stack.assertNoCanary();
      assert.equal(fake.resets.length, 1);
    });

    it("stay saved until they can be encrypted", async () => {
      await stack.up(1);
      const result = await whileEncryptionFails(() => stack.up(1, hidden));
      assert.match(failureOf(result) ?? "", /REKEY_NOT_ENCRYPTED/);
      assert.deepEqual(stack.values, stack.current);
      await stack.up(1, hidden);
      await assertHidden();
      assert.equal(fake.resets.length, 1);
    });

    it("change nothing at a refresh that cannot encrypt others", async () => {
      await stack.up(1, hidden);
      const before = JSON.stringify(stack.saved);
      stack.generation = 7;
      const { warning } = await whileEncryptionFails(() => stack.refresh());
      assert.match(warning ?? "", isFleet ? /not read/ : /could not be encrypted.*saved state stays/);
      assert.equal(JSON.stringify(stack.saved), before);
      await stack.refresh();
      await assertHidden();
    });

    it("are adopted although they cannot be encrypted, and encrypted by the next run", async () => {
      const adopted = { ...hidden, initialRotation: false };
      await whileEncryptionFails(() => stack.up(1, adopted));
      assert.deepEqual([stack.single["outcome"], stack.values], ["adopted", stack.current]);
      await stack.up(1, adopted);
      await assertHidden();
      assert.equal(fake.resets.length, 0);
    });

    it("are adopted with nothing known, and hidden as soon as something is", async () => {
      if (isIndex) return;
      fake.canRead = false;
      const adopted = { ...hidden, initialRotation: false };
      await stack.up(1, adopted);
      assert.equal(stack.single["encryptedCredentials"], undefined);
      assert.equal(stack.diff(1, adopted).changes, false);
      fake.canRead = true;
      await stack.refresh();
      await assertHidden();
      assert.equal(stack.diff(1, adopted).changes, false);
    });

    it("that were adopted without being known change once to be hidden, and not back", async () => {
      if (isIndex) return;
      fake.canRead = false;
      await stack.up(1, { initialRotation: false });
      assert.match(
        stack.diff(1, hidden).notice ?? "",
        /applies saveCredentials and encryptFor to .* with the next reset/i,
      );
      await stack.up(1, hidden);
      assert.equal(stack.diff(1, hidden).changes, false);
      fake.canRead = true;
      assert.match(stack.diff(1, { saveCredentials: false }).notice ?? "", /encryptedCredentials/);
      await stack.up(1, { saveCredentials: false });
      assert.equal(stack.diff(1).changes, false);
      await stack.refresh();
      stack.assertNoCanary();
      assert.match(stack.diff(1).notice ?? "", /reads/i);
      await stack.up(1);
      assert.deepEqual(stack.values, stack.current);
      assert.equal(fake.resets.length, 0);
    });

    it("are announced as not saved, if none is known", async () => {
      if (isIndex) return;
      fake.readDatabase = () => rejected();
      fake.canRead = false;
      await stack.up(1, { initialRotation: false });
      fake.canRead = true;
      assert.match(stack.diff(1, { saveCredentials: false }).notice ?? "", /saves no credentials of/i);
      await stack.up(1, { saveCredentials: false });
      assert.equal(stack.diff(1, { saveCredentials: false }).changes, false);
      assert.equal(fake.databaseReads.length, 0);
    });

    it("are read again by the next run if a read failed or was late, and the file stays", async () => {
      await stack.up(1, hidden);
      const former = stack.current;
      await stack.up(2, hidden);
      const file = stack.single["encryptedCredentials"];
      const shown = fake.readDatabase;
      for (const late of [() => rejected(), () => ({ credentials: former })]) {
        fake.readDatabase = late;
        await stack.up(2);
        assert.equal(stack.single["encryptedCredentials"], file);
        assert.equal(stack.diff(2).changes, true);
      }
      fake.readDatabase = shown;
      await stack.up(2);
      assert.deepEqual(stack.values, stack.current);
      assert.equal(stack.diff(2).changes, false);
      assert.equal(fake.resets.length, 2);
    });

    it("stay in the file if the platform does not show what should be saved again", async () => {
      await stack.up(1, hidden);
      fake.readDatabase = () => ({});
      await stack.up(1);
      assert.equal(stack.diff(1).changes, false);
      await assertHidden();
    });

    it("are removed from the file, once a read shows them, if only the platform is to have them", async () => {
      await stack.up(1, hidden);
      const shown = fake.readDatabase;
      fake.readDatabase = () => ({});
      const { warning } = await stack.up(1, { saveCredentials: false });
      assert.match(warning ?? "", /no read shows them/);
      await assertHidden();
      fake.readDatabase = shown;
      fake.databaseReads.length = 0;
      assert.match(stack.diff(1, { saveCredentials: false }).notice ?? "", /encryptedCredentials/);
      await stack.up(1, { saveCredentials: false });
      assert.deepEqual([stack.single["encryptedCredentials"], stack.single["encryptedFor"]], [undefined, undefined]);
      stack.assertNoCanary();
      assert.equal(stack.diff(1, { saveCredentials: false }).changes, false);
      assert.deepEqual([fake.resets.length, fake.databaseReads.length], [1, 1]);
    });

    it("stay in the file if they are those of another account", async () => {
      fake.account = "1:one";
      await stack.up(1, hidden);
      fake.account = "1:two";
      for (const saving of [{}, { saveCredentials: false }]) {
        await stack.up(1, saving);
        await assertHidden();
      }
      assert.equal(fake.resets.length, 1);
    });

    it("that the response left out are encrypted once a read shows them", async () => {
      if (subject.kind.onlyId !== undefined) return;
      await stack.up(1, hidden);
      const former = stack.current;
      const shown = fake.readDatabase;
      fake.answer = () => {
        stack.generation++;
        return {};
      };
      fake.readDatabase = () => ({ credentials: former });
      await stack.up(2, hidden);
      stack.assertNoCanary();
      assert.deepEqual([stack.single["encryptedCredentials"], stack.values], [undefined, {}]);
      assert.deepEqual(stack.single["missingCredentials"], Object.keys(former));
      assert.match(stack.diff(2, hidden).notice ?? "", /reads/i);
      fake.readDatabase = shown;
      await stack.up(2, hidden);
      await assertHidden();
      assert.equal(stack.diff(2, hidden).changes, false);
      assert.equal(fake.resets.length, 2);
    });

    it("are hidden at once if they were saved and a reset is not confirmed", async () => {
      await stack.up(1);
      const former = stack.current;
      fake.answer = unconfirmed;
      await stack.up(2, hidden);
      assert.equal(stack.single["outcome"], "unknown");
      stack.assertNoCanary();
      const text = await team.decrypt(stack.single["encryptedCredentials"]);
      for (const [name, value] of Object.entries(former)) assert.equal(text[name], value);
    });

    it("are not announced as changed while saveCredentials or encryptFor is not known", async () => {
      await stack.up(1, hidden);
      const previews = [
        { ...hidden, saveCredentials: unknownValue },
        { ...hidden, encryptFor: unknownValue },
        { ...hidden, encryptFor: [team.recipient, unknownValue] },
      ];
      for (const inputs of previews) assert.equal(stack.diff(1, inputs).changes, false);
    });

    it("refuses, before anything is sent, to reset what cannot be encrypted", async () => {
      const inputs = { encryptFor: ["age1x"] };
      if (isFleet) {
        await stack.up(1, inputs);
        assert.match(failureOf({}) ?? "", /REKEY_NOT_ENCRYPTED/);
      } else {
        await assert.rejects(
          stack.up(1, inputs),
          /nothing can be encrypted for one of encryptFor.*REKEY_NOT_ENCRYPTED/s,
        );
      }
      assert.deepEqual([fake.resets.length, fake.databaseReads.length], [0, 0]);
    });
  });
}
