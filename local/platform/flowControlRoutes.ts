import { type Hono } from "hono";
import { allowOnly, type Env, json, pathParameter, refusal } from "./answers";
import { type FlowControl, type FlowControlRecord, type GlobalParallelism } from "./flowControl";

export interface FlowControlShapes {
  /** `array` is the document's; `object` is `{"flowControls": […]}`, of older texts. */
  readonly list: "array" | "object";
  /** `new` is the document's; `old` is a `waitListSize` alone (section 4.4). */
  readonly global: "new" | "old";
}

const keyPath = "/v2/flowControl/:flowControlKey";
const counters = new Set(["waitListSize", "parallelismCount", "rateCount"]);

/** The flow-control operations of the queue interface (sections 4.2 to 4.4). */
export function addFlowControlRoutes(
  app: Hono<Env>,
  flowControl: FlowControl,
  globalParallelism: () => GlobalParallelism,
  shapes: FlowControlShapes,
): void {
  app.get("/v2/flowControl", (c) => {
    const records = flowControl.search(c.req.query("search") ?? "").map(answered);
    return json(shapes.list === "array" ? records : { flowControls: records });
  });

  app.get(keyPath, (c) => {
    const key = pathParameter(c, "flowControlKey");
    if (key instanceof Response) {
      return key;
    }
    const record = flowControl.all.get(key);
    return record === undefined ? unknownKey(key) : json(answered(record));
  });

  // `resetRate` is how a public platform of this kind clears the rate alone.
  for (const action of ["reset", "resetRate"]) {
    app.post(`${keyPath}/${action}`, (c) => {
      const key = pathParameter(c, "flowControlKey");
      if (key instanceof Response) {
        return key;
      }
      // The body of the answer is not shown in the document; an empty object is the least a client must understand.
      return flowControl.resetCounters(key, { rateOnly: action === "resetRate" }) ? json({}) : unknownKey(key);
    });
  }

  app.get("/v2/globalParallelism", () => {
    const waitListSize = flowControl.search("").reduce((sum, { waitListSize = 0 }) => sum + waitListSize, 0);
    return json(shapes.global === "new" ? globalParallelism() : { waitListSize });
  });

  allowOnly(app, "GET", ["/v2/flowControl", keyPath, "/v2/globalParallelism"]);
  allowOnly(app, "POST", [`${keyPath}/reset`, `${keyPath}/resetRate`]);
}

/** The record as it is sent: counters that are 0 are left out, which clients must read as 0. */
function answered(record: FlowControlRecord): FlowControlRecord {
  const sent = Object.entries(record).filter(([field, value]) => !(counters.has(field) && value === 0));
  return Object.fromEntries(sent) as unknown as FlowControlRecord;
}

function unknownKey(key: string): Response {
  return refusal(404, "flowControlKey", `there is no flow-control key ${JSON.stringify(key)}`);
}
