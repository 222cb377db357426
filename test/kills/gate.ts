import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { connect } from "node:net";
import { text as textOf } from "node:stream/consumers";
import { finished } from "node:stream/promises";
import { setTimeout as wait } from "node:timers/promises";
import { SocketServer } from "../support/socketServer";

/** When a process is killed: when a request arrives, when the platform has applied it, when its response was sent. */
export type Point = "arrived" | "applied" | "responded";

/** Strikes at the given request, counted from 1. */
export interface GateStrike {
  /** Which requests are counted. */
  readonly matching: RegExp;
  readonly at: number;
  readonly point: Point;
  /** @returns whether the request goes on */
  readonly act: () => Promise<boolean>;
}

/** A proxy that can stop what passes it at exact points. */
export interface KillGate {
  /** @param strike undefined: everything passes */
  begin(strike: GateStrike | undefined): void;
  /** Resolves when nothing is under way: what a process sent also arrives after it was killed. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

/** Before the platform. Requests are matched by method and path: `POST /v2/keys/rotate`. */
export class Gate extends SocketServer implements KillGate {
  /** How many requests that match arrived since `begin`. */
  #arrivals = 0;
  #strike: GateStrike | undefined;
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

  begin(strike: GateStrike | undefined): void {
    this.#strike = strike;
    this.#arrivals = 0;
  }

  async settled(): Promise<void> {
    // Connections are accepted in order: once this one was, those before it were, too.
    await once(connect(this.port, "127.0.0.1").resume().end(), "close");
    while (this.#underWay > 0 || this.open > 0) await wait(5);
  }

  async #handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const strike = this.#strike;
    const { method = "", url, headers } = incoming;
    const isCounted = strike?.matching.test(`${method} ${url}`) ?? false;
    const nth = isCounted ? ++this.#arrivals : 0;
    const goesOn = async (point: Point) =>
      !isCounted || nth !== strike?.at || strike.point !== point || (await strike.act());
    const given = await textOf(incoming);
    if (!(await goesOn("arrived"))) return void outgoing.destroy();
    const { authorization = "" } = headers;
    const request = { method, headers: { authorization, "content-type": "application/json" } };
    const response = await fetch(this.platformUrl + url, { ...request, ...(given !== "" && { body: given }) });
    const body = await response.text();
    if (!(await goesOn("applied"))) return void outgoing.destroy();
    outgoing.writeHead(response.status, { "content-type": "application/json" }).end(body);
    await finished(outgoing);
    await goesOn("responded");
  }
}
