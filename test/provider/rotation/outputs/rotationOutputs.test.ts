import assert from "node:assert/strict";
import { changingOutputs, outputTable } from "../../../../provider/rotation/outputs/rotationOutputs";
import { planned, plansIn } from "../plan/plans";

describe("rotationOutputs: which outputs a plan may change, and no others", () => {
  const all = "all";
  const ofFormer = "access,formerRetiredAt,formerValidSince,formerValidUntil,memory,mustRead,waits";
  const ofRead =
    "access,connectionUrl,databaseId,encryptedCredentials,exactIntegers,memory,mustRead,otherFields,password,problems,readOnlyRestToken,record,restToken,restUrl";
  const rows = plansIn(
    { secret: "password" },
    `
    another version                |                      | version: 2              |                            | ${all}
    another connection             |                      | connection: { port: 1 } | saved: {}                  | access,connectionUrl,memory,restUrl
    what is to be read             | password; to be read |                         |                            | ${ofRead}
    another schedule               |                      | rotateEvery: 30d        | saved: {}                  | memory,nextRotationAt
    nothing                        |                      |                         |                            | memory
    a lost reset                   | password; lost       | version: unknown        |                            | ${all}
    a former one that may be valid | token                |                         |                            | ${ofFormer}
    a former one that is due       | token                | overlap: 12h            | hours: 48, formers: [12h]  | ${ofFormer}
    another overlap                | token                | overlap: 12h            | read: {}                   | access,formerValidUntil,memory
    what waits no more             | token                |                         | read: {}, waits: it is due | memory,waits
    what waits                     | token                | version: 2              | read: {}                   | memory,waits
    `,
  );
  for (const row of rows) {
    it(row.title, () => {
      const { state, program, plan, context } = planned(row);
      const names = Object.keys(outputTable(context.kind));
      const changing = changingOutputs(names, plan, state ?? assert.fail(), program);
      assert.equal(changing?.toSorted().join() ?? all, row.plan);
    });
  }
});
