import { createServer, connect, type Socket } from "node:net";
import { createServer as createTlsServer, type TlsOptions } from "node:tls";
import { firstCommand } from "../../local/platform/resp";
import { SocketServer } from "./socketServer";

/** A moment of a command: it arrives, the server has applied it, its reply was sent. */
type CommandPoint = "arrived" | "applied" | "responded";

/**
 * What happens at a point in place of what comes next: the connection is closed, nothing more is sent, the reply comes
 * byte by byte, or it is this text.
 */
type Instead = "close" | "silence" | "pieces" | { readonly reply: string };

/** @param command with its arguments: `ACL GETUSER app`. @returns undefined if it goes on */
export type Meet = (command: string, point: CommandPoint) => Instead | undefined | Promise<Instead | undefined>;

/** A fault of the commands that match. */
export interface CommandFault {
  readonly command: RegExp;
  readonly does: Instead;
  /** Default: it arrived, so that the server never sees it. */
  readonly at?: Exclude<CommandPoint, "responded">;
  /** The first command that meets it, of those that match. Default: 1. */
  readonly nth?: number;
  /** How many commands meet it. Default: 1. */
  readonly times?: number;
}

/**
 * A proxy before a Redis that records its commands, and does something else at exact points. Without a Redis, all
 * commands meet something.
 */
export class RedisGate extends SocketServer {
  /** What arrived, each with its arguments: `AUTH ops password`. */
  readonly commands: string[] = [];
  meet: Meet = () => undefined;
  #underWay = 0;

  private constructor(redisPort: number | undefined, tls: TlsOptions | undefined) {
    const serve = (client: Socket): void => this.#serve(client, redisPort);
    super(tls ? createTlsServer(tls, serve) : createServer(serve));
  }

  /** Starts it before the Redis at a port. */
  static start(redisPort: number): Promise<RedisGate> {
    return new RedisGate(redisPort, undefined).listen();
  }

  /** Starts it without a Redis. */
  static async alone(meet: Meet, tls?: TlsOptions): Promise<RedisGate> {
    const gate = await new RedisGate(undefined, tls).listen();
    gate.meet = meet;
    return gate;
  }

  /** How many commands are at the server, or meet something. */
  get underWay(): number {
    return this.#underWay;
  }

  /** Commands that match, in the order in which they arrived. */
  sent(pattern: RegExp): string[] {
    return this.commands.filter((command) => pattern.test(command));
  }

  /** From now on, commands meet this fault, and no other one. */
  fail({ command: pattern, does, at = "arrived", nth = 1, times = 1 }: CommandFault): void {
    let count = 0;
    this.meet = (command, point) => {
      if (point !== at || !pattern.test(command)) return undefined;
      count++;
      return count >= nth && count < nth + times ? does : undefined;
    };
  }

  #serve(client: Socket, redisPort: number | undefined): void {
    const send = redisPort === undefined ? sendNowhere : this.#connect(client, redisPort);
    let received = "";
    let last = Promise.resolve();
    client.on("data", (bytes: Buffer) => {
      received += bytes.toString("latin1");
      for (let one = firstCommand(received); one; one = firstCommand(received)) {
        // As Redis does with HTTP. A client that speaks TLS waits for a Redis in vain.
        if (one === "malformed") return void client.end("-ERR Protocol error\r\n");
        const raw = Buffer.from(received.slice(0, one.length), "latin1");
        const words = Buffer.from(one.words.join(" "), "latin1").toString();
        received = received.slice(one.length);
        this.#underWay++;
        last = last
          .then(() => this.#pass(words, client, () => send(raw)))
          .catch(() => void client.destroy())
          .finally(() => this.#underWay--);
      }
    });
  }

  /** @returns sends a command to the Redis, and resolves to its reply */
  #connect(client: Socket, redisPort: number): (command: Buffer) => Promise<Buffer> {
    const redis = this.keep(connect(redisPort, "127.0.0.1")).setNoDelay();
    client.on("close", () => redis.destroy());
    redis.on("close", () => client.destroy());
    const replies = repliesOf(redis, (more) => client.write(more));
    return (command) => {
      redis.write(command);
      return replies();
    };
  }

  async #pass(command: string, client: Socket, send: () => Promise<Buffer>): Promise<void> {
    this.commands.push(command);
    const before = await this.meet(command, "arrived");
    if (before !== undefined && before !== "pieces") return respond(client, before);
    const reply = await send();
    await respond(client, before ?? (await this.meet(command, "applied")), reply);
    await this.meet(command, "responded");
  }
}

async function sendNowhere(): Promise<Buffer> {
  throw new Error("there is no Redis behind this gate");
}

/** @param onMore called with what arrives of a reply after its first part. @returns resolves to the next reply */
function repliesOf(redis: Socket, onMore: (more: Buffer) => void): () => Promise<Buffer> {
  let waiting: { resolve: (reply: Buffer) => void; reject: (error: Error) => void } | undefined;
  redis.on("data", (bytes: Buffer) => {
    const { resolve = onMore } = waiting ?? {};
    waiting = undefined;
    resolve(bytes);
  });
  redis.on("close", () => waiting?.reject(new Error("the server has closed the connection")));
  return () =>
    new Promise((resolve, reject) => {
      waiting = { resolve, reject };
      if (redis.destroyed) reject(new Error("the server has closed the connection"));
    });
}

async function respond(client: Socket, instead: Instead | undefined, reply?: Buffer): Promise<void> {
  if (instead === "silence") return;
  if (instead === "close") return void client.destroy();
  if (instead === "pieces") {
    for (const byte of reply ?? []) await write(client, Buffer.of(byte));
    return;
  }
  await write(client, instead ? Buffer.from(`${instead.reply}\r\n`) : reply);
}

/** Resolves when it was sent, in a separate packet. */
function write(client: Socket, bytes: Uint8Array = Buffer.of()): Promise<void> {
  return new Promise((resolve) => client.write(bytes, () => setImmediate(resolve)));
}
