import { type Platform, startPlatform } from "../../local/platform/index";
import { type Adapter } from "../support/host";
import { acceptsPassword, aclOf, addUser, type RedisServer } from "../support/redis";
import { RedisGate } from "../support/redisGate";
import { type Properties } from "../support/wire";
import { type Titled } from "./describeFaults";
import { OverlappingSecret, testByAdapter } from "./overlappingSecret";

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
  const database = platform.database("db");
  const makeUser: UserServer["makeUser"] = (...user) => addUser(database, ...user);
  const { record, password } = database;
  return { platform, server: { port: Number(record["port"]), acl: aclOf(database), admin: { password }, makeUser } };
}

let count = 0;

/** A user of a server behind a gate. */
export class UserOfServer extends OverlappingSecret {
  admin: Properties;

  private constructor(
    adapter: Adapter,
    readonly server: UserServer,
    readonly gate: RedisGate,
    readonly name: string,
    first: string,
  ) {
    super(adapter, "AclUserRotation", { deadlineSeconds: 30 }, first);
    this.admin = { host: "127.0.0.1", port: gate.port, tls: false, ...server.admin };
  }

  /** @param name of a user that another run rotates, too. Default: a new one */
  static async start(adapter: Adapter, server: UserServer, name?: string): Promise<UserOfServer> {
    const used = name ?? `app${++count}`;
    const first = name === undefined ? await server.makeUser(used) : firstPassword;
    return new UserOfServer(adapter, server, await RedisGate.start(server.port), used, first);
  }

  protected get inputs(): Properties {
    return { userName: this.name, admin: this.admin };
  }

  protected get canaries() {
    return { admin: this.server.admin.password };
  }

  async accepts(password: string): Promise<boolean> {
    return acceptsPassword({ endpoint: "127.0.0.1", port: this.server.port }, this.name, password);
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

  protected override nextRun(): void {
    super.nextRun();
    this.gate.commands.length = 0;
  }
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
    on?: readonly Adapter[],
  ): void => {
    const withUser = async (adapter: Adapter): Promise<void> => {
      const user = await UserOfServer.start(adapter, await server());
      closes(user.gate);
      await test(user);
    };
    testByAdapter(title, withUser, on);
  };
  return { closes, testRow };
}
