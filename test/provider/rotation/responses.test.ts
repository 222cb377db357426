import assert from "node:assert/strict";
import { type SecretResponse } from "../../../provider/records/response";
import { type PasswordRotationOutputs } from "../../../provider/rotation/outputs";
import { FakeRun, passwordRotation, unconfirmed } from "../../support/fakeRun";

const inputs = (version: number) => ({ databaseId: "db", version });
const showing = (port: number, credentials: SecretResponse["credentials"]): Partial<SecretResponse> => ({
  record: { databaseId: "db", port },
  credentials,
});
const credentialsIn = ({ password, restToken, readOnlyRestToken }: PasswordRotationOutputs) => ({
  ...(password !== undefined && { password }),
  ...(restToken !== undefined && { restToken }),
  ...(readOnlyRestToken !== undefined && { readOnlyRestToken }),
});

describe("rotation: a response and the reads around it", () => {
  let fake: FakeRun;
  let saved: PasswordRotationOutputs;
  const up = async (version: number) => passwordRotation.apply(saved, inputs(version), fake.start());
  /** What the platform shows before the second reset, and after it. */
  const reads = (before: Partial<SecretResponse>, after: Partial<SecretResponse>) => {
    fake.readDatabase = (_, resets) => (resets < 2 ? before : after);
  };

  beforeEach(async () => {
    fake = new FakeRun();
    fake.canRead = true;
    fake.readDatabase = () => showing(1, { password: "p0", restToken: "r0" });
    fake.answer = () => showing(1, { password: "p1", restToken: "r1" });
    ({ outputs: saved } = await passwordRotation.apply(undefined, inputs(1), fake.start()));
  });

  it("the record is that of the read before the reset, if the response has none", async () => {
    const after = showing(3, { password: "p2", restToken: "r2" });
    reads(showing(2, { password: "p1", restToken: "r1" }), after);
    fake.answer = () => ({ record: {}, credentials: { password: "p2", restToken: "r2" } });
    assert.equal((await up(2)).outputs.record?.port, 2);
  });

  it("the record is the saved one, if that read was late", async () => {
    reads(showing(9, { password: "p0", restToken: "r0" }), showing(3, { password: "p2", restToken: "r2" }));
    fake.answer = () => ({ record: {}, credentials: { password: "p2", restToken: "r2" } });
    assert.equal((await up(2)).outputs.record?.port, 1);
  });

  it("credentials of a response are not mixed with those of a read that shows another one", async () => {
    const later = { password: "p3", restToken: "r3" };
    reads(showing(1, { password: "p1", restToken: "r1" }), showing(1, later));
    fake.answer = () => showing(1, { password: "p2", readOnlyRestToken: "o2" });
    assert.deepEqual(credentialsIn((await up(2)).outputs), later);
  });

  it("credentials of a response are completed by a read that shows the same one", async () => {
    reads(showing(1, { password: "p1", restToken: "r1" }), showing(1, { password: "p2", restToken: "r2" }));
    fake.answer = () => showing(1, { password: "p2", readOnlyRestToken: "o2" });
    const expected = { password: "p2", restToken: "r2", readOnlyRestToken: "o2" };
    assert.deepEqual(credentialsIn((await up(2)).outputs), expected);
  });

  it("after a lost response, only credentials whose values are not saved are to be read", async () => {
    const before = showing(1, { password: "p1", restToken: "r1", readOnlyRestToken: "o1" });
    reads(before, before);
    fake.answer = unconfirmed;
    const { outputs, failure, notices } = await up(2);
    assert.deepEqual([outputs.outcome, outputs.missingCredentials, notices], ["unknown", ["readOnlyRestToken"], []]);
    assert.equal(failure?.delivery, "maybe applied");
  });

  it("a lost reset is not settled by a late read of saved credentials that were replaced before it", async () => {
    const before = showing(1, { password: "elsewhere", restToken: "re" });
    reads(before, before);
    fake.answer = unconfirmed;
    ({ outputs: saved } = await up(2));
    fake.readDatabase = () => showing(1, { password: "p1", restToken: "r1" });
    const { outputs } = (await passwordRotation.refresh?.(saved, fake.start())) ?? {};
    assert.equal(outputs?.outcome, "unknown");
  });

  it("a confirmed reset of a database has no notice, and leaves the token of the queue alone", async () => {
    reads(showing(1, { password: "p1", restToken: "r1" }), showing(1, { password: "p2", restToken: "r2" }));
    fake.answer = () => showing(1, { password: "p2", restToken: "r2" });
    assert.deepEqual((await up(2)).notices, []);
    assert.deepEqual(fake.queueTokens, []);
  });
});
