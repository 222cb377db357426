import assert from "node:assert/strict";
import { secretOf } from "../../../provider/platform/credential";
import { createProvider } from "../../../provider/engine/dynamic";
import { databasePassword } from "../../../provider/rotation/kinds/databasePassword";
import { markAll, writeMarked } from "../../../provider/rotation/marks";
import { replacedIn } from "../../../provider/rotation/saved";
import { type Run } from "../../../provider/run";
import {
  passwordVerification,
  type PasswordVerificationOutputs,
} from "../../../provider/verification/passwordVerification";
import { accessTo, type VerificationTarget } from "../../../provider/verification/targets";
import { Team } from "../../support/age";
import { asShown, FakeRun, isMadeUp, rejected } from "../../support/fakeRun";
import { unknown } from "../../support/wire";

const { apply, diff } = asShown(passwordVerification);
const password = (nth: number) => `canary-password-${nth}`;
const salt = "s".repeat(22);
const marksOf = (nth: number) =>
  writeMarked({ salt, marked: markAll({ salt }, { password: password(nth), restToken: `canary-rest-token-${nth}` }) });
const record = { endpoint: "db.example.com", port: 6379, tls: true };

/** A database after the nth reset, whose credentials are saved or not. */
function after(nth: number, known: object): VerificationTarget {
  const access = accessTo({ databaseId: "db", record }, { username: "ops" }, known, undefined);
  return { databaseId: "db", name: "db", rotatedAt: `t${nth}`, rotationCount: nth, access };
}
const saved = (nth: number) => after(nth, { password: password(nth) });
const unsaved = (nth: number) => after(nth, { currentMarks: marksOf(nth) });
const inputs = (target: VerificationTarget) => {
  return { subject: "db", targets: JSON.stringify([target]), withinSeconds: 1 };
};

describe("verification of a credential that is not saved", () => {
  let fake: FakeRun;
  /** The number of the password that is valid, and of the one that a read shows. */
  let valid: number;
  let shown: (reads: number) => number;
  beforeEach(() => {
    fake = new FakeRun();
    fake.canRead = true;
    shown = () => valid;
    fake.readDatabase = () => ({ credentials: { password: password(shown(fake.databaseReads.length)) } });
    fake.probe = ({ credential }) =>
      secretOf(credential) === password(valid) ? { kind: "accepted" } : { kind: "refused", words: "WRONGPASS no" };
  });

  /** Verifies in one run, and checks that nothing of it is saved. */
  async function verify(
    target: VerificationTarget,
    before?: PasswordVerificationOutputs,
    inRun: (run: Run) => void = () => undefined,
  ) {
    fake.probes.length = fake.databaseReads.length = 0;
    const run = fake.start();
    inRun(run);
    if (before) assert.deepEqual(diff(before, inputs(target)), { changes: true });
    const { outputs, message } = await apply(before, inputs(target), run);
    const tried = fake.probes.map(({ credential }) => {
      assert.equal("username" in credential && credential.username, "ops");
      return isMadeUp(secretOf(credential)) ? "wrong" : secretOf(credential).replace("canary-password-", "");
    });
    const isUnsaved = "mark" in (target.access?.credential ?? {});
    if (isUnsaved) assert.ok(!JSON.stringify([outputs, inputs(target)]).includes("canary"));
    if (!message) assert.deepEqual(diff(outputs, inputs(target)), { changes: false });
    return { outputs, message, tried: tried.join(" "), reads: fake.databaseReads.length };
  }
  /** The rotation of the same run has replaced the nth password. */
  const replacing = (nth: number) => (run: Run) =>
    void replacedIn({ kind: databasePassword, id: "db" }, run).push({ password: password(nth) });

  it("reads it once, and tries it", async () => {
    valid = 1;
    const { outputs, tried, reads } = await verify(unsaved(1));
    assert.deepEqual({ tried, reads, verified: outputs.verified }, { tried: "1 wrong", reads: 1, verified: true });
  });

  it("tries the former one only in the run that replaced it", async () => {
    valid = 1;
    const first = await verify(unsaved(1));
    valid = 2;
    const second = await verify(unsaved(2), first.outputs, replacing(1));
    assert.deepEqual([second.tried, second.outputs.formerRefused], ["2 1", true]);
    valid = 3;
    const third = await verify(unsaved(3), second.outputs);
    assert.deepEqual([third.tried, third.outputs.formerRefused], ["3 wrong", undefined]);
    fake.probe = () => ({ kind: "accepted" });
    const { message } = await verify(unsaved(4), second.outputs, replacing(3));
    assert.match(message ?? "", /the new password is not saved, and the platform shows another one/);
  });

  it("claims nothing after a failure, because no later run knows the former one", async () => {
    valid = 1;
    const first = await verify(unsaved(1));
    fake.probe = () => ({ kind: "accepted" });
    valid = 2;
    const failed = await verify(unsaved(2), first.outputs, replacing(1));
    assert.match(failed.message ?? "", /open to everyone/);
    fake.probe = ({ credential }) =>
      isMadeUp(secretOf(credential)) ? { kind: "refused", words: "" } : { kind: "accepted" };
    const again = await verify(unsaved(2), failed.outputs);
    assert.deepEqual([again.outputs.verified, again.outputs.formerRefused], [true, undefined]);
    valid = 3;
    assert.equal((await verify(unsaved(3), again.outputs, replacing(2))).message?.includes("former"), true);
  });

  it("removes saved ones once they are not to be saved, and tries those that are former", async () => {
    valid = 1;
    const first = await verify(saved(1));
    assert.ok(first.outputs.targets.includes(password(1)));
    const same = await verify(unsaved(1), first.outputs);
    assert.deepEqual([same.tried, same.outputs.formerRefused], ["1 wrong", undefined]);
    valid = 2;
    const other = await verify(unsaved(2), first.outputs, replacing(1));
    assert.deepEqual([other.tried, other.outputs.formerRefused], ["2 1", true]);
    const back = await verify(saved(2), other.outputs);
    assert.deepEqual([back.tried, back.outputs.formerRefused], ["2 wrong", undefined]);
  });

  it("removes them also if the verification fails, or none can be tried", async () => {
    valid = 1;
    const { outputs } = await verify(saved(1));
    fake.canRead = false;
    const { message, tried, reads } = await verify(unsaved(1), outputs);
    assert.match(message ?? "", /is not saved, and this platform cannot be read.*Set rekey:databasePath, or remove/s);
    assert.deepEqual({ tried, reads, waits: fake.waits }, { tried: "", reads: 0, waits: [] });
    const { access, ...unconfirmed } = unsaved(1);
    const left = await apply(outputs, inputs({ ...unconfirmed, unsaved: true }), fake.start());
    assert.ok(!left.outputs.targets.includes("canary"));
  });

  it("waits for a read that shows the new one", async () => {
    valid = 2;
    shown = (reads) => (reads < 3 ? 1 : 2);
    const { tried, reads } = await verify(unsaved(2));
    assert.deepEqual({ tried, reads, waits: fake.waits }, { tried: "2 wrong", reads: 3, waits: [200, 400] });
  });

  it("reports why it could not be read", async () => {
    fake.readDatabase = () => rejected();
    assert.match(
      (await verify(unsaved(1))).message ?? "",
      /password is not saved, and could not be read: it broke.*Fix it/s,
    );
    fake.readDatabase = () => ({ credentials: { restToken: "other" } });
    assert.match((await verify(unsaved(1))).message ?? "", /password is not saved, and the platform does not show it/);
  });
});

