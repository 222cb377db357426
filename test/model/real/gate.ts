import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { connect } from "node:net";
import { finished } from "node:stream/promises";
import { setTimeout as wait } from "node:timers/promises";
import { SocketServer } from "../../support/socketServer";
import { type OutcomeName, outcomes, type ResetOutcome } from "../outcomes";

/** When a process is killed: when a request arrives, when the platform has applied it, when its response was sent. */
export type Point = "arrived" | "applied" | "responded";

export interface Plan {
  /** What the next request of a database meets. */
  readonly faults: Readonly<Partial<Record<string, OutcomeName>>>;
  /** Strikes at the given request, counted from 1. @returns whether the request goes on */
  readonly strike?: { readonly at: number; readonly point: Point; readonly act: () => Promise<boolean> } | undefined;
  /** Keeps every request from the given one on, counted from 1, until the promise resolves. */
  readonly hold?: { readonly from: number; readonly until: Promise<void> };
}

/** A proxy before the platform that can stop each reset at exact points. Reads pass. */
export class Gate extends SocketServer {
  /** Databases whose reset arrived since `begin`, in order. */
  readonly arrivals: string[] = [];
  /** Databases that got a response to the last of their requests since `begin`. */
  readonly responded = new Set<string>();
  #plan: Plan = { faults: {} };
  #faults = new Map<string, OutcomeName>();
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

  begin(plan: Plan): void {
    this.#plan = plan;
    this.#faults = new Map(Object.entries(plan.faults) as [string, OutcomeName][]);
    this.arrivals.length = 0;
    this.responded.clear();
  }

  /** Resolves when no request is under way: what a process sent also arrives after it was killed. */
  async settled(): Promise<void> {
    // Connections are accepted in order: once this one was, those before it were, too.
    await once(connect(this.port, "127.0.0.1").resume().end(), "close");
    while (this.#underWay > 0 || this.open > 0) await wait(5);
  }

  async #handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const databaseId = incoming.url?.split("/").at(-1) ?? "";
    if (incoming.method === "GET") {
      const { status, body } = await this.#forward(incoming);
      return void outgoing.writeHead(status, { "content-type": "application/json" }).end(body);
    }
    const { strike, hold } = this.#plan;
    const nth = this.arrivals.push(databaseId);
    const isStruck = nth === strike?.at;
    const goesOn = async (point: Point) => !isStruck || strike.point !== point || (await strike.act());
    if (!(await goesOn("arrived"))) return void outgoing.destroy();
    if (hold && nth >= hold.from) await hold.until;
    const name = this.#faults.get(databaseId);
    this.#faults.delete(databaseId);
    const fault: ResetOutcome | undefined = name && outcomes[name];
    const record = JSON.stringify({ database_id: databaseId });
    const real = fault?.applies === false ? { status: 500, body: record } : await this.#forward(incoming);
    if (!(await goesOn("applied")) || fault?.code !== undefined) return void outgoing.destroy();
    const body = fault && (fault.body?.({ record: JSON.parse(real.body) as never }) ?? `{"error":"a fault"}`);
    const wait = fault?.retryAfterMs === "unusable" && { "retry-after": "soon" };
    outgoing.writeHead(fault?.status ?? real.status, { "content-type": "application/json", ...wait });
    outgoing.end(body ?? real.body);
    await finished(outgoing);
    this.responded.add(databaseId);
    await goesOn("responded");
  }

  async #forward({ method = "", url, headers }: IncomingMessage): Promise<{ status: number; body: string }> {
    const response = await fetch(this.platformUrl + url, {
      method,
      headers: { authorization: headers.authorization ?? "" },
    });
    return { status: response.status, body: await response.text() };
  }
}
