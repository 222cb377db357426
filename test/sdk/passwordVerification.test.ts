import assert from "node:assert/strict";
import * as pulumi from "@pulumi/pulumi";
import {
  type ConnectionArgs,
  PasswordRotation,
  PasswordRotationFleet,
  PasswordVerification,
  QueueTokenRotation,
  SearchTokenRotation,
} from "pulumi-rekey";
import { isKnown, type MockOptions, type Registration, startMocks, valueOf } from "../support/pulumiMocks";
import { unknown } from "../support/wire";

const record = { endpoint: "cache.example.com", port: 6379, tls: true };
const single = { record, password: "p", restToken: "t", rotatedAt: "t1", rotationCount: 3, outcome: "reset" };
const rotations = [
  { databaseId: "b", outcome: "reset", rotationCount: 1, rotatedAt: "t1", record },
  { databaseId: "a", outcome: "adopted", rotationCount: 0 },
  { databaseId: "c", outcome: "unknown", rotationCount: 1, rotatedAt: "t0" },
];
const secrets = JSON.stringify([
  { databaseId: "b", password: "pb" },
  { databaseId: "c", password: "former" },
]);

interface Secret {
  readonly value: string;
}
const verificationIn = (registered: readonly Registration[]) =>
  registered.find(({ type }) => type.endsWith(":PasswordVerification"));

/** The targets that a verification was registered with. They must be a secret. */
function targetsIn(registered: readonly Registration[]): unknown {
  const text = verificationIn(registered)?.inputs["targets"] as Secret;
  assert.equal(typeof text.value, "string", "it is marked as a secret");
  return JSON.parse(text.value);
}

const fleetOutputs: NonNullable<MockOptions["outputs"]> = (type) =>
  type.endsWith("Shard") ? { rotations, secrets } : {};

