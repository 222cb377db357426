import { type Socket } from "node:net";
import { type ClientEndpoint, restAddressOf } from "../domain/endpoint";
import { type Connections, maxConnectMs } from "../platform/connections";
import { clientCertificate, isClientCertificate } from "../platform/failures";

/** A reply of a Redis: a status, a string, an integer, an array, an error, or undefined for its nil. */
export type Reply = StatusReply | ErrorReply | Item;

/** An element of an array: its strings may be of either form. */
type Item = string | number | undefined | ErrorReply | readonly Item[];

/** A simple string as a reply: what was done, such as `OK`. */
export class StatusReply {
  constructor(readonly text: string) {}
}

export function isOk(reply: Reply): boolean {
  return reply instanceof StatusReply && reply.text === "OK";
}

/** An error as a reply. */
export class ErrorReply {
  /** @param text the server's own words, in which there may be secrets */
  constructor(readonly text: string) {}
}

/** No reply has arrived, or it cannot be read. The message contains no secrets. */
export class NoReplyError extends Error {
  /** @param advice what to do about it, if that is known */
  constructor(
    message: string,
    readonly advice?: string,
  ) {
    super(message);
  }
}

/** Bytes of the longest reply that is read. */
const maxReplyBytes = 1024 * 1024;

/**
 * Opens a connection, on which nothing is sent yet.
 *
 * @param timeoutMs of the connection: from its beginning to the last reply
 * @throws ConnectionError: nothing was sent
 */
export async function connectToRedis(
  connections: Connections,
  endpoint: ClientEndpoint,
  timeoutMs: number,
): Promise<RedisConnection> {
  const endsAtMs = performance.now() + timeoutMs;
  const url = new URL(restAddressOf(endpoint));
  const connectMs = Math.min(maxConnectMs, timeoutMs);
  const socket = await connections.open(url, { timeoutMs: connectMs });
  return new RedisConnection(socket, endsAtMs - performance.now());
}

/**
 * A connection to a Redis server that sends only the commands that it is given. It is not a library, because clients of
 * Redis put commands, and so passwords, into errors, debug output and diagnostics channels.
 */
export class RedisConnection {
  readonly #timer: NodeJS.Timeout;
  readonly #arriving: AsyncIterator<string, undefined>;
  /** Text that has arrived and is not read yet. Each character is a byte. */
  #received = "";
  /** Bytes of the current reply that may still arrive. */
  #leftBytes = 0;
  /** The last command that was sent, without its arguments. */
  #command = "";

  /** @param timeoutMs after which it is closed */
  constructor(
    private readonly socket: Socket,
    timeoutMs: number,
  ) {
    const late = new NoReplyError("the server did not respond in time");
    this.#timer = setTimeout(() => socket.destroy(late), timeoutMs);
    this.#arriving = socket.setEncoding("latin1")[Symbol.asyncIterator]() as AsyncIterator<
      string,
      undefined
    >;
  }

  /** True if a command can be sent. */
  get isOpen(): boolean {
    return this.socket.readyState === "open";
  }

  close(): void {
    clearTimeout(this.#timer);
    this.socket.destroy();
  }

  /**
   * Sends a command once.
   *
   * @param command its name, perhaps with a subcommand: `ACL GETUSER`. Errors show it, but not the arguments
   * @throws NoReplyError if there is no reply in RESP2
   */
  async send(command: string, ...args: readonly string[]): Promise<Reply> {
    this.#command = command;
    // Text that has arrived unasked would be taken for the reply to this command.
    if (this.#received !== "") throw this.#notRedis();
    const words = [...command.split(" "), ...args];
    const parts = words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`);
    this.socket.write(`*${words.length}\r\n${parts.join("")}`);
    this.#leftBytes = maxReplyBytes;
    return this.#readReply();
  }

  async #readReply(): Promise<Reply> {
    const type = await this.#take(1);
    if (!"+-:$*".includes(type)) throw this.#notRedis();
    while (!this.#received.includes("\r\n")) await this.#receive();
    const line = await this.#take(this.#received.indexOf("\r\n"));
    await this.#take(2);
    if (type === "+") return new StatusReply(textOf(line));
    if (type === "-") return new ErrorReply(textOf(line));
    if (!/^-?\d{1,19}$/.test(line)) throw this.#notRedis();
    const number = Number(line);
    if (type === ":") return number;
    if (number < 0) return undefined;
    if (number > maxReplyBytes) throw this.#notRedis();
    if (type === "$") {
      const text = textOf(await this.#take(number));
      if ((await this.#take(2)) !== "\r\n") throw this.#notRedis();
      return text;
    }
    const items: Item[] = [];
    while (items.length < number) {
      const item = await this.#readReply();
      items.push(item instanceof StatusReply ? item.text : item);
    }
    return items;
  }

  async #take(bytes: number): Promise<string> {
    while (this.#received.length < bytes) await this.#receive();
    const taken = this.#received.slice(0, bytes);
    this.#received = this.#received.slice(bytes);
    return taken;
  }

  async #receive(): Promise<void> {
    const { done, value }: IteratorResult<string, undefined> = await this.#arriving
      .next()
      .catch((error: unknown) => {
        if (error instanceof NoReplyError) throw error;
        const { code } = error as NodeJS.ErrnoException;
        // With TLS 1.3, a server refuses it after the handshake of the client.
        if (!isClientCertificate(code)) throw new NoReplyError(`the connection was lost (${code})`);
        throw new NoReplyError(clientCertificate.happened, clientCertificate.advice);
      });
    if (done) throw new NoReplyError("the server closed the connection");
    this.#leftBytes -= value.length;
    if (this.#leftBytes < 0) throw this.#notRedis();
    this.#received += value;
  }

  #notRedis(): NoReplyError {
    return new NoReplyError(`the reply to ${this.#command} is not that of a Redis`);
  }
}

/** Decodes UTF-8 text of which each character is a byte. */
function textOf(bytes: string): string {
  return Buffer.from(bytes, "latin1").toString();
}
