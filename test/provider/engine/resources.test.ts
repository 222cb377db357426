import assert from "node:assert/strict";
import { resources } from "../../../provider/engine/resources";
import { type AnyResource, type Schemas } from "../../../provider/resource";

describe("engine: all resources", () => {
  for (const [type, resource] of Object.entries<AnyResource>(resources)) {
    // The limits of a key are outputs as they are set.
    if (type === "FlowControlLimits") continue;
    // A preview of the dynamic host shows the input, and the SDK has both in one property.
    it(`${type} has no output with the name of an input of another shape`, () => {
      const schemas = require("../../../provider/schema") as Schemas;
      const inputs = Object.keys(resource.inputs(schemas).schemas);
      const shared = inputs.filter((name) => Object.hasOwn(resource.outputs, name));
      assert.deepEqual(shared, resource.onlyId === undefined ? [resource.idInput] : []);
    });
  }
});