describe("sdk: PasswordVerification", () => {
  afterEach(() => pulumi.runtime.setAllConfig({}));

  async function ofRotation(outputs: object, args: ConnectionArgs = {}, own: ConnectionArgs = {}) {
    const registered = await startMocks({ outputs: (type) => (type.endsWith(":PasswordRotation") ? outputs : {}) });
    const rotation = new PasswordRotation("sessions", { databaseId: "db", ...own });
    const verification = new PasswordVerification("sessions", { rotation, ...args });
    await valueOf(verification.urn);
    return { registered, rotation };
  }

  async function ofFleet({ includeRecords, ...connection }: { includeRecords: boolean } & ConnectionArgs) {
    const registered = await startMocks({ outputs: fleetOutputs });
    const databases = { one: "a", two: "b", three: "c" };
    const fleet = new PasswordRotationFleet("caches", { databases, includeRecords });
    await valueOf(new PasswordVerification("caches", { fleet, ...connection }).urn);
    return { registered, fleet };
  }

  it("passes on where the database is, and its current password", async () => {
    const { registered } = await ofRotation(single, { username: "ops" });
    const access = { host: "cache.example.com", port: 6379, tls: true, credential: { username: "ops", password: "p" } };
    assert.deepEqual(targetsIn(registered), [
      { databaseId: "db", name: "db", rotatedAt: "t1", rotationCount: 3, access },
    ]);
    assert.equal(verificationIn(registered)?.inputs["subject"], "db");
  });

  it("uses the connection of its rotation unless it has its own, and the setting if there is neither", async () => {
    const hostOf = async (args: ConnectionArgs, own: ConnectionArgs) =>
      (targetsIn((await ofRotation(single, args, own)).registered) as [{ access: { host: string; port: number } }])[0]
        .access;
    assert.equal((await hostOf({}, { host: "own", port: 7 })).host, "own");
    const both = await hostOf({ host: "mine" }, { host: "own", port: 7 });
    assert.deepEqual({ host: both.host, port: both.port }, { host: "mine", port: 7 });
    pulumi.runtime.setAllConfig({ "rekey:databaseHost": "{endpoint}.internal" });
    assert.equal((await hostOf({}, {})).host, "cache.example.com.internal");
    pulumi.runtime.setAllConfig({ "rekey:platform": "upstash" });
    assert.equal((await hostOf({}, {})).host, "cache.example.com");
  });

  it("passes on the URL and the token of an index, and the token of the queue", async () => {
    const common = { token: "t", rotatedAt: "t1", rotationCount: 3, outcome: "reset" };
    const verified = async (make: () => ConstructorParameters<typeof PasswordVerification>[1], outputs: object) => {
      const registered = await startMocks({ outputs: (type) => (type.endsWith("Verification") ? {} : outputs) });
      await valueOf(new PasswordVerification("proof", make()).urn);
      const [{ access, ...target }] = targetsIn(registered) as [{ access: object }];
      return { subject: verificationIn(registered)?.inputs["subject"], target, access };
    };
    const search = () => ({ rotation: new SearchTokenRotation("search", { indexId: "idx" }) });
    const target = { rotatedAt: "t1", rotationCount: 3 };
    assert.deepEqual(await verified(search, { ...common, restUrl: "https://slug.example.com" }), {
      subject: "search index idx",
      target: { type: "SearchTokenRotation", databaseId: "idx", name: "idx", ...target },
      access: { restUrl: "https://slug.example.com", credential: { token: "t" } },
    });
    const queue = () => ({ rotation: new QueueTokenRotation("queue", { queueUserId: "user" }) });
    assert.deepEqual(await verified(queue, { ...common, record: {} }), {
      subject: "queue user user",
      target: { type: "QueueTokenRotation", databaseId: "user", name: "user", ...target },
      access: { credential: { token: "t" } },
    });
  });

  it("passes on the mark of a credential that is not saved, of a rotation and of a fleet", async () => {
    const marks = (name: 0 | 3) => `1:${"s".repeat(22)}:${name}=${"m".repeat(16)}`;
    const outputs: NonNullable<MockOptions["outputs"]> = (type) => {
      if (type.endsWith("Shard")) {
        return { rotations, secrets: JSON.stringify([{ databaseId: "b", currentMarks: marks(0) }]) };
      }
      if (type.endsWith("Verification")) return {};
      const database = { ...single, password: undefined, restToken: undefined, currentMarks: marks(0) };
      return type.endsWith("PasswordRotation") ? database : { outcome: "reset", record: {}, currentMarks: marks(3) };
    };
    const credentialIn = async (make: () => ConstructorParameters<typeof PasswordVerification>[1]) => {
      const registered = await startMocks({ outputs });
      await valueOf(new PasswordVerification("proof", make()).urn);
      const targets = targetsIn(registered) as { access?: { credential: object } }[];
      return targets.flatMap(({ access }) => access?.credential ?? []);
    };
    const more = { saveCredentials: false };
    const rotation = () => new PasswordRotation("sessions", { databaseId: "db", username: "ops", ...more });
    assert.deepEqual(await credentialIn(() => ({ rotation: rotation() })), [{ username: "ops", mark: marks(0) }]);
    const queue = () => new QueueTokenRotation("queue", { queueUserId: "user", ...more });
    assert.deepEqual(await credentialIn(() => ({ rotation: queue() })), [{ mark: marks(3) }]);
    const fleet = () =>
      new PasswordRotationFleet("caches", { databases: ["a", "b", "c"], includeRecords: true, ...more });
    assert.deepEqual(await credentialIn(() => ({ fleet: fleet() })), [{ mark: marks(0) }]);
  });

  it("waits in a preview for outputs that are not known yet", async () => {
    const registered = await startMocks({ preview: true });
    const rotation = new PasswordRotation("sessions", { databaseId: "db" });
    const verification = new PasswordVerification("sessions", { rotation });
    await valueOf(verification.urn);
    assert.equal(await isKnown(rotation.password), false);
    assert.equal(await isKnown(verification.verified), false);
    const { subject, targets } = verificationIn(registered)?.inputs ?? {};
    assert.deepEqual({ subject, targets }, { subject: "db", targets: unknown });
  });

  it("passes on each database of a fleet, sorted by its id, without the credentials of an unconfirmed reset", async () => {
    const { registered } = await ofFleet({ includeRecords: true, host: "{id}.example.com", username: "user-{id}" });
    const credential = { username: "user-b", password: "pb" };
    const access = { host: "b.example.com", port: 6379, tls: true, credential };
    assert.deepEqual(targetsIn(registered), [
      { databaseId: "a", name: "one", rotationCount: 0 },
      { databaseId: "b", name: "two", rotatedAt: "t1", rotationCount: 1, access },
      { databaseId: "c", name: "three", rotatedAt: "t0", rotationCount: 1 },
    ]);
    assert.match(String(verificationIn(registered)?.inputs["subject"]), /^urn:pulumi:.*PasswordRotationFleet::caches$/);
  });

  it("needs the record of each database of a fleet, or a host and a port", async () => {
    await startMocks({ outputs: fleetOutputs });
    const fleet = new PasswordRotationFleet("caches", { databases: { three: "c" }, includeRecords: true });
    const rejected = /"caches": host is unknown for database "c".*from the next reset on.*REKEY_INPUT_INVALID/;
    await assert.rejects((fleet.connectionUrls as unknown as { promise(): Promise<unknown> }).promise(), rejected);
  });

  for (const { verified, preview, warnings } of [
    { verified: false, preview: false, warnings: 1 },
    { verified: false, preview: true, warnings: 0 },
    { verified: true, preview: false, warnings: 0 },
  ]) {
    it(`warns ${warnings} times if verified is ${verified} in ${preview ? "a preview" : "an up"}`, async () => {
      await startMocks({ preview, outputs: (type) => (type.endsWith("Verification") ? { verified } : {}) });
      const rotation = new PasswordRotation("sessions", { databaseId: "db" });
      // Without an engine, Pulumi prints what it logs.
      const { warn } = console;
      const printed: string[] = [];
      console.warn = (line: string) => void printed.push(line);
      try {
        const verification = new PasswordVerification("sessions", { rotation });
        await valueOf(verification.verified);
        await new Promise((resolve) => setImmediate(resolve));
      } finally {
        console.warn = warn;
      }
      assert.equal(printed.filter((line) => /no current credential is known: "db"/.test(line)).length, warnings);
    });
  }
});

