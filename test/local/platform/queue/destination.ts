import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { until } from "../../../support/results";

export interface Delivery {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
  respond(status?: number, body?: string): void;
}

/** A server that messages are delivered to. It measures what really arrives. */
export class Destination {
  /** In the order in which they arrived. */
  readonly deliveries: Delivery[] = [];
  atOnce = 0;
  mostAtOnce = 0;
  readonly #server = createServer((request, response) => void this.#take(request, response));

  /** @param react called with each delivery; default: it responds with 200 */
  constructor(readonly react: (delivery: Delivery) => void = (delivery) => delivery.respond()) {}

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get bodies(): string[] {
    return this.deliveries.map(({ body }) => body);
  }

  async start(): Promise<this> {
    await once(this.#server.listen(0, "127.0.0.1"), "listening");
    return this;
  }

  /** Waits until so many messages have arrived since the start. */
  async arrived(count: number): Promise<void> {
    await until(() => this.deliveries.length >= count, 60_000);
  }

  async close(): Promise<void> {
    const closed = once(this.#server.close(), "close");
    this.#server.closeAllConnections();
    await closed;
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.mostAtOnce = Math.max(this.mostAtOnce, ++this.atOnce);
    const { method = "", url: path = "", headers } = request;
    const respond = (status = 200, body = "") => {
      this.atOnce--;
      response.writeHead(status, { "x-from": "destination" }).end(body);
    };
    const delivery: Delivery = { method, path, headers, body: await text(request), respond };
    this.deliveries.push(delivery);
    this.react(delivery);
  }
}
