import assert from "node:assert/strict";
import { unknownValue } from "../../../provider/pulumi/values";
import { type Credentials } from "../../../provider/records/fields";
import { type SecretResponse } from "../../../provider/records/secretResponse";
import { saltedMark } from "../../../provider/rotation/memory/marks";
import { readMemory } from "../../../provider/rotation/memory/memory";
import { asShown, FakeRun, passwordRotation, type SavedRotation } from "../../support/fakeRun";
import { RotatedSecret } from "../../support/rotatedSecret";
import { credentialsOf } from "./tables";

const { check, plan, apply, refresh } = asShown(passwordRotation);
const id = { databaseId: "db" };
const shows = (credentials: Credentials): Partial<SecretResponse> => ({ record: { databaseId: "db" }, credentials });

describe("rotation: the resource of one secret", () => {
  it("warns of what the response has, and is not saved", async () => {
    const fake = new FakeRun();
    fake.answer = () => ({
      ...shows({ password: "p" }),
      problems: ["restToken: masked by the platform, and left out"],
    });
    const { warning = "" } = await apply(undefined, id, fake.start());
    assert.match(warning, /parts of the platform's response could not be read .*restToken: masked/);
  });

  it("refuses a host to which the password would be sent in plain text", () => {
    const fake = new FakeRun();
    fake.settings.databaseHost = "db.example.com";
    const run = fake.start();
    assert.match(check({ ...id, connection: { tls: false } }, run).join(), /plain text.*REKEY_INPUT_INVALID/);
    // A preview may not know the host yet.
    for (const host of ["localhost", unknownValue]) {
      assert.deepEqual(check({ ...id, connection: { tls: false, host } }, run), []);
    }
  });

  it("reads, sends one POST, and saves what it returns, with what follows from it", async () => {
    const fake = new FakeRun();
    const record = { databaseId: "db", endpoint: "db.example.com", port: 6379, tls: true };
    fake.answer = () => ({ record, credentials: { password: "p:1", restToken: "r1" } });
    const { outputs } = await apply(undefined, { ...id, version: 1, rotateEvery: "30d" }, fake.start());
    const { memory, access, ...rest } = outputs as SavedRotation & { access: string };
    assert.deepEqual(fake.resets, ["db"]);
    assert.deepEqual(rest, {
      ...{ databaseId: "db", password: "p:1", restToken: "r1", record, exactIntegers: {}, problems: [] },
      ...{ outcome: "reset", rotatedAt: "2026-11-21T12:00:00.000Z", rotationCount: 1, rotationReason: "created" },
      nextRotationAt: "2026-12-21T12:00:00.000Z",
      connectionUrl: "rediss://default:p%3A1@db.example.com:6379",
      restUrl: "https://db.example.com",
    });
    const { salt } = readMemory(memory);
    const current = { name: "password", mark: saltedMark(salt, "p:1"), value: "p:1" };
    const { databaseId: _, ...located } = record;
    assert.deepEqual(JSON.parse(access), {
      ...{ id: "db", of: "PasswordRotation", count: 1, salt, current, record: located },
    });
  });

  it("says once that a password is not known if the record shows a REST token only, whose URL is made", async () => {
    const secret = new RotatedSecret();
    const record = { endpoint: "db.example.com" };
    const does = (cell: string) => ({ shows: credentialsOf("r0"), record, responds: credentialsOf(cell) });
    const adopted = await secret.up({ version: 1, initialRotation: false }, does(""));
    assert.match(adopted.said, /is not known, .* REST token\. .* connectionUrl is undefined\./);
    assert.equal(secret.outputs?.["restUrl"], "https://db.example.com");
    assert.equal((await secret.refresh(does(""))).said, "");
    assert.match((await secret.up({ version: 2 }, does("r1"))).said, /because the platform shows only a REST token/);
    assert.equal((await secret.up({ version: 3 }, does("r2 p2"))).said, "");
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
