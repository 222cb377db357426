import { type Exchange, type HttpServer, startServer } from "../../../support/httpServer";
import { until } from "../../../support/results";

export interface Delivery {
  readonly method: string;
  readonly path: string;
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly body: string;
  respond(status?: number, body?: string): void;
}

/** A server that messages are delivered to. It measures what really arrives. */
export class Destination {
  /** In the order in which they arrived. */
  readonly deliveries: Delivery[] = [];
  atOnce = 0;
  mostAtOnce = 0;
  #server!: HttpServer;

  /** @param react called with each delivery; default: it responds with 200 */
  constructor(readonly react: (delivery: Delivery) => void = (delivery) => delivery.respond()) {}

  get url(): string {
    return this.#server.url;
  }

  get bodies(): string[] {
    return this.deliveries.map(({ body }) => body);
  }

  async start(): Promise<this> {
    this.#server = await startServer((exchange) => this.#take(exchange));
    return this;
  }

  /** Waits until so many messages have arrived since the start. */
  async arrived(count: number): Promise<void> {
    await until(() => this.deliveries.length >= count);
  }

  close(): Promise<void> {
    return this.#server.close();
  }

  #take({ answer }: Exchange): void {
    this.mostAtOnce = Math.max(this.mostAtOnce, ++this.atOnce);
    const respond = (status = 200, body = "") => {
      this.atOnce--;
      answer(status, { "x-from": "destination" }, body);
    };
    const delivery: Delivery = { ...this.#server.requests.at(-1)!, respond };
    this.deliveries.push(delivery);
    this.react(delivery);
  }
}
