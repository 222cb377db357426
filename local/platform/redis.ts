import type * as ioredis from "ioredis";
import { startRedisServer } from "./redisServer";

/** Where clients reach a Redis, as fields of the database record. */
export interface RedisAddress {
  readonly endpoint: string;
  readonly port: number;
  readonly tls: boolean;
}

/**
 * The name of a database's ACL user. Encoded, because a name holds no space; the prefix keeps it apart from Redis's own
 * `default`.
 */
export function redisUser(databaseId: string): string {
  return `rekey-${encodeURIComponent(databaseId)}`;
}

/** A real Redis, in which each database is an ACL user: every key and command but those that administer the server. */
export class RedisUsers {
  /** What each user's password is, as the Redis confirmed it. */
  readonly #passwords = new Map<string, string>();
  #lastError: Error | undefined;

  private constructor(
    private readonly client: ioredis.Redis,
    readonly address: RedisAddress,
    private readonly endServer: () => Promise<void>,
  ) {
    client.on("error", (error: Error) => (this.#lastError = error));
    client.on("ready", () => this.#restore());
  }

  /**
   * Starts a Redis server (`true`), or attaches the one at an address.
   *
   * @throws Error that says why it cannot be used; without the address, which may hold a password
   */
  static async open(redis: true | string): Promise<RedisUsers> {
    // Loaded only here: a platform without Redis starts faster.
    const { Redis } = require("ioredis") as typeof ioredis;
    const server = redis === true ? await startRedisServer() : undefined;
    const client = new Redis(server?.url ?? String(redis), {
      lazyConnect: true,
      // A command is sent once and at once, or fails: what is sent later would meet a caller who was told that it
      // failed.
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: 0,
      connectTimeout: 5_000,
      socketTimeout: 5_000,
      retryStrategy: () => 200,
    });
    const { host = "localhost", port = 6379, tls } = client.options;
    const users = new RedisUsers(client, { endpoint: host, port, tls: tls !== undefined }, async () => server?.close());
    try {
      await client.connect().catch((error: Error) => {
        const { message } = users.#lastError ?? error;
        throw new Error(`${message}: is a Redis there, and are its user and password right?`, { cause: error });
      });
      const version = /^redis_version:(\d+\.\d+)/m.exec(await client.info("server"))?.[1];
      if (Number(version) < 6.2) {
        throw new Error(`it is Redis ${version}, and 6.2 or newer is needed`);
      }
      return users;
    } catch (error) {
      await users.close();
      throw error;
    }
  }

  /** The address without credentials, or with those of a database. */
  url(credentials?: { readonly id: string; readonly password: string }): string {
    const { endpoint, port, tls } = this.address;
    const host = endpoint.includes(":") ? `[${endpoint}]` : endpoint;
    const encoded = credentials && [redisUser(credentials.id), credentials.password].map(encodeURIComponent).join(":");
    return `${tls ? "rediss" : "redis"}://${encoded ? `${encoded}@` : ""}${host}:${port}`;
  }

  /**
   * Makes this the one password of a database, and closes the sessions opened with another. Passwords that are set at
   * the same time are set in the order of the calls, and confirmed in that order.
   *
   * @throws Error if the Redis did not confirm it; the password is then the one before, at the latest when the Redis is
   * back
   */
  async setPassword(databaseId: string, password: string): Promise<void> {
    const user = redisUser(databaseId);
    // One transaction: no new password without the old sessions closed.
    const results = await this.client
      .multi([setUser(user, password), ["client", "kill", "user", user]])
      .exec()
      .catch((error: Error) => {
        throw new Error(this.client.status === "ready" ? error.message : (this.#lastError ?? error).message);
      });
    const failed = results?.find(([error]) => error !== null)?.[0];
    if (failed) {
      throw new Error(failed.message);
    }
    this.#passwords.set(user, password);
  }

  /** Ends the server, or takes the users away from one that was attached. */
  async close(): Promise<void> {
    const users = [...this.#passwords.keys()];
    if (users.length > 0 && this.client.status === "ready") {
      await this.client.call("acl", "deluser", ...users).catch(() => undefined);
    }
    this.client.disconnect();
    await this.endServer();
  }

  /**
   * Sets what was confirmed once more. After a lost connection nobody knows whether the last password was set, and a
   * Redis that was started again has lost its users.
   */
  #restore(): void {
    for (const [user, password] of this.#passwords) {
      const [name, ...args] = setUser(user, password);
      // Should the connection be lost again, then this is done again.
      this.client.call(name, ...args).catch(() => undefined);
    }
  }
}

function setUser(user: string, password: string): [string, ...string[]] {
  return ["acl", "setuser", user, "reset", "on", `>${password}`, "~*", "&*", "+@all", "-@admin"];
}
