import { createServer, type Socket } from "node:net";
import { createServer as createTlsServer, type TlsOptions } from "node:tls";
import { firstCommand } from "../../local/platform/resp";
import { SocketServer } from "./socketServer";

/** The line with which a command is responded to, without its line break. Undefined leaves it silent. */
export type RedisReply = (command: readonly string[], socket: Socket) => string | undefined | void;

/** A server that speaks the Redis protocol as a test defines it, and records what it was sent. */
export class FakeRedis extends SocketServer {
  readonly commands: string[][] = [];
  /** Everything that was received, also what is not a command. */
  received = "";

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
    let rest = "";
    socket
      .on("error", () => undefined)
      .on("data", (bytes: Buffer) => {
        this.received += bytes.toString();
        rest += bytes.toString("latin1");
        for (let command = firstCommand(rest); command; command = firstCommand(rest)) {
          // As Redis does with HTTP. A client that speaks TLS waits for a Redis in vain.
          if (command === "malformed") return void socket.end("-ERR Protocol error\r\n");
          rest = rest.slice(command.length);
          const words = command.words.map((word) => Buffer.from(word, "latin1").toString());
          this.commands.push(words);
          const reply = this.reply(words, socket);
          if (reply !== undefined) socket.write(`${reply}\r\n`);
        }
      });
  }
}
