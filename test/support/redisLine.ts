import { connect, createServer } from "node:net";
import { SocketServer } from "./socketServer";

/** A proxy between the platform and its Redis, which can close, open again, and lose responses. */
export class RedisLine extends SocketServer {
  loseResponses = false;

  constructor(redisPort: number) {
    super(
      createServer((client) => {
        const redis = this.keep(connect(redisPort, "127.0.0.1"));
        client.pipe(redis);
        redis.on("data", (data: Buffer) => (this.loseResponses ? this.cut() : client.write(data)));
        client.on("close", () => redis.destroy());
        redis.on("close", () => client.destroy());
      }),
    );
  }

  /** Listens, after the first time at the same port. */
  async start(): Promise<void> {
    await this.listen(this.port);
  }
}
