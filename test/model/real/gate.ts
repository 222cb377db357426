import { once } from "node:events";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { finished } from "node:stream/promises";
import { setTimeout as wait } from "node:timers/promises";
import { promisify } from "node:util";
import { type Fault, type FaultName, faults } from "./faults";

/** When somebody is killed: when a request arrives, when the platform has done it, when its answer was sent. */
export type Point = "arrived" | "applied" | "answered";

export interface Plan {
  /** What the next request of a database meets. */
  readonly faults: Readonly<Partial<Record<string, FaultName>>>;
  /** Strikes at the given request, counted from 1. @returns whether the request goes on */
  readonly strike?: { readonly at: number; readonly point: Point; readonly act: () => Promise<boolean> } | undefined;
  /** Keeps every request from the given one on, counted from 1, until the promise resolves. */
  readonly hold?: { readonly from: number; readonly until: Promise<void> };
}

/** Stands before the platform, and stops requests at exact points of their way. */
export class Gate {
  /** Databases whose reset arrived since `begin`, in order. */
  readonly arrivals: string[] = [];
  /** Databases that got an answer to the last of their requests since `begin`. */
  readonly answered = new Set<string>();
  #plan: Plan = { faults: {} };
  #faults = new Map<string, FaultName>();
  #underWay = 0;
  readonly #server = createServer((incoming, outgoing) => {
    this.#underWay++;
    void this.#handle(incoming, outgoing)
      .catch(() => outgoing.destroy())
      .finally(() => this.#underWay--);
  });

  private constructor(private readonly platformUrl: string) {}

  static async start(platformUrl: string): Promise<Gate> {
    const gate = new Gate(platformUrl);
    gate.#server.listen(0, "127.0.0.1");
    await once(gate.#server, "listening");
    return gate;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  get #port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  begin(plan: Plan): void {
    this.#plan = plan;
    this.#faults = new Map(Object.entries(plan.faults) as [string, FaultName][]);
    this.arrivals.length = 0;
    this.answered.clear();
  }

  /** Resolves when nothing is on its way to the platform: what a process sent arrives also after it was killed. */
  async settled(): Promise<void> {
    // Connections are accepted in order: when this one has been, those before it have been, too.
    await once(connect(this.#port, "127.0.0.1").resume().end(), "close");
    const connections = promisify(this.#server.getConnections.bind(this.#server));
    while (this.#underWay > 0 || (await connections()) > 0) await wait(5);
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const databaseId = incoming.url?.split("/").at(-1) ?? "";
    const { strike, hold } = this.#plan;
    const nth = this.arrivals.push(databaseId);
    const isStruck = nth === strike?.at;
    const goesOn = async (point: Point) => !isStruck || strike.point !== point || (await strike.act());
    if (!(await goesOn("arrived"))) return void outgoing.destroy();
    if (hold && nth >= hold.from) await hold.until;
    const name = this.#faults.get(databaseId);
    this.#faults.delete(databaseId);
    const fault: Fault | undefined = name && faults[name];
    const real = fault?.forwarded === false ? { status: 500, body: "" } : await this.#forward(incoming);
    if (!(await goesOn("applied")) || fault?.answer === "cut") return void outgoing.destroy();
    const body = fault?.answer && (fault.answer.body?.(databaseId) ?? `{"error":"a fault"}`);
    outgoing.writeHead(fault?.answer?.status ?? real.status, { "content-type": "application/json" });
    outgoing.end(body ?? real.body);
    await finished(outgoing);
    this.answered.add(databaseId);
    await goesOn("answered");
  }

  async #forward({
    method,
    url,
    headers: { authorization },
  }: IncomingMessage): Promise<{ status: number; body: string }> {
    const sent = request(this.platformUrl + url, { method, headers: { authorization } }).end();
    const [answer] = (await once(sent, "response")) as [IncomingMessage];
    let body = "";
    for await (const chunk of answer.setEncoding("utf8")) body += chunk;
    return { status: answer.statusCode ?? 0, body };
  }
}
