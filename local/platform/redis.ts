import type * as ioredis from "ioredis";
import { type DatabaseAddress, type DatabaseRecord } from "./databaseRecord";
import { type DatabaseServer } from "./stores";

/**
 * The ACL user of a database. The id is encoded because a user name cannot contain spaces; the prefix avoids a conflict
 * with Redis's `default` user.
 */
function redisUser(databaseId: string): string {
  return `rekey-${encodeURIComponent(databaseId)}`;
}

/**
 * A real Redis, in which each database is an ACL user with access to all keys and all commands that are not
 * administrative.
 */
export class RedisUsers implements DatabaseServer {
  /** The passwords of each user, as the Redis confirmed them. */
  readonly #passwords = new Map<string, readonly string[]>();
  #lastError: Error | undefined;

  private constructor(
    private readonly client: ioredis.Redis,
    private readonly address: DatabaseAddress,
  ) {
    client.on("error", (error: Error) => (this.#lastError = error));
    client.on("ready", () => this.#restore());
  }

  /** Connects to the Redis at a URL. @throws Error with the reason, without the URL, which may contain a password */
  static async open(url: string): Promise<RedisUsers> {
    // Loaded here so that a platform without Redis starts faster.
    const { Redis } = require("ioredis") as typeof ioredis;
    const client = new Redis(url, {
      lazyConnect: true,
      // A command is sent once and immediately, or fails. One that is sent later would take effect after its caller was
      // told that it failed.
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: 0,
      connectTimeout: 5_000,
      socketTimeout: 5_000,
      retryStrategy: () => 200,
    });
    const { host = "localhost", port = 6379, tls } = client.options;
    const users = new RedisUsers(client, { endpoint: host, port, tls: tls !== undefined });
    try {
      await client.connect().catch((error: Error) => {
        const { message } = users.#lastError ?? error;
        throw new Error(
          `${message}. Check that a Redis is running at this address and that its user and password are correct`,
          { cause: error },
        );
      });
      const version = /^redis_version:(\d+\.\d+)/m.exec(await client.info("server"))?.[1];
      if (Number(version) < 6.2) throw new Error(`it is Redis ${version}, but 6.2 or newer is required`);
      return users;
    } catch (error) {
      await users.close();
      throw error;
    }
  }

  withAddress(record: DatabaseRecord): DatabaseRecord {
    return { ...record, ...this.address };
  }

  /**
   * Replaces the passwords of a database and closes the sessions that were opened with the former ones. Concurrent
   * calls take effect, and are confirmed, in their order.
   *
   * @throws Error if the Redis did not confirm it; the former passwords are then valid, at the latest after a reconnect
   */
  async setPasswords(databaseId: string, passwords: readonly string[]): Promise<void> {
    const user = redisUser(databaseId);
    // A transaction, so that the password never changes without closing the old sessions.
    const results = await this.client
      .multi([setUser(user, passwords), ["client", "kill", "user", user]])
      .exec()
      .catch((error: Error) => {
        throw new Error(this.client.status === "ready" ? error.message : (this.#lastError ?? error).message);
      });
    const failed = results?.find(([error]) => error !== null)?.[0];
    if (failed) throw new Error(failed.message);
    this.#passwords.set(user, passwords);
  }

  /** Deletes the users. */
  async close(): Promise<void> {
    const users = [...this.#passwords.keys()];
    if (users.length > 0 && this.client.status === "ready") {
      await this.client.call("acl", "deluser", ...users).catch(() => undefined);
    }
    this.client.disconnect();
  }

  /**
   * Sets the confirmed passwords again. After a lost connection it is unknown whether the last password was set, and a
   * restarted Redis has lost its users.
   */
  #restore(): void {
    for (const [user, passwords] of this.#passwords) {
      const [name, ...args] = setUser(user, passwords);
      // If the connection is lost again, the next reconnect repeats this.
      this.client.call(name, ...args).catch(() => undefined);
    }
  }
}

function setUser(user: string, passwords: readonly string[]): [string, ...string[]] {
  const given = passwords.map((password) => `>${password}`);
  return ["acl", "setuser", user, "reset", "on", ...given, "~*", "&*", "+@all", "-@admin"];
}
