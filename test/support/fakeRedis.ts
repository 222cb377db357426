import { createServer, type Socket } from "node:net";
import { createServer as createTlsServer, type TlsOptions } from "node:tls";
import { SocketServer } from "./socketServer";

/**
 * The line with which a command is responded to, without its line break, or the beginning of one; `close` closes the
 * connection, and undefined leaves it silent.
 */
export type RedisReply = (command: readonly string[]) => string | { readonly begin: string } | undefined;

/** A server that speaks the Redis protocol as a test defines it, and records what it was sent. */
export class FakeRedis extends SocketServer {
  readonly commands: string[][] = [];
  /** Everything that was received, also what is not a command. */
  received = "";
  /** Sent to each client that connects. */
  greeting: string | undefined;

  private constructor(
    public reply: RedisReply,
    tls: TlsOptions | undefined,
  ) {
    const serve = (socket: Socket): void => this.#serve(socket);
    super(tls ? createTlsServer(tls, serve) : createServer(serve));
  }

  static start(reply: RedisReply, tls?: TlsOptions): Promise<FakeRedis> {
    return new FakeRedis(reply, tls).listen();
  }

  #serve(socket: Socket): void {
    let rest = Buffer.alloc(0);
    if (this.greeting !== undefined) socket.write(`${this.greeting}\r\n`);
    socket
      .on("error", () => undefined)
      .on("data", (bytes: Buffer) => {
        this.received += bytes.toString();
        rest = Buffer.concat([rest, bytes]);
        // As Redis does with a client that speaks TLS or HTTP.
        if (rest[0] !== "*".charCodeAt(0)) return void socket.end("-ERR Protocol error\r\n");
        for (let read = readCommand(rest); read; read = readCommand(rest)) {
          rest = rest.subarray(read.length);
          this.commands.push(read.command);
          const reply = this.reply(read.command);
          if (reply === "close") socket.destroy();
          else if (reply !== undefined) socket.write(typeof reply === "string" ? `${reply}\r\n` : reply.begin);
        }
      });
  }
}

/** Reads `*2\r\n$4\r\nAUTH\r\n$1\r\nx\r\n`; undefined if it is incomplete. */
function readCommand(bytes: Buffer): { command: string[]; length: number } | undefined {
  let at = 0;
  const line = (): string | undefined => {
    const end = bytes.indexOf("\r\n", at);
    if (end < 0) return undefined;
    const text = bytes.toString("utf8", at + 1, end);
    at = end + 2;
    return text;
  };
  const count = Number(line() ?? NaN);
  const command: string[] = [];
  while (command.length < count) {
    const length = Number(line() ?? NaN);
    if (!(bytes.length >= at + length + 2)) return undefined;
    command.push(bytes.toString("utf8", at, at + length));
    at += length + 2;
  }
  return Number.isNaN(count) ? undefined : { command, length: at };
}
