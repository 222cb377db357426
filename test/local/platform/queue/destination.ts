import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type AddressInfo } from "node:net";

export interface Delivery {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
  /** Answers it. */
  answer(status?: number, body?: string): void;
}

/** A server that messages are delivered to. It measures what really arrives. */
export class Destination {
  /** In the order in which they arrived. */
  readonly deliveries: Delivery[] = [];
  atOnce = 0;
  mostAtOnce = 0;
  readonly #server = createServer((request, response) => void this.#take(request, response));
  readonly #waiting: { readonly count: number; readonly resolve: () => void }[] = [];

  /** @param react called with each delivery that has arrived; default: it is answered with 200 */
  constructor(readonly react: (delivery: Delivery) => void = (delivery) => delivery.answer()) {}

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get bodies(): string[] {
    return this.deliveries.map(({ body }) => body);
  }

  async start(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return this;
  }

  /** Waits until so many messages have arrived since the start. */
  async arrived(count: number): Promise<void> {
    if (this.deliveries.length < count) {
      await new Promise<void>((resolve) => this.#waiting.push({ count, resolve }));
    }
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.mostAtOnce = Math.max(this.mostAtOnce, ++this.atOnce);
    const chunks: Buffer[] = [];
    for await (const chunk of request) {
      chunks.push(chunk as Buffer);
    }
    const delivery: Delivery = {
      method: request.method ?? "",
      path: request.url ?? "",
      headers: request.headers,
      body: Buffer.concat(chunks).toString(),
      answer: (status = 200, body = "") => {
        this.atOnce--;
        response.writeHead(status, { "x-from": "destination" }).end(body);
      },
    };
    this.deliveries.push(delivery);
    this.react(delivery);
    this.#waiting.forEach(({ count, resolve }) => count <= this.deliveries.length && resolve());
  }
}
