import assert from "node:assert/strict";
import { type Platform, startPlatform } from "../../local/platform/index";
import { resources } from "../../provider/engine/resources";
import { type Properties } from "../../provider/pulumi/values";
import { type AnyResource } from "../../provider/resource/resource";
import { startRun } from "../../provider/run/run";
import { Settings } from "../../provider/settings/settings";
import { type Host, type providerTexts } from "../support/host";
import { databaseReply } from "../support/redis";
import { RedisGate } from "../support/redisGate";
import { settingsFor } from "../support/resources";
import { until } from "../support/results";
import { hostCalls, Stack } from "../support/stack";
import { testRow } from "./describeFaults";
import { type Fixture } from "./fixture";

const queueUserId = "00000000-0000-4000-8000-000000000001";
type Kind = "QueueTokenRotation" | "AclUserRotation";
const kinds: readonly Kind[] = ["QueueTokenRotation", "AclUserRotation"];
const providerOf: Readonly<Record<Kind, keyof typeof providerTexts>> = {
  QueueTokenRotation: "queueTokenRotation",
  AclUserRotation: "aclUserRotation",
};

/** A platform with a user of the queue, and a user of a database behind a gate. */
class Account {
  private constructor(
    readonly platform: Platform,
    readonly gate: RedisGate,
  ) {}

  static async start(): Promise<Account> {
    const platform = await startPlatform({ databases: ["db"], credentials: "read", queueUsers: [queueUserId] });
    const { record, password } = platform.database("db");
    const acl = (...words: string[]) => databaseReply(record, ["AUTH", password], ["ACL", ...words]);
    const [, , token = ""] = (await acl("GENTOKEN", "app")).split("\r\n");
    await acl("SETUSER", "app", "on", "+@all", `>${token}`);
    return new Account(platform, await RedisGate.start(Number(record["port"])));
  }

  get settings() {
    return settingsFor(this.platform, { queueUserId, queueToken: undefined });
  }

  inputsOf(kind: Kind, version: number): Properties {
    const { password } = this.platform.database("db");
    const admin = { host: "127.0.0.1", port: this.gate.port, tls: false, password };
    const subject = kind === "AclUserRotation" ? { userName: "app", admin } : { queueUserId };
    // Each is due by a date, and for a new version.
    return { ...subject, version, rotatedSince: "2026-01-01" };
  }

  /** What was sent, without reads and logins. */
  get changes(): string[] {
    const requests = this.platform.requests.map(({ method, path }) => `${method} ${path}`);
    return [...requests, ...this.gate.commands].filter((one) => !/^(GET|AUTH|ACL GETUSER) /.test(one));
  }

  async close(): Promise<void> {
    await this.gate.close();
    await this.platform.close();
  }
}

/** What is tested of a kind: its rotation, and a verification that retires. */
class Program {
  readonly rotation: Stack;
  readonly verification: Stack;

  constructor(
    private readonly account: Account,
    private readonly kind: Kind,
    host: Host,
  ) {
    this.rotation = new Stack(hostCalls(host, providerOf[kind]));
    this.verification = new Stack(hostCalls(host, "credentialVerification"));
  }

