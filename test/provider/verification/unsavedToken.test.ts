import assert from "node:assert/strict";
import { hashOf } from "../../../provider/clients/aclReplies";
import { type NextTokens } from "../../../provider/platform/nextTokens";
import { saltedMark } from "../../../provider/rotation/marks";
import { credentialVerification } from "../../../provider/verification/credentialVerification";
import { asShown, FakeRun } from "../../support/fakeRun";

const { apply } = asShown(credentialVerification);
const salt = "s".repeat(22);
const marked = (value: string) => ({ name: "token", mark: saltedMark(salt, value) });
const since = "2026-01-01T00:00:00.000Z";
const retire = { formers: [{ by: hashOf("new token"), since, lasts: "retirement" }] };
/** The output `access` of a rotation that has added `new token`, and does not save it. */
const accessWith = (more: object = {}) =>
  JSON.stringify({
    id: "u",
    of: "QueueTokenRotation",
    count: 1,
    salt,
    current: marked("new token"),
    former: marked("former token"),
    retire,
    ...more,
  });

describe("A verification of a queue token that is not saved, while two are valid", () => {
  let fake: FakeRun;
  /** What is shown of the user. */
  let shown: string;
  let hasNext: boolean;
  let sent: string[];
  beforeEach(() => {
    fake = new FakeRun();
    [shown, hasNext, sent] = ["former token", true, []];
    fake.readDatabase = () => ({
      credentials: { token: shown },
      otherFields: JSON.stringify({ has_next_token: hasNext }),
    });
  });
  const next = "new token";
  const nextTokens = {
    prepare: async () => {
      sent.push("prepare");
      return { token: next };
    },
    roll: async () => {
      sent.push("roll");
      [shown, hasNext] = [next, false];
    },
  } as unknown as NextTokens;
  const verify = (more: object = {}) =>
    apply(undefined, { access: accessWith(), withinSeconds: 1, ...more }, fake.start({ nextTokens }));

  it("does not know it, and asks for no next token", async () => {
    for (hasNext of [true, false]) {
      const { message = "" } = await verify();
      assert.match(message, /new token is not saved, and the platform does not show it\n/);
      assert.match(message, /remove this verification, or remove saveCredentials/);
      assert.deepEqual(sent, []);
    }
  });

  it("asks for no next token of a user whose former one is retired", async () => {
    assert.match((await verify({ access: accessWith({ retire: undefined }) })).message ?? "", /does not show it/);
    assert.deepEqual(sent, []);
  });
});