describe("verification of a credential that is neither saved nor read", () => {
  /** What the dynamic provider refuses in a preview with a rotation or a fleet, and its verification. */
  async function refusals(saving: object, { canRead = false, subject = "db" } = {}): Promise<string[]> {
    const fake = Object.assign(new FakeRun(), { canRead });
    const { passwordRotation, passwordRotationShard, passwordVerification } = createProvider(() => fake.start());
    await passwordRotation.configure({ config: { get: () => undefined } as never });
    const { recipient } = await Team.create();
    const inputs = { encryptFor: [recipient], version: unknown, ...saving };
    const databases = ["in-fleet"];
    const checks = [
      await passwordRotation.check({}, { databaseId: "db", ...inputs }),
      await passwordRotation.check({}, { databaseId: unknown, ...inputs }),
      await passwordRotationShard.check({}, { shard: "00", fleet: "urn::fleet", databases, ...inputs }),
      await passwordVerification.check({}, { subject, targets: unknown }),
    ];
    assert.deepEqual([fake.resets, fake.databaseReads], [[], []]);
    return checks.flatMap(({ failures = [] }) => failures.map(({ reason }) => reason));
  }

  for (const subject of ["db", "urn::fleet"]) {
    it(`is refused before anything is sent: ${subject}`, async () => {
      const [reason = "", ...more] = await refusals({ saveCredentials: false }, { subject });
      assert.match(reason, /saveCredentials: false, and this platform cannot be read.* Set rekey:databasePath/);
      assert.deepEqual(more, []);
    });
  }

  it("is not refused if the credential is saved or can be read, or while it is unknown which one it is", async () => {
    assert.deepEqual(await refusals({}), []);
    assert.deepEqual(await refusals({ saveCredentials: unknown }), []);
    assert.deepEqual(await refusals({ saveCredentials: false }, { canRead: true }), []);
    assert.deepEqual(await refusals({ saveCredentials: false }, { subject: "another" }), []);
    assert.deepEqual(await refusals({ saveCredentials: false }, { subject: unknown }), []);
  });
});