  /** The calls of previews and refreshes, of resources that are saved or new, again and again. */
  async preview(version: number): Promise<void> {
    const { account, kind, rotation, verification } = this;
    const before = account.changes;
    for (let nth = 1; nth <= 2; nth++) {
      await rotation.preview(account.inputsOf(kind, version));
      if (rotation.saved) await rotation.refresh();
      if (rotation.saved) await verification.preview(this.#proof);
    }
    assert.deepEqual(account.changes, before);
  }

  async up(version: number): Promise<void> {
    await this.rotation.up(this.account.inputsOf(this.kind, version));
  }

  async verify(): Promise<void> {
    await this.verification.up(this.#proof);
  }

  get #proof(): Properties {
    return { access: this.rotation.plain["access"], withinSeconds: 1, retireFormerAfter: ["deployment"] };
  }
}

async function started(fixture: Fixture, kind: Kind): Promise<{ account: Account; program: Program; host: Host }> {
  const account = fixture.closes(await Account.start());
  const host = await fixture.startHost({ settings: account.settings });
  return { account, host, program: new Program(account, kind, host) };
}

describe("faults: previews of two valid secrets", () => {
  const sentOnly = "nothing is sent but reads";
  for (const kind of kinds) {
    testRow(
      [108, "a preview and a refresh before and after an `up` and a retirement", kind, sentOnly],
      async (fixture) => {
        const { account, program } = await started(fixture, kind);
        await program.preview(1);
        await program.up(1);
        const { length } = account.changes;
        assert.ok(length > 0, "an `up` sends it");
        await program.preview(1);
        await program.preview(2);
        await program.verify();
        assert.ok(account.changes.length > length, "a verification retires");
        await program.preview(2);
      },
    );

    testRow(
      [108, "a destroy while two are valid", kind, "nothing is sent; says that both may stay valid"],
      async (fixture) => {
        const { account, program, host } = await started(fixture, kind);
        await program.up(1);
        const sent = [...account.platform.requests.map(({ path }) => path), ...account.gate.commands];
        await program.rotation.destroy();
        assert.deepEqual([...account.platform.requests.map(({ path }) => path), ...account.gate.commands], sent);
        const said = () => host.said + (host.adapter === "plugin" ? host.engine.received : "");
        await until(() => /two (token|password)s may stay valid/.test(said()));
      },
    );

    testRow([108, "a destroy of a verification that retires", kind, "nothing is sent"], async (fixture) => {
      const { account, program } = await started(fixture, kind);
      await program.up(1);
      await program.verify();
      const sent = account.platform.requests.length + account.gate.commands.length;
      await program.verification.destroy();
      assert.equal(account.platform.requests.length + account.gate.commands.length, sent);
    });
  }

  testRow(
    [108, "an import", "AclUserRotation", "fails, nothing is sent; says how to adopt it"],
    async (fixture) => {
      const { account, program } = await started(fixture, "AclUserRotation");
      await assert.rejects(program.rotation.import("app"), /Nothing was sent.*initialRotation: false/s);
      assert.deepEqual(account.gate.commands, []);
    },
    ["plugin"],
  );

  testRow(
    [108, "an import while a next token exists", "QueueTokenRotation", "nothing is sent but reads"],
    async (fixture) => {
      const { account, program } = await started(fixture, "QueueTokenRotation");
      await program.up(1);
      const before = account.changes;
      await program.rotation.import(queueUserId);
      await program.preview(1);
      assert.deepEqual(account.changes, before);
    },
    ["plugin"],
  );
});

describe("the permission to change users of a Redis", () => {
  let account: Account;
  before(async () => (account = await Account.start()));
  after(() => account.close());

  it("is not given by default", async () => {
    const values: Readonly<Record<string, string | number | undefined>> = account.settings;
    const run = () => startRun(new Settings((name) => values[name]?.toString()), { log: () => undefined });
    const resource: AnyResource = resources.AclUserRotation;
    const inputs = account.inputsOf("AclUserRotation", 1);
    for (const each of [run(), run().during({ limitMs: 60_000 }), run().during({ permission: "limits" })]) {
      const [outcome] = await Promise.allSettled([resource.apply(undefined, inputs, each)]);
      const shown = outcome.status === "rejected" ? String(outcome.reason) : JSON.stringify(outcome.value);
      assert.match(shown, /a call of the engine that may not change it.*bug of Rekey.*REKEY_INTERNAL/);
    }
    assert.deepEqual(account.changes, []);
    const rotated = await resource.apply(undefined, inputs, run().during({ permission: "resets" }));
    assert.equal(rotated.failure, undefined);
    const { length } = account.changes;
    assert.ok(length > 0);
    const { access } = rotated.outputs as Properties;
    const verification: AnyResource = resources.CredentialVerification;
    const retiring = { access, withinSeconds: 1, retireFormerAfter: true };
    const { failure } = await verification.apply(undefined, retiring, run());
    assert.match(failure?.message ?? "", /a call of the engine that may not change it/);
    assert.equal(account.changes.length, length);
  });
});
