import assert from "node:assert/strict";
import { hashOf } from "../../../provider/clients/aclReplies";
import { type NextTokens } from "../../../provider/platform/nextTokens";
import { saltedMark } from "../../../provider/rotation/marks";
import { credentialVerification } from "../../../provider/verification/credentialVerification";
import { FakeRun, isMadeUp } from "../../support/fakeRun";

const salt = "s".repeat(22);
const marked = (value: string) => ({ name: "token", mark: saltedMark(salt, value) });
const access = JSON.stringify({
  id: "u",
  of: "queue user",
  count: 2,
  salt,
  current: { ...marked("t2"), value: "t2" },
  former: marked("t1"),
  retire: { since: "2026-01-01T00:00:00.000Z", hashes: [hashOf("t2")] },
});

describe("review: a verification that retires", () => {
  it("retires although a late read shows a token that is older than both", async () => {
    const fake = new FakeRun();
    const rolled: string[] = [];
    fake.probe = ({ credential: { value } }) =>
      isMadeUp(value) ? { kind: "refused", words: "no" } : { kind: "accepted" };
    fake.readDatabase = () => ({ record: {}, credentials: { token: "t0" } });
    const nextTokens = { roll: async (_: string, hash: string) => void rolled.push(hash) } as unknown as NextTokens;
    const { outputs } = await credentialVerification.apply(
      undefined,
      { access, retireFormer: true, withinSeconds: 1 },
      fake.start({ nextTokens }),
    );
    assert.deepEqual([rolled, Boolean(outputs.formerRetiredAt)], [[hashOf("t2")], true]);
  });
});
