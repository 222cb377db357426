import { createServer, type Socket } from "node:net";
import { createServer as createTlsServer, type TlsOptions } from "node:tls";
import { SocketServer } from "./socketServer";

/** Bytes that do not end with a line, and what is sent after them without an end. */
interface Endless {
  readonly begin: string;
  readonly filling?: string;
}

/**
 * The line with which a command is responded to, without its line break; `close` closes the connection, and undefined
 * leaves it silent.
 */
export type RedisReply = (command: readonly string[]) => string | Endless | undefined;

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
          else if (typeof reply === "string") socket.write(`${reply}\r\n`);
          else if (reply) pour(socket, reply);
        }
      });
  }
}

function pour(socket: Socket, { begin, filling }: Endless): void {
  socket.write(begin);
  if (filling === undefined) return;
  const fill = (): void => {
    while (socket.write(Buffer.alloc(64 * 1024, filling)));
  };
  socket.on("drain", fill);
  fill();
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
