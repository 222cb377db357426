import assert from "node:assert/strict";
import { type Platform, startPlatform } from "../../local/platform/index";
import { startRun } from "../../provider/run/run";
import { Settings } from "../../provider/settings/settings";
import { dynamicCalls, pluginCalls } from "../model/adapterCalls";
import { leaksOf } from "../support/canaries";
import { type Adapter, adapters } from "../support/host";
import { databaseReply, type RedisServer } from "../support/redis";
import { RedisGate } from "../support/redisGate";
import { itInPairs } from "../support/suite";
import { type EngineCalls, Stack } from "../support/stack";
import { type Properties } from "../support/wire";
import { titled, type Titled } from "./describeFaults";

/** What a user has at first. */
export const firstPassword = "canary-first-4f1d";
const opsPassword = "canary-operator-password-77ab";

/** A server with users, of which `ops` may change the others. */
export interface UserServer {
  readonly port: number;
  acl(...words: readonly string[]): Promise<unknown>;
  /** Makes a user with these rules and one password. @returns it */
  makeUser(name: string, ...rules: readonly string[]): Promise<string>;
  readonly admin: Readonly<{ username?: string; password: string }>;
  restart?(): Promise<void>;
}

/** A real Redis. */
export async function usersOf(redis: RedisServer): Promise<UserServer> {
  await redis.acl("SETUSER", "ops", "on", `>${opsPassword}`, "+@all");
  return {
    port: redis.port,
    acl: redis.acl,
    admin: { username: "ops", password: opsPassword },
    makeUser: async (name, ...rules) => {
      await redis.acl("SETUSER", name, "reset", "on", `>${firstPassword}`, "+@all", ...rules);
      return firstPassword;
    },
  };
}

/** The Redis of the local platform, in which users have tokens, as at the vendor. */
export async function usersOfPlatform(): Promise<{ platform: Platform; server: UserServer }> {
  const platform = await startPlatform({ databases: ["db"] });
  const { record, password } = platform.database("db");
  const acl = (...words: readonly string[]) => databaseReply(record, ["AUTH", password], ["ACL", ...words]);
  const makeUser = async (name: string, ...rules: readonly string[]): Promise<string> => {
    const [token = ""] = (await acl("GENTOKEN", name)).split("\r\n").slice(-2);
    assert.match(await acl("SETUSER", name, "on", `>${token}`, "+@all", ...rules), /\+OK\r\n$/);
    return token;
  };
  return { platform, server: { port: Number(record["port"]), acl, admin: { password }, makeUser } };
}

let count = 0;

/** A user of a server behind a gate: its rotation and its verification, in several runs. */
export class UserOfServer {
  readonly rotation = new Stack(undefined as never);
  readonly verification = new Stack(undefined as never);
  readonly said: string[] = [];
  deadlineSeconds = "30";
  admin: Properties;
  readonly #given: string[];

  private constructor(
    readonly adapter: Adapter,
    readonly server: UserServer,
    readonly gate: RedisGate,
    readonly name: string,
    first: string,
  ) {
    this.#given = [first];
    this.admin = { host: "127.0.0.1", port: gate.port, tls: false, ...server.admin };
  }

  /** @param name of a user that another run rotates, too. Default: a new one */
  static async start(adapter: Adapter, server: UserServer, name?: string): Promise<UserOfServer> {
    if (name === undefined) return UserOfServer.#startNew(adapter, server);
    return new UserOfServer(adapter, server, await RedisGate.start(server.port), name, firstPassword);
  }

  static async #startNew(adapter: Adapter, server: UserServer): Promise<UserOfServer> {
    const name = `app${++count}`;
    const first = await server.makeUser(name);
    return new UserOfServer(adapter, server, await RedisGate.start(server.port), name, first);
  }

  /** Creates or updates the rotation in a new run. @returns its failure */
  async rotate(inputs: Properties): Promise<string> {
    this.#nextRun();
    this.gate.commands.length = 0;
    const failure = await failureOf(this.rotation.up({ userName: this.name, admin: this.admin, ...inputs }));
    const { password } = this.rotation.plain;
    if (typeof password === "string" && !this.#given.includes(password)) this.#given.push(password);
    this.#assertNoSecrets(failure);
    return failure;
  }

  /** Creates or updates the verification in the same run. */
  async verify(inputs: Properties = { retireFormerAfter: ["deployment"] }): Promise<string> {
    const { access } = this.rotation.plain;
    const failure = await failureOf(this.verification.up({ access, withinSeconds: 1, ...inputs }));
    this.#assertNoSecrets(failure);
    return failure;
  }

  async refresh(): Promise<Properties> {
    this.#nextRun();
    this.gate.commands.length = 0;
    return this.rotation.refresh();
  }

  /** How AUTH accepts the passwords now, in the order in which the program had them. */
  valid(): Promise<boolean[]> {
    return Promise.all(this.#given.map((password) => this.accepts(password)));
  }

  async accepts(password: string): Promise<boolean> {
    const at = { endpoint: "127.0.0.1", port: this.server.port };
    return (await databaseReply(at, ["AUTH", this.name, password])) === "+OK\r\n";
  }

  /** How many passwords the server lists. */
  async listed(): Promise<number> {
    const reply = JSON.stringify(await this.server.acl("GETUSER", this.name));
    return reply.match(/(?<![\da-f])[\da-f]{64}(?![\da-f])/g)?.length ?? 0;
  }

  /** How many SETUSER arrived since the last rotation began. */
  get setUsers(): number {
    return this.gate.sent(/^ACL SETUSER/).length;
  }

  #nextRun(): void {
    const values: Readonly<Record<string, string>> = { deadlineSeconds: this.deadlineSeconds };
    const run = startRun(new Settings((name) => values[name]), { log: (line) => void this.said.push(line) });
    const callsOf = (type: "AclUserRotation" | "CredentialVerification"): EngineCalls =>
      this.adapter === "dynamic" ? dynamicCalls(type, run) : pluginCalls(type, run, this.said);
    this.rotation.calls = callsOf("AclUserRotation");
    this.verification.calls = callsOf("CredentialVerification");
  }

  #assertNoSecrets(failure: string): void {
    const passwords = Object.fromEntries(this.#given.map((password, nth) => [`password ${nth}`, password]));
    assert.deepEqual(leaksOf(failure + this.said.join("\n"), { admin: this.server.admin.password, ...passwords }), []);
  }
}

async function failureOf(change: Promise<unknown>): Promise<string> {
  return change.then(
    () => "",
    ({ message }: Error) => message,
  );
}

/** Tests of rows. Each has a user of a server, and runs with each adapter in this process. */
export function userRows() {
  const open: { close(): Promise<void> }[] = [];
  const closes = <T extends { close(): Promise<void> }>(one: T): T => {
    open.push(one);
    return one;
  };
  after(async () => {
    for (const one of open.reverse()) await one.close();
  });
  const testRow = (
    title: Titled,
    server: () => UserServer | Promise<UserServer>,
    test: (user: UserOfServer) => Promise<void>,
    on = adapters,
  ): void =>
    itInPairs(
      on,
      (adapter) => titled(...title, adapter),
      async (adapter) => {
        const user = await UserOfServer.start(adapter, await server());
        closes(user.gate);
        await test(user);
      },
    );
  return { closes, testRow };
}
