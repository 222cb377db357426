import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { pipeline } from "node:stream/promises";
import { type DatabaseRecord, sampleAddress } from "./databaseRecord";
import { type DatabaseServer } from "./stores";

/**
 * A server on the loopback address that speaks the Redis protocol (RESP2), but only knows `AUTH` and `PING`. One port
 * serves all databases: the password determines which database is meant.
 */
export class RedisListener implements DatabaseServer {
  readonly #passwords = new Map<string, readonly string[]>();
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
    this.#passwords.set(databaseId, passwords);
  }

  async close(): Promise<void> {
    const closed = once(this.server, "close");
    this.server.close();
    this.#sockets.forEach((socket) => socket.destroy());
    await closed;
  }

  async *#replies(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    const session = { password: undefined as string | undefined };
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
        yield Buffer.from(`${this.#reply(session, command.words)}\r\n`, "latin1");
      }
    }
  }

  #reply(session: { password: string | undefined }, [name = "", ...args]: readonly string[]): string {
    const command = name.toLowerCase();
    if (command === "auth") {
      const [user, password] = args.length === 1 ? ["default", args[0]] : args;
      if (password === undefined || args.length > 2) {
        return "-ERR wrong number of arguments for 'auth' command";
      }
      const given = Buffer.from(password, "latin1").toString();
      if (user !== "default" || !this.#accepts(given)) {
        return "-WRONGPASS invalid username-password pair or user is disabled.";
      }
      session.password = given;
      return "+OK";
    }
    if (command !== "ping") {
      // With the name, as in a Redis: clients that begin with HELLO fall back to AUTH if it is unknown.
      return `-ERR unknown command '${name.replace(/\W/g, "").slice(0, 32)}'`;
    }
    // Checked each time: a reset also ends the sessions of the former password.
    if (session.password === undefined || !this.#accepts(session.password)) {
      return "-NOAUTH Authentication required.";
    }
    const [message] = args;
    return message === undefined ? "+PONG" : `$${message.length}\r\n${message}`;
  }

  #accepts(password: string): boolean {
    return [...this.#passwords.values()].some((passwords) => passwords.includes(password));
  }
}

const mostWords = 16;

/**
 * The first command of a text: an array of strings, `*2\r\n$4\r\nAUTH\r\n$6\r\nsecret\r\n`. Undefined if it is
 * incomplete. Its size is limited to 16 strings of 9,999 bytes.
 */
export function firstCommand(
  text: string,
): { readonly words: string[]; readonly length: number } | "malformed" | undefined {
  let at = 0;
  const number = (mark: "*" | "$"): number | "malformed" | undefined => {
    const line = text.slice(at, at + "$9999\r\n".length);
    const [whole, given, digits] = /^([*$])(\d{1,4})\r\n/.exec(line) ?? [];
    if (whole === undefined) {
      return /^([*$](\d{1,4}\r?)?)?$/.test(line) ? undefined : "malformed";
    }
    at += whole.length;
    return given === mark ? Number(digits) : "malformed";
  };
  const count = number("*");
  if (typeof count !== "number") {
    return count;
  }
  if (count < 1 || count > mostWords) {
    return "malformed";
  }
  const words: string[] = [];
  while (words.length < count) {
    const length = number("$");
    if (typeof length !== "number") {
      return length;
    }
    const [word, end] = [text.slice(at, at + length), text.slice(at + length, at + length + 2)];
    if (!"\r\n".startsWith(end)) {
      return "malformed";
    }
    if (end.length < 2) {
      return undefined;
    }
    words.push(word);
    at += length + 2;
  }
  return { words, length: at };
}
