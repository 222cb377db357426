import assert from "node:assert/strict";
import { hashOf } from "../../../provider/clients/aclReplies";
import { type NextTokens } from "../../../provider/platform/nextTokens";
import { saltedMark } from "../../../provider/rotation/marks";
import { credentialVerification } from "../../../provider/verification/credentialVerification";
import { unknownValue } from "../../../provider/pulumi/values";
import { asShown, FakeRun, isMadeUp } from "../../support/fakeRun";

const { plan, apply } = asShown(credentialVerification);
const salt = "s".repeat(22);
const marked = (value: string) => ({ name: "token", mark: saltedMark(salt, value) });
const since = "2026-01-01T00:00:00.000Z";
const retire = { since, formers: [{ by: hashOf("new token"), since, lasts: "retirement" }] };
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

  it("does not know it: it asks for no next token, and retires none", async () => {
    for (hasNext of [true, false]) {
      const { message = "" } = await verify({ retireFormerAfter: true });
      assert.match(message, /new token is not saved, and the platform does not show it\n/);
      assert.match(message, /remove this verification, or remove saveCredentials and set a new version/);
      assert.deepEqual(sent, []);
    }
  });

  it("still saves the retirement if the former one is accepted, which no later run can try", async () => {
    fake.probe = ({ credential }) =>
      isMadeUp(credential.value) ? { kind: "refused", words: "no" } : { kind: "accepted" };
    fake.readDatabase = () => ({ credentials: { token: "new token" } });
    const inputs = { access: accessWith(), withinSeconds: 1, retireFormerAfter: true };
    const run = fake.start({ nextTokens });
    run.shared.replacedValues.set('token of queue user "u"', [{ token: "former token" }]);
    const failed = await apply(undefined, inputs, run);
    assert.match(failed.message ?? "", /an old token is still accepted/);
    const again = await apply(failed.outputs, inputs, fake.start());
    assert.match(again.message ?? "", /an old token is still accepted/);
    const { formerRetiredAt, memory } = again.outputs;
    assert.ok(formerRetiredAt);
    assert.deepEqual(JSON.parse(memory), JSON.parse(failed.outputs.memory));
  });
});

describe("A preview of a verification", () => {
  const announced = (access: unknown, retireFormerAfter?: unknown) =>
    plan(undefined, { access, retireFormerAfter } as Parameters<typeof plan>[1]).notice;

  it("announces that the former one is retired", () => {
    assert.match(announced(accessWith(), true) ?? "", /the former token is retired once the new one is accepted/);
    assert.match(announced(unknownValue, true) ?? "", /valid, it is retired after/);
  });

  it("announces that it may be, while retireFormerAfter is not known", () => {
    assert.match(
      announced(accessWith(), unknownValue) ?? "",
      /the former token may be retired \(retireFormerAfter is not/,
    );
    assert.match(
      announced(unknownValue, unknownValue) ?? "",
      /valid, it may be retired \(retireFormerAfter is not known yet\)/,
    );
  });

  it("announces nothing without retireFormerAfter", () => {
    assert.deepEqual([announced(accessWith()), announced(unknownValue)], [undefined, undefined]);
  });
});

describe("A verification of a queue token of which two are valid", () => {
  const accessOfBoth = accessWith({ count: 2, current: { ...marked("new token"), value: "new token" } });

  it("retires although a late read shows a token that is older than both", async () => {
    const fake = new FakeRun();
    const rolled: string[] = [];
    fake.probe = ({ credential: { value } }) =>
      isMadeUp(value) ? { kind: "refused", words: "no" } : { kind: "accepted" };
    fake.readDatabase = () => ({ record: {}, credentials: { token: "t0" } });
    const nextTokens = { roll: async (_: string, hash: string) => void rolled.push(hash) } as unknown as NextTokens;
    const { outputs } = await credentialVerification.apply(
      undefined,
      { access: accessOfBoth, retireFormerAfter: true, withinSeconds: 1 },
      fake.start({ nextTokens }),
    );
    assert.deepEqual([rolled, Boolean(outputs.formerRetiredAt)], [[hashOf("new token")], true]);
  });
});
