import assert from "node:assert/strict";
import { type Credentials } from "../../../../provider/records/fields";
import { OverlappingToken } from "../../../support/overlappingToken";
import { type Came, isLost } from "../../../support/rotatedSecret";

describe("rotation: the evidence of a token of which two are valid", () => {
  let token: OverlappingToken;
  beforeEach(async () => {
    token = new OverlappingToken();
    await token.up(0, { version: 1 });
  });
  const isFormerValid = () => token.secret.memory.overlap !== undefined;
  const refreshed = (shows: Credentials): Promise<Came> => token.secret.refresh({ shows });

  it("saves the new one as current, and the one before it as its former one", () => {
    const { rotationCount, rotationReason, rotatedAt, generatedAt, formerValidSince, problems } =
      token.secret.outputs ?? {};
    const now = "2026-01-01T00:00:00.000Z";
    assert.deepEqual(
      { rotationCount, rotationReason, problems },
      { rotationCount: 1, rotationReason: "created", problems: [] },
    );
    assert.deepEqual([rotatedAt, generatedAt, formerValidSince], [now, now, now]);
    assert.deepEqual(token.secret.saved, { token: "t1" });
    assert.equal(token.secret.memory.current.identity, "token");
  });

  it("says nothing of a read of the former one, which is valid", async () => {
    const { outputs } = token.secret;
    assert.equal((await refreshed({ token: "t0" })).said, "");
    assert.deepEqual(token.secret.outputs, outputs);
  });

  it("a read of the new one shows that the former one is retired", async () => {
    assert.equal((await refreshed({ token: "t1" })).said, "");
    assert.equal(isFormerValid(), false);
    const { formerValidSince, formerRetiredAt, token: saved } = token.secret.outputs ?? {};
    assert.deepEqual([formerValidSince, formerRetiredAt, saved], [undefined, undefined, "t1"]);
  });

  it("a read of a third one shows that someone else has replaced both", async () => {
    assert.match((await refreshed({ token: "t9" })).said, /was changed outside of Rekey \(token\)/);
    assert.deepEqual([isFormerValid(), token.secret.saved], [false, { token: "t9" }]);
  });

  it("a read without a token shows nothing", async () => {
    assert.match((await refreshed({})).said, /could not be compared: the platform does not show token/);
    assert.deepEqual([isFormerValid(), token.secret.saved], [true, { token: "t1" }]);
  });

  it("shows until when the former one is valid, of a duration", async () => {
    await token.up(1, { version: 1, overlap: "24h" });
    assert.equal(token.secret.outputs?.["formerValidUntil"], "2026-01-02T00:00:00.000Z");
    await token.up(1, { version: 1, overlap: "none" });
    assert.equal(token.secret.outputs?.["formerValidUntil"], undefined);
    assert.deepEqual(token.sent, []);
    await token.up(1, { version: 1, overlap: "none" });
    assert.deepEqual([token.sent, isFormerValid()], [["roll"], false]);
  });

  it("once the former one is retired, a read of it is outdated", async () => {
    await refreshed({ token: "t1" });
    assert.match((await refreshed({ token: "t0" })).said, /still shows an old credential/);
    assert.deepEqual(token.secret.saved, { token: "t1" });
  });

  describe("while a reset that replaces both is not confirmed", () => {
    const replaced = { version: 2, overlap: "none" };
    beforeEach(async () => {
      const { code } = await token.secret.up(replaced, { shows: { token: "t0" }, responds: isLost });
      assert.equal(code, "REKEY_UNCONFIRMED");
    });

    it("a refresh that shows the former one changes nothing", async () => {
      assert.equal((await refreshed({ token: "t0" })).said, "");
      assert.equal(isFormerValid(), true);
    });

    it("a read of another token settles it", async () => {
      const { said, sent } = await token.secret.up(replaced, { shows: { token: "t2" } });
      assert.match(said, /did go through/);
      assert.deepEqual([sent, token.secret.saved, isFormerValid()], [0, { token: "t2" }, false]);
    });

    it("a read of the former one shows that it was not applied, and it is sent again", async () => {
      const { sent, code } = await token.secret.up(replaced, { shows: { token: "t0" }, responds: { token: "t2" } });
      assert.deepEqual([code, sent, token.secret.saved, isFormerValid()], [undefined, 1, { token: "t2" }, false]);
    });
  });

  describe("no later read settles a reset", () => {
    const replaced = { version: 2, overlap: "none" };
    const sentAgain = async (shows: Credentials) => {
      await token.secret.up(replaced, { shows, responds: isLost });
      const { sent } = await token.secret.up(replaced, { shows: { token: "t2" }, responds: { token: "t3" } });
      return sent;
    };

    it("before which the token was hidden", async () => assert.equal(await sentAgain({}), 1));

    it("before which a read was outdated, because the former one was retired", async () => {
      await refreshed({ token: "t1" });
      assert.equal(await sentAgain({ token: "t0" }), 1);
    });
  });

  describe("that was prepared by someone else", () => {
    const withNext = JSON.stringify({ has_next_token: true });

    it("is of unknown age, so a date still asks for another one", async () => {
      const prepared = new OverlappingToken();
      prepared.next = "t7";
      prepared.otherFields = withNext;
      const dated = { rotatedSince: "2026-01-01", initialRotation: false };
      const { said } = await prepared.up(0, dated);
      assert.match(said, /the platform already had a next token, whose age is unknown/);
      assert.deepEqual(prepared.secret.saved, { token: "t7" });
      assert.equal(prepared.secret.outputs?.["generatedAt"], undefined);
      assert.match(prepared.preview(1, dated), /its age is not known/);
      await prepared.up(1, dated);
      assert.deepEqual(prepared.sent, ["roll", "next"]);
      assert.notEqual(prepared.secret.saved.token, "t7");
    });
  });

  it("a prepared pair is still of unknown age after a proof that failed", async () => {
    token = new OverlappingToken();
    token.next = "leaked";
    token.otherFields = '{"has_next_token":true}';
    token.isAway = true;
    const { code } = await token.up(0, { version: 1 });
    assert.equal(code, "REKEY_VERIFICATION_FAILED");
    token.isAway = false;
    const { said } = await token.up(1, { version: 1 });
    assert.deepEqual(token.secret.saved, { token: "leaked" });
    assert.equal(token.secret.memory.current.generatedAt, undefined);
    assert.match(said, /whose age is unknown/);
  });

  it("a read that is older than both forgets neither", async () => {
    token = new OverlappingToken();
    await token.up(0, { version: 1 });
    token.roll();
    await token.up(1, { version: 2 });
    assert.ok(token.secret.memory.overlap);
    await token.secret.refresh({ shows: { token: "t0" } });
    assert.ok(token.secret.memory.overlap, "t1 is valid, and not retired");
  });

  it("a former one is retired although the read after the retirement before it was late", async () => {
    // A read in the `up` that rolls shows the token from before the roll, as `OverlappingToken` does.
    token = new OverlappingToken();
    const some = { overlap: "12h" };
    await token.up(0, { version: 1, ...some });
    await token.up(1, { version: 2, ...some });
    assert.deepEqual(token.sent, ["roll", "next"]);
    await token.up(20, { version: 2, ...some });
    assert.deepEqual(token.sent, ["roll"]);
  });
});
