import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";

/** A proxy between the platform and its Redis, which can close, open again, and lose responses. */
export class RedisLine {
  loseAnswers = false;
  /** How many connections were opened. */
  connections = 0;
  readonly #sockets = new Set<Socket>();
  #server: Server | undefined;
  #port = 0;

  constructor(private readonly redisPort: number) {}

  get port(): number {
    return this.#port;
  }

  async open(): Promise<void> {
    this.#server = createServer((client) => {
      this.connections++;
      const redis = connect(this.redisPort, "127.0.0.1");
      client.pipe(redis);
      redis.on("data", (data: Buffer) => (this.loseAnswers ? this.cut() : client.write(data)));
      for (const socket of [client, redis]) {
        this.#sockets.add(socket);
        socket.on("error", () => undefined);
        socket.on("close", () => [client, redis].forEach((end) => end.destroy()));
      }
    }).listen(this.#port, "127.0.0.1");
    await once(this.#server, "listening");
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  cut(): void {
    this.#sockets.forEach((socket) => socket.destroy());
    this.#sockets.clear();
  }

  close(): void {
    this.#server?.close();
    this.cut();
  }
}
