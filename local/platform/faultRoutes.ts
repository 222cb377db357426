import { type Hono } from "hono";
import { allowOnly, type Env, json } from "./responses";
import { type Fault } from "./fault";
import { type Faults } from "./faults";
import { checkFault, PlatformOptionError } from "./options";
import { readJson } from "./queue/bodies";
import { Refused } from "./refused";

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
