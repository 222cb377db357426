import assert from "node:assert/strict";
import { mock } from "node:test";
import { Encrypter } from "age-encryption";
import { signingKeys } from "../../../provider/domain/secretKind";
import { type Credentials } from "../../../provider/records/fields";
import { unknownValue } from "../../../provider/pulumi/values";
import { type SecretResponse } from "../../../provider/records/secretResponse";
import { type PlatformClient } from "../../../provider/run/platformClient";
import { type Resource } from "../../../provider/resource/resource";
import { saltedMark } from "../../../provider/rotation/memory/marks";
import { readMemory } from "../../../provider/rotation/memory/memory";
import { type RotationInputs } from "../../../provider/rotation/program/program";
import { rotationOf } from "../../../provider/rotation/rotation";
import { type Platform } from "../../../provider/run/run";
import { Team } from "../../support/age";
import { asShown, FakeRun, passwordRotation, rejected, type SavedRotation, unconfirmed } from "../../support/fakeRun";

const { check, plan, apply, refresh } = asShown(passwordRotation);
const id = { databaseId: "db" };
const shows = (credentials: Credentials): Partial<SecretResponse> => ({ record: { databaseId: "db" }, credentials });

describe("rotation: one reset", () => {
  it("is read until the deadline, and has a second for the read at its end", async () => {
    const fake = new FakeRun();
    fake.canRead = true;
    const { outputs } = await apply(undefined, { ...id, version: 1 }, fake.start());
    fake.readDatabase = () => shows({ password: "password-1" });
    fake.answer = () => shows({});
    const limits: (number | undefined)[] = [];
    const during: Platform["during"] = ({ limitMs }) => (limits.push(limitMs), run.platform as PlatformClient);
    const run = fake.start({ during });
    await apply(outputs, { ...id, version: 2 }, run);
    assert.deepEqual([limits.at(0), limits.at(-1)], [60_000, 1_000]);
    assert.equal(fake.elapsedMs, 60_000);
  });

  it("warns of what the response has, and is not saved", async () => {
    const fake = new FakeRun();
    fake.answer = () => ({
      ...shows({ password: "p" }),
      problems: ["restToken: masked by the platform, and left out"],
    });
    const { warning = "" } = await apply(undefined, id, fake.start());
    assert.match(warning, /parts of the platform's response could not be read .*restToken: masked/);
  });

  it("is refused for a host to which the password would be sent in plain text, and which then has no URL", () => {
    const fake = new FakeRun();
    fake.settings.databaseHost = "db.example.com";
    const run = fake.start();
    assert.match(check({ ...id, connection: { tls: false } }, run).join(), /plain text.*REKEY_INPUT_INVALID/);
    // A preview may not know the host yet.
    for (const host of ["localhost", unknownValue]) {
      assert.deepEqual(check({ ...id, connection: { tls: false, host } }, run), []);
    }
  });

  it("is made although the same run has imported the secret, which sends nothing", async () => {
    const fake = new FakeRun();
    const run = fake.start();
    await passwordRotation.import?.("db", run);
    assert.deepEqual(fake.resets, []);
    const { outputs } = await apply(undefined, id, run);
    assert.deepEqual([fake.resets, outputs.password], [["db"], "password-1"]);
  });

  it("reads, sends one POST, and saves what it returns, with what follows from it", async () => {
    const fake = new FakeRun();
    fake.answer = () => ({
      record: { databaseId: "db", endpoint: "db.example.com", port: 6379, tls: true },
      credentials: { password: "p:1", restToken: "r1" },
    });
    const { outputs } = await apply(undefined, { ...id, version: 1, rotateEvery: "30d" }, fake.start());
    const { memory, access, ...rest } = outputs as SavedRotation & { access: string };
    assert.deepEqual(fake.resets, ["db"]);
    assert.deepEqual(rest, {
      databaseId: "db",
      password: "p:1",
      restToken: "r1",
      outcome: "reset",
      rotatedAt: "2026-11-21T12:00:00.000Z",
      rotationCount: 1,
      rotationReason: "created",
      nextRotationAt: "2026-12-21T12:00:00.000Z",
      record: { databaseId: "db", endpoint: "db.example.com", port: 6379, tls: true },
      exactIntegers: {},
      problems: [],
      connectionUrl: "rediss://default:p%3A1@db.example.com:6379",
      restUrl: "https://db.example.com",
    });
    const { salt } = readMemory(memory);
    assert.deepEqual(JSON.parse(access), {
      id: "db",
      of: "PasswordRotation",
      count: 1,
      salt,
      current: { name: "password", mark: saltedMark(salt, "p:1"), value: "p:1" },
      record: { endpoint: "db.example.com", port: 6379, tls: true },
    });
  });

  it("says once that a password is not known if the record shows a REST token only, whose URL is made", async () => {
    const fake = new FakeRun();
    fake.canRead = true;
    const record = { databaseId: "db", endpoint: "db.example.com" };
    const responseWith = (restToken: string) => ({ record, credentials: { restToken } });
    fake.readDatabase = () => responseWith("r0");
    const desired = { ...id, initialRotation: false, version: 1 };
    const adopted = await apply(undefined, desired, fake.start());
    assert.match(adopted.notice ?? "", /is not known, .* REST token\. .* connectionUrl is undefined\./);
    assert.equal((adopted.outputs as unknown as { restUrl: string }).restUrl, "https://db.example.com");
    assert.equal((await refresh(adopted.outputs, fake.start())).notice, undefined);
    fake.answer = () => responseWith("r1");
    const reset = await apply(adopted.outputs, { ...desired, version: 2 }, fake.start());
    assert.match(reset.notice ?? "", /is not known, because the platform shows only a REST token/);
    fake.answer = () => ({ record, credentials: { restToken: "r2", password: "p2" } });
    assert.equal((await apply(reset.outputs, { ...desired, version: 3 }, fake.start())).notice, undefined);
  });

  it("whose response is lost is saved as a read shows it, although the next one is rejected", async () => {
    const fake = new FakeRun();
    fake.canRead = true;
    fake.answer = () => unconfirmed();
    fake.readDatabase = () => shows({ password: "old" });
    const lost = await apply(undefined, { ...id, version: 1 }, fake.start());
    fake.answer = () => rejected();
    fake.readDatabase = () => shows({ password: "new" });
    const { outputs, failure } = await apply(lost.outputs, { ...id, version: 2 }, fake.start());
    assert.deepEqual([outputs.outcome, outputs.password, failure?.code], ["reset", "new", "REKEY_REJECTED"]);
  });

  it("refuses a damaged memory, before anything is sent, and a refresh keeps it", async () => {
    const fake = new FakeRun();
    const { outputs } = await apply(undefined, { ...id, version: 1 }, fake.start());
    const damaged = { ...outputs, memory: outputs.memory.replace(/("scheduledFrom":"2026-11-21)[^"]*/, "$1") };
    const desired = { ...id, version: 1, rotatedSince: "2026-01-01" };
    assert.throws(() => plan(damaged, desired, fake.start()), /memory cannot be read/);
    await assert.rejects(apply(damaged, desired, fake.start()), /memory cannot be read/);
    const kept = await refresh(damaged, fake.start());
    assert.deepEqual(kept.outputs, damaged);
    assert.match(kept.warning ?? "", /memory cannot be read/);
    assert.equal(fake.resets.length, 1);
  });
});

describe("rotation: what a preview says", () => {
  it("counts aloud, and warns above the limit of the run, 0 included", () => {
    const limited = new FakeRun();
    limited.settings.maxResetsPerRun = "2";
    const run = limited.start();
    const say = (databaseId: string) => plan(undefined, { databaseId, version: 1 }, run);
    assert.match(
      say("a").notice ?? "",
      /^Resets the password of database "a", because the resource is new\..* So far 1 of 2 in this run\.$/,
    );
    assert.match(plan(undefined, id).notice ?? "", /So far 1 in this run\.$/);
    assert.match(say("b").notice ?? "", /So far 2 of 2 in this run\.$/);
    assert.match(
      say("c").warning ?? "",
      / 3 resets are planned, and rekey:maxResetsPerRun allows 2: those above the limit are refused\.$/,
    );
    assert.deepEqual(say("c"), { changes: true, changing: undefined }, "one reset is announced once");
    const none = new FakeRun();
    none.settings.maxResetsPerRun = "0";
    assert.match(
      plan(undefined, id, none.start()).warning ?? "",
      / 1 reset is planned, and rekey:maxResetsPerRun allows 0/,
    );
  });

  it("a new resource mentions aliases, and asks about them if the run has seen the secret in the state", async () => {
    const fake = new FakeRun();
    const { outputs } = await apply(undefined, id, fake.start());
    const run = fake.start();
    assert.match(plan(undefined, { databaseId: "other" }, run).notice ?? "", /`aliases`/);
    await refresh(outputs, run);
    assert.match(plan(undefined, id, run).warning ?? "", /If you renamed the resource/);
  });

  it("which outputs may change, and no others", async () => {
    const fake = new FakeRun();
    const { outputs } = await apply(undefined, { ...id, version: 1 }, fake.start());
    const changing = (desired: RotationInputs) =>
      plan(outputs, { ...id, version: 1, ...desired }, fake.start()).changing;
    assert.deepEqual(changing({ connection: { port: 1 } })?.toSorted(), [
      "access",
      "connectionUrl",
      "memory",
      "restUrl",
    ]);
    assert.deepEqual(changing({ rotateEvery: "30d" })?.toSorted(), ["memory", "nextRotationAt"]);
    assert.equal(changing({ version: 2 }), undefined);
  });

  it("that a refusal may end with a read, and a reset be sent", async () => {
    const fake = new FakeRun();
    fake.canRead = true;
    fake.settings.deadlineSeconds = "0.000001";
    const first = await apply(undefined, { ...id, version: 1, rotateEvery: "1d" }, fake.start());
    fake.readDatabase = () => shows({ password: "password-1" });
    fake.answer = () => unconfirmed();
    let { outputs } = first;
    const desired = { ...id, version: 2, rotateEvery: "1d" };
    for (let nth = 1; nth <= 3; nth++) ({ outputs } = await apply(outputs, desired, fake.start()));
    fake.time = new Date("2026-11-25T12:00:00Z");
    assert.match(
      plan(outputs, desired, fake.start()).notice ?? "",
      /is read first, and may then be reset\. If .* it is not reset: the platform has not confirmed its last resets/,
    );
    fake.readDatabase = () => shows({ password: "of the second" });
    fake.answer = () => shows({ password: "of the schedule" });
    assert.equal((await apply(outputs, desired, fake.start())).outputs.password, "of the schedule");
  });
});

describe("rotation: credentials that are not saved", () => {
  it("a refresh that cannot encrypt what it has read says so, and keeps the state", async () => {
    const fake = new FakeRun();
    fake.canRead = true;
    const { recipient } = await Team.create();
    const { outputs } = await apply(undefined, { ...id, encryptFor: [recipient] }, fake.start());
    fake.readDatabase = () => shows({ password: "of someone else" });
    const broken = mock.method(Encrypter.prototype, "encrypt", () => Promise.reject(new Error("broken")));
    const { outputs: refreshed, warning } = await refresh(outputs, fake.start());
    broken.mock.restore();
    assert.deepEqual(refreshed, outputs);
    assert.match(
      warning ?? "",
      /was read, but could not be encrypted for encryptFor\..* The saved state is unchanged\./,
    );
  });
});

describe("rotation: signing keys", () => {
  const resource = asShown(rotationOf(signingKeys) as Resource<RotationInputs, Record<string, unknown>>);
  const keys = (n: number): Partial<SecretResponse> => ({ credentials: { currentKey: `k${n}`, nextKey: `k${n + 1}` } });

  /** A platform with a pair of keys. */
  const platform = () => {
    const fake = new FakeRun();
    fake.queueAccount = { account: "a", address: "https://a" };
    fake.canRead = true;
    const state = { n: 1, isLost: false };
    fake.readDatabase = () => keys(state.n);
    fake.answer = () => {
      state.n++;
      return state.isLost ? unconfirmed() : keys(state.n);
    };
    const up = (saved: Record<string, unknown> | undefined, desired: RotationInputs) =>
      resource.apply(saved, desired, fake.start());
    const wait = (hours: number) => (fake.time = new Date(fake.time.getTime() + hours * 3_600_000));
    return { fake, state, up, wait };
  };

  it("of a new resource: the notice says that a second roll is an outage, and how to keep them", () => {
    const { notice = "" } = resource.plan(undefined, { version: 1 }, platform().fake.start());
    assert.match(
      notice,
      /^Rolls the pair of signing keys, because.* a second roll within 1h causes an outage.*initialRotation: false/,
    );
  });

  it("at another address: nothing is rolled or saved, and back, everything is as before", async () => {
    const { fake, state, up, wait } = platform();
    const first = await up(undefined, { version: 1 });
    fake.queueAccount = { account: "b", address: "https://b" };
    const home = state.n;
    state.n = 40;
    await assert.rejects(
      up(first.outputs, { version: 2 }),
      /belongs to https:\/\/a.*https:\/\/b.*REKEY_OTHER_ACCOUNT/s,
    );
    const unchanged = resource.plan(first.outputs, { version: 1 }, fake.start());
    assert.match(unchanged.warning ?? "", /belongs to https:\/\/a, but the settings are for https:\/\/b/);
    const refreshed = await resource.refresh(first.outputs, fake.start());
    assert.deepEqual(refreshed.outputs, first.outputs);
    assert.equal(fake.resets.length, 1);
    fake.queueAccount = { account: "a", address: "https://a" };
    state.n = home;
    await assert.rejects(up(refreshed.outputs, { version: 2 }), /REKEY_ROLLED_RECENTLY/);
    wait(2);
    assert.equal((await up(refreshed.outputs, { version: 2 })).outputs["currentKey"], `k${home + 1}`);
  });

  it("at another address of the same account: a read shows it, and the memory takes it", async () => {
    const { fake, up, wait } = platform();
    const first = await up(undefined, { version: 1 });
    fake.queueAccount = { account: "b", address: "https://b" };
    wait(2);
    const { outputs } = await up(first.outputs, { version: 2 });
    assert.equal(fake.resets.length, 2);
    assert.deepEqual(readMemory(outputs["memory"]).kindFacts.account, fake.queueAccount?.account);
  });
});
