import assert from "node:assert/strict";
import { aclUser, queueToken, signingKeys } from "../../../../provider/domain/secretKind";
import { asShown, FakeRun, passwordRotation } from "../../../support/fakeRun";
import { resetSecret, RotatedSecret } from "../../../support/rotatedSecret";
import { OverlappingToken } from "../sources/overlappingToken";

const { plan, apply, refresh } = asShown(passwordRotation);
const id = { databaseId: "db" };

describe("announcements: what a preview says", () => {
  it("counts aloud, and warns above the limit of the run, 0 included", () => {
    const limited = new FakeRun();
    limited.settings.maxResetsPerRun = "2";
    const run = limited.start();
    const say = (databaseId: string) => plan(undefined, { databaseId, version: 1 }, run);
    const first = /^Resets the password of database "a", because the resource is new\..* So far 1 of 2 in this run\.$/;
    assert.match(say("a").notice ?? "", first);
    assert.match(plan(undefined, id).notice ?? "", /So far 1 in this run\.$/);
    assert.match(say("b").notice ?? "", /So far 2 of 2 in this run\.$/);
    const refused = / 3 resets are planned, and rekey:maxResetsPerRun allows 2: those above the limit are refused\.$/;
    assert.match(say("c").warning ?? "", refused);
    assert.deepEqual(say("c"), { changes: true, changing: undefined }, "one reset is announced once");
    limited.settings.maxResetsPerRun = "0";
    const { warning = "" } = plan(undefined, id, limited.start());
    assert.match(warning, / 1 reset is planned, and rekey:maxResetsPerRun allows 0/);
  });

  it("mentions aliases of a new resource, and asks about them if the run has seen the secret in the state", async () => {
    const fake = new FakeRun();
    const { outputs } = await apply(undefined, id, fake.start());
    const run = fake.start();
    assert.match(plan(undefined, { databaseId: "other" }, run).notice ?? "", /`aliases`/);
    await refresh(outputs, run);
    assert.match(plan(undefined, id, run).warning ?? "", /If you renamed the resource/);
  });

  it("says of new keys that a second roll is an outage, and of those of another account that they are not compared", async () => {
    const keys = new RotatedSecret(signingKeys);
    const outage = /a second roll within 1h causes an outage.* set `initialRotation: false`/;
    assert.match(keys.preview({ version: 1 }), outage);
    keys.fake.queueAccount = { account: "a", address: "https://a" };
    await keys.up({ version: 1 }, { responds: { currentKey: "k1" } });
    keys.fake.queueAccount = { account: "b", address: "https://b" };
    assert.match(keys.preview({ version: 1 }), /belongs to https:\/\/a, but the settings are for https:\/\/b/);
  });

  it("says of what is adopted what is handed out, and what retires the former one after a rotation", () => {
    const says = {
      QueueTokenRotation: /the current token is handed out/,
      AclUserRotation: /no password is handed out/,
    };
    for (const kind of [queueToken, aclUser]) {
      const admin = { host: "redis.example.com", port: 6379, password: "admin" };
      const said = new RotatedSecret(kind, undefined, "app").preview({ initialRotation: false, admin });
      assert.match(said, says[kind.name as keyof typeof says]);
      assert.match(said, /after a rotation, the former (token|password) stays valid until a Retirement retires it/);
    }
  });

  it("names a clock that was ahead, and what that means for each input", async () => {
    const secret = await resetSecret({ version: 1 }, { password: "p1" }, { at: new Date("2027-01-01") });
    const ahead =
      /last changed at 2027-01-01T00.* later than this machine's clock\. Check the clocks\. rotateEvery counts/;
    secret.hours = 0;
    assert.match(secret.preview({ version: 1, rotateEvery: "30d" }), ahead);
    for (const overlap of ["12h", "retirement"]) {
      const token = new OverlappingToken();
      await token.up(24 * 365, { version: 1, overlap });
      const isNamed = /later than this machine's clock.* overlap counts from that time; rotatedSince retires/;
      assert.equal(isNamed.test(token.preview(24, { version: 1, overlap })), overlap === "12h");
    }
  });
});