describe("sdk: connectionUrl", () => {
  async function urlOf(outputs: object, args: ConnectionArgs = {}, preview = false) {
    const registered = await startMocks({ preview, outputs: () => outputs });
    const rotation = new PasswordRotation("sessions", { databaseId: "db", ...args });
    return { registered, url: rotation.connectionUrl };
  }

  it("is a secret with everything that a client needs", async () => {
    const { url, registered } = await urlOf({ ...single, password: "p:/@ %é" }, { username: "a@b" });
    assert.equal(await valueOf(url), "rediss://a%40b:p%3A%2F%40%20%25%C3%A9@cache.example.com:6379");
    assert.equal(await pulumi.isSecret(url), true);
    const inputs = Object.keys(registered[0]?.inputs ?? {}).sort();
    assert.deepEqual(inputs, ["__provider", "databaseId", "owner"], "the engine does not see the connection");
  });

  it("of the REST interface needs a token and the host only", async () => {
    const record = { endpoint: "cache.example.com" };
    await startMocks({ outputs: () => ({ ...single, record, password: undefined, restToken: "t" }) });
    const { restUrl } = new PasswordRotation("sessions", { databaseId: "db", port: 6380 });
    assert.equal(await valueOf(restUrl), "https://cache.example.com");
    assert.equal(await pulumi.isSecret(restUrl), true);
    await startMocks({ outputs: () => ({ ...single, record, restToken: undefined }) });
    const adopted = new PasswordRotation("sessions", { databaseId: "db" });
    assert.equal(await valueOf(adopted.restUrl), undefined);
  });

  it("is an output of a fleet by name, for each known password", async () => {
    await startMocks({ outputs: fleetOutputs });
    const fleet = new PasswordRotationFleet("caches", { databases: { one: "a", two: "b" }, includeRecords: true });
    const urls = fleet.connectionUrls;
    assert.deepEqual(await valueOf(urls), { two: "rediss://default:pb@cache.example.com:6379" });
    assert.equal(await pulumi.isSecret(urls), true);
  });
});
