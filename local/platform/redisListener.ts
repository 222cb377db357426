import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { pipeline } from "node:stream/promises";
import { AclUsers, defaultUser } from "./aclUsers";
import { type DatabaseRecord, sampleAddress } from "./databaseRecord";
import { errorReply, firstCommand, type Reply, writeReply } from "./resp";
import { hashOf } from "./secrets";
import { type DatabaseServer } from "./stores";

/** What a connection has authenticated as. */
interface Session {
  readonly users: AclUsers;
  readonly userName: string;
  readonly passwordHash: string;
}

interface Connection {
  session: Session | undefined;
}

/**
 * A server on the loopback address that speaks the Redis protocol (RESP2), but only knows `AUTH`, `PING` and `ACL`. One
 * port serves all databases: the password determines which database is meant.
 */
export class RedisListener implements DatabaseServer {
  /** The users of each database. */
  readonly #databases = new Map<string, AclUsers>();
  readonly #sockets = new Set<Socket>();

  private constructor(private readonly server: Server) {
    server.on("connection", (socket) => {
      this.#sockets.add(socket);
      socket.once("close", () => this.#sockets.delete(socket));
      // A client may close its connection at any time.
      pipeline(socket, (chunks: AsyncIterable<Buffer>) => this.#replies(chunks), socket).catch(() => undefined);
    });
  }

  /** Starts on a free port. */
  static async open(): Promise<RedisListener> {
    const server = createServer();
    const listener = new RedisListener(server);
    await once(server.listen(0, "127.0.0.1"), "listening");
    return listener;
  }

  /** Replaces the sample address. Fields with any other value are unchanged. */
  withAddress(record: DatabaseRecord): DatabaseRecord {
    const sample = sampleAddress(record.database_id);
    if (record.endpoint !== sample.endpoint) {
      return record;
    }
    const { port, tls } = record;
    const { port: listening } = this.server.address() as AddressInfo;
    return {
      ...record,
      endpoint: "127.0.0.1",
      ...(port === sample.port && { port: listening }),
      ...(tls === sample.tls && { tls: false }),
    };
  }

  setPasswords(databaseId: string, passwords: readonly string[]): undefined {
    const users = this.#databases.get(databaseId) ?? new AclUsers();
    users.setDefaultPasswords(passwords.map(hashOf));
    this.#databases.set(databaseId, users);
  }

  removeUsers(): void {
    this.#databases.forEach((users) => users.removeAll());
  }

  async close(): Promise<void> {
    const closed = once(this.server, "close");
    this.server.close();
    this.#sockets.forEach((socket) => socket.destroy());
    await closed;
  }

  async *#replies(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    const connection: Connection = { session: undefined };
    // One character per byte, so that positions in the text are positions in the data.
    let text = "";
    for await (const chunk of chunks) {
      text += chunk.toString("latin1");
      for (let command = firstCommand(text); command !== undefined; command = firstCommand(text)) {
        if (command === "malformed") {
          yield Buffer.from("-ERR Protocol error\r\n");
          return;
        }
        text = text.slice(command.length);
        yield Buffer.from(writeReply(this.#reply(connection, command.words)), "latin1");
      }
    }
  }

  #reply(connection: Connection, [name = "", ...args]: readonly string[]): Reply {
    const command = name.toLowerCase();
    if (command === "auth") return this.#authenticate(connection, args);
    if (command !== "ping" && command !== "acl") {
      // With the name, as in a Redis: clients that begin with HELLO fall back to AUTH if it is unknown.
      return errorReply(`ERR unknown command '${name.replace(/\W/g, "").slice(0, 32)}'`);
    }
    const { session } = connection;
    // Checked each time: a reset also ends the sessions of the former password.
    if (session === undefined || !session.users.keepsSession(session.userName, session.passwordHash)) {
      return errorReply("NOAUTH Authentication required.");
    }
    if (!session.users.allows(session.userName, command)) {
      return errorReply(`NOPERM User ${session.userName} has no permissions to run the '${command}' command`);
    }
    return command === "acl" ? session.users.reply(session.userName, args) : (args[0] ?? { status: "PONG" });
  }

  #authenticate(connection: Connection, args: readonly string[]): Reply {
    const [userName = "", password] = args.length === 1 ? [defaultUser, args[0]] : args;
    if (password === undefined || args.length > 2) {
      return errorReply("ERR wrong number of arguments for 'auth' command");
    }
    const passwordHash = hashOf(Buffer.from(password, "latin1").toString());
    const users = [...this.#databases.values()].find((one) => one.accepts(userName, passwordHash));
    if (users === undefined) {
      return errorReply("WRONGPASS invalid username-password pair or user is disabled.");
    }
    connection.session = { users, userName, passwordHash };
    return { status: "OK" };
  }
}
