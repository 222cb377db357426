import { setMaxListeners } from "node:events";
import { setTimeout as wait } from "node:timers/promises";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { type Hono, type MiddlewareHandler } from "hono";
import { type Fault } from "./fault";
import { checkFault, PlatformOptionError } from "./options";
import { readJson } from "./queue/bodies";
import { Refused } from "./refused";
import { allowOnly, type Env, json, sentPath } from "./responses";

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
      if (fault === undefined) return next();
      c.set("fault", fault);
      const cut = () => {
        c.env.incoming.socket.destroy();
        c.res = undefined;
        c.res = RESPONSE_ALREADY_SENT;
      };
      if (!(await this.#delay(fault.delayMs)) || fault.dropConnection === "before-apply") return cut();
      const response = responseOf(fault);
      if (response === undefined || response.ok) await next();
      if (fault.dropConnection === "after-apply") return cut();
      if (response !== undefined) {
        // Clear it first; otherwise the headers of the normal response would be kept.
        c.res = undefined;
        c.res = response;
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

/** Faults on demand for tests in other processes and languages: like `failNext`, with the path as text. */
export function addFaultRoutes(app: Hono<Env>, faults: Faults): void {
  app.post("/local/faults", async (c) => {
    const given = await readJson(c.env.incoming);
    try {
      faults.add(checkFault(given as Fault));
    } catch (error) {
      throw error instanceof PlatformOptionError ? new Refused(error.option, error.problem) : error;
    }
    return json({});
  });
  allowOnly(app, ["POST"], ["/local/faults"]);
}

function matches({ method, path }: Fault, sentMethod: string, target: string): boolean {
  const pathMatches =
    path === undefined || (typeof path === "string" ? path === sentPath(target) : target.search(path) >= 0);
  return pathMatches && (method === undefined || method === sentMethod);
}

function responseOf({ status, headers, body }: Fault): Response | undefined {
  if (status === undefined && headers === undefined && body === undefined) return undefined;
  const response = typeof body === "string" ? new Response(body) : json(body ?? { error: "a fault on demand" });
  const responseHeaders = new Headers({ "content-type": "application/json", ...headers });
  const hasNoBody = status === 204 || status === 205 || status === 304;
  return new Response(hasNoBody ? null : response.body, { status: status ?? 200, headers: responseHeaders });
}
