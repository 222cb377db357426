import { setMaxListeners } from "node:events";
import { setTimeout as wait } from "node:timers/promises";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { type MiddlewareHandler } from "hono";
import { type Env, json, sentPath } from "./answers";

/** What the next matching request meets instead of an ordinary answer. Parts that are left out stay ordinary. */
export interface Fault {
  /** Only requests of this method, in capitals. Default: any. */
  readonly method?: string | undefined;
  /**
   * Only requests to this path: text equals the path as sent, without query; an expression is tested on path and query.
   * Default: any.
   */
  readonly path?: string | RegExp | undefined;
  /**
   * Milliseconds to wait first. The operation is applied afterwards, even if the client has given up by then. Default:
   * 0.
   */
  readonly delayMs?: number | undefined;
  /**
   * Cut the connection: without an answer, when the operation was not applied (`before-apply`) or when it was
   * (`after-apply`); or in the middle of the answer's body (`within-answer`).
   */
  readonly dropConnection?: "before-apply" | "after-apply" | "within-answer" | undefined;
  /** Make the answer's body unreadable; its length stays. Default: false. */
  readonly garble?: boolean | undefined;
  /**
   * Status of the answer, 200 to 599. 2xx takes the place of the ordinary answer after the operation was applied; any
   * other status takes the place of the operation: nothing is applied, nor are credentials checked. Default: 200 where
   * `headers` or `body` are given.
   */
  readonly status?: number | undefined;
  /** Headers of the answer. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Body of the answer: text is sent as it is, anything else as JSON. Default: `{"error": "a fault on demand"}`. */
  readonly body?: unknown;
  /** How many requests meet it. Default: 1. */
  readonly times?: number | undefined;
}

/** Faults on demand, in the order in which they were asked for; each request meets at most one. */
export class Faults {
  #waiting: { readonly fault: Fault; left: number }[] = [];
  #stop = new AbortController();

  add(fault: Fault): void {
    this.#waiting.push({ fault, left: fault.times ?? 1 });
  }

  /** Forgets all faults and cuts the requests that are being delayed, so that none is applied later. */
  clear(): void {
    this.#waiting = [];
    this.#stop.abort();
    this.#stop = new AbortController();
  }

  get middleware(): MiddlewareHandler<Env> {
    return async (c, next) => {
      const fault = this.#take(c.req.method, c.env.incoming.url ?? "/");
      if (fault === undefined) {
        return next();
      }
      const cut = () => {
        c.env.incoming.socket.destroy();
        c.res = undefined;
        c.res = RESPONSE_ALREADY_SENT;
      };
      if (!(await this.#delay(fault.delayMs)) || fault.dropConnection === "before-apply") {
        return cut();
      }
      const answer = answerOf(fault);
      if (answer === undefined || answer.ok) {
        await next();
      }
      if (fault.dropConnection === "after-apply") {
        return cut();
      }
      if (answer !== undefined) {
        // Set to nothing first: the headers of the ordinary answer would be kept otherwise.
        c.res = undefined;
        c.res = answer;
      }
      if (fault.garble) {
        const { status, headers } = c.res;
        const body = Buffer.from(await c.res.arrayBuffer());
        c.res = new Response(body.length === 0 ? null : body.map((byte) => byte ^ 0x80), { status, headers });
      }
      if (fault.dropConnection === "within-answer") {
        await sendHalf(c.env.outgoing, c.res);
        return cut();
      }
    };
  }

  #take(method: string, target: string): Fault | undefined {
    const found = this.#waiting.find(({ fault }) => matches(fault, method, target));
    if (found !== undefined && --found.left === 0) {
      this.#waiting = this.#waiting.filter((other) => other !== found);
    }
    return found?.fault;
  }

  /** Whether the wait came to its end: `clear` ends it early. */
  async #delay(milliseconds = 0): Promise<boolean> {
    const { signal } = this.#stop;
    // Any number of requests may be waiting at once.
    setMaxListeners(0, signal);
    return wait(milliseconds, true, { signal }).catch(() => false);
  }
}

function matches({ method, path }: Fault, sentMethod: string, target: string): boolean {
  const pathMatches =
    path === undefined || (typeof path === "string" ? path === sentPath(target) : target.search(path) >= 0);
  return pathMatches && (method === undefined || method === sentMethod);
}

/** Sends the head of an answer and half of its body. */
async function sendHalf(outgoing: Env["Bindings"]["outgoing"], answer: Response): Promise<void> {
  const body = Buffer.from(await answer.arrayBuffer());
  outgoing.writeHead(answer.status, { ...Object.fromEntries(answer.headers), "content-length": body.length + 1 });
  await new Promise((resolve) => outgoing.write(body.subarray(0, Math.ceil(body.length / 2)), resolve));
}

function answerOf({ status, headers, body }: Fault): Response | undefined {
  if (status === undefined && headers === undefined && body === undefined) {
    return undefined;
  }
  const answer = typeof body === "string" ? new Response(body) : json(body ?? { error: "a fault on demand" });
  const answerHeaders = new Headers({ "content-type": "application/json", ...headers });
  const hasNoBody = status === 204 || status === 205 || status === 304;
  return new Response(hasNoBody ? null : answer.body, { status: status ?? 200, headers: answerHeaders });
}
