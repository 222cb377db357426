import { type Context, type Hono } from "hono";
import { allowOnly, type Env, json, pathParameter, refusal } from "./responses";
import { type GlobalParallelism, keyPattern, keyProblem } from "./flowControl";
import { type MessageQueue } from "./queue/messageQueue";
import { period, whole } from "./queue/values";
import { Refused } from "./refused";

const keyPath = "/v2/flowControl/:flowControlKey";

/** The flow-control operations of the queue interface. @see docs/interface.md */
export function addFlowControlRoutes(app: Hono<Env>, queue: MessageQueue): void {
  app.get("/v2/flowControl", (c) => json(queue.flowControlKeys(c.req.query("search"))));

  app.get(keyPath, (c) => {
    const key = keyIn(c);
    const record = queue.flowControlKey(key);
    return record === undefined ? unknownKey(key) : json(record);
  });

  for (const [action, change] of Object.entries(actions(queue))) {
    app.post(`${keyPath}/${action}`, (c) => {
      const key = keyIn(c);
      // The interface does not specify the response body; clients must at least accept an empty object.
      return change(key, c) === false ? unknownKey(key) : json({});
    });
    allowOnly(app, ["POST"], [`${keyPath}/${action}`]);
  }

  app.get("/v2/globalParallelism", () => json(withoutZeros(queue.globalParallelism)));

  allowOnly(app, ["GET"], ["/v2/flowControl", keyPath, "/v2/globalParallelism"]);
}

/** The actions on a key. The interface specifies only `reset`; the public platform has the others. */
function actions(queue: MessageQueue): Record<string, (key: string, c: Context<Env>) => boolean | void> {
  return {
    reset: (key) => queue.resetFlowControl(key),
    resetRate: (key) => queue.resetRate(key),
    pause: (key) => queue.pauseFlowControl(key),
    resume: (key) => queue.resumeFlowControl(key),
    pin(key, c) {
      const read = <T>(name: string, parse: (field: string, text: string) => T) => {
        const text = c.req.query(name);
        return text === undefined ? undefined : parse(name, text);
      };
      const atLeastOne = (field: string, text: string) => whole(field, text, 1);
      const limits = {
        parallelism: read("parallelism", atLeastOne),
        rate: read("rate", atLeastOne),
        period: read("period", period),
      };
      if (limits.period !== undefined && limits.rate === undefined) {
        throw new Refused("rate", "is missing: a period requires a rate");
      }
      if (limits.parallelism === undefined && limits.rate === undefined) {
        throw new Refused("parallelism", "is missing: set parallelism or rate");
      }
      queue.pinFlowControl(key, limits);
    },
    unpin(key, c) {
      const flag = (name: string) => {
        const text = c.req.query(name) ?? "false";
        if (text !== "true" && text !== "false") {
          throw new Refused(name, "must be true or false");
        }
        return text === "true";
      };
      return queue.unpinFlowControl(key, { parallelism: flag("parallelism"), rate: flag("rate") });
    },
  };
}

/** The public platform omits zeros here, and only here. Clients must read a missing count as 0. */
function withoutZeros(counts: GlobalParallelism): Partial<GlobalParallelism> {
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count !== 0));
}

function keyIn(c: Context<Env>): string {
  const key = pathParameter(c, "flowControlKey");
  if (!keyPattern.test(key)) throw new Refused("flowControlKey", keyProblem);
  return key;
}

function unknownKey(key: string): Response {
  return refusal(404, "flowControlKey", `flow-control key ${JSON.stringify(key)} does not exist`);
}
