import { setMaxListeners } from "node:events";
import { setTimeout as wait } from "node:timers/promises";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { type MiddlewareHandler } from "hono";
import { type Fault } from "./fault";
import { type Env, json, sentPath } from "./responses";

/** Faults on demand, in the order in which they were added. At most one affects a request. */
export class Faults {
  #waiting: { readonly fault: Fault; left: number }[] = [];
  #stop = new AbortController();

  add(fault: Fault): void {
    this.#waiting.push({ fault, left: fault.times ?? 1 });
  }

  /** Removes all faults and closes the connections of delayed requests, so that none is applied later. */
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
      c.set("fault", fault);
      const cut = () => {
        c.env.incoming.socket.destroy();
        c.res = undefined;
        c.res = RESPONSE_ALREADY_SENT;
      };
      if (!(await this.#delay(fault.delayMs)) || fault.dropConnection === "before-apply") {
        return cut();
      }
      const response = responseOf(fault);
      if (response === undefined || response.ok) {
        await next();
      }
      if (fault.dropConnection === "after-apply") {
        return cut();
      }
      if (response !== undefined) {
        // Clear it first; otherwise the headers of the normal response would be kept.
        c.res = undefined;
        c.res = response;
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

  /** Resolves with whether the delay was completed: `clear` interrupts it. */
  async #delay(milliseconds = 0): Promise<boolean> {
    const { signal } = this.#stop;
    // Any number of requests may be delayed at the same time.
    setMaxListeners(0, signal);
    return wait(milliseconds, true, { signal }).catch(() => false);
  }
}

function matches({ method, path }: Fault, sentMethod: string, target: string): boolean {
  const pathMatches =
    path === undefined || (typeof path === "string" ? path === sentPath(target) : target.search(path) >= 0);
  return pathMatches && (method === undefined || method === sentMethod);
}

/** Sends the head of a response and half of its body. */
async function sendHalf(outgoing: Env["Bindings"]["outgoing"], response: Response): Promise<void> {
  const body = Buffer.from(await response.arrayBuffer());
  outgoing.writeHead(response.status, { ...Object.fromEntries(response.headers), "content-length": body.length + 1 });
  await new Promise((resolve) => outgoing.write(body.subarray(0, Math.ceil(body.length / 2)), resolve));
}

function responseOf({ status, headers, body }: Fault): Response | undefined {
  if (status === undefined && headers === undefined && body === undefined) {
    return undefined;
  }
  const response = typeof body === "string" ? new Response(body) : json(body ?? { error: "a fault on demand" });
  const responseHeaders = new Headers({ "content-type": "application/json", ...headers });
  const hasNoBody = status === 204 || status === 205 || status === 304;
  return new Response(hasNoBody ? null : response.body, { status: status ?? 200, headers: responseHeaders });
}
