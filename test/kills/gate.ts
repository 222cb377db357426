import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { connect } from "node:net";
import { finished } from "node:stream/promises";
import { setTimeout as wait } from "node:timers/promises";
import { SocketServer } from "../support/socketServer";

/** When a process is killed: when a request arrives, when the platform has applied it, when its response was sent. */
export type Point = "arrived" | "applied" | "responded";

/** Strikes at the given reset, counted from 1. */
export interface Strike {
  readonly at: number;
  readonly point: Point;
  /** @returns whether the request goes on */
  readonly act: () => Promise<boolean>;
}

/** A proxy before the platform that can stop each reset at exact points. Reads pass. */
export class Gate extends SocketServer {
  /** How many resets arrived since `begin`. */
  #arrivals = 0;
  #strike: Strike | undefined;
  #underWay = 0;

  private constructor(private readonly platformUrl: string) {
    super(
      createServer((incoming, outgoing) => {
        this.#underWay++;
        void this.#handle(incoming, outgoing)
          .catch(() => outgoing.destroy())
          .finally(() => this.#underWay--);
      }),
    );
  }

  static start(platformUrl: string): Promise<Gate> {
    return new Gate(platformUrl).listen();
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  begin(strike: Strike | undefined): void {
    this.#strike = strike;
    this.#arrivals = 0;
  }

  /** Resolves when no request is under way: what a process sent also arrives after it was killed. */
  async settled(): Promise<void> {
    // Connections are accepted in order: once this one was, those before it were, too.
    await once(connect(this.port, "127.0.0.1").resume().end(), "close");
    while (this.#underWay > 0 || this.open > 0) await wait(5);
  }

  async #handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const strike = this.#strike;
    const isReset = incoming.method === "POST";
    const nth = isReset ? ++this.#arrivals : 0;
    const goesOn = async (point: Point) =>
      !isReset || nth !== strike?.at || strike.point !== point || (await strike.act());
    if (!(await goesOn("arrived"))) return void outgoing.destroy();
    const { method = "", url, headers } = incoming;
    const { authorization = "" } = headers;
    const response = await fetch(this.platformUrl + url, { method, headers: { authorization } });
    const body = await response.text();
    if (!(await goesOn("applied"))) return void outgoing.destroy();
    outgoing.writeHead(response.status, { "content-type": "application/json" }).end(body);
    await finished(outgoing);
    await goesOn("responded");
  }
}
