import assert from "node:assert/strict";
import { deliveryOfResponse, deliveryOfSilence } from "../../../provider/api/retry";

const answered = [200, 201, 202, 204, 299];
const rejected = [300, 301, 302, 304, 307, 308, 400, 401, 403, 404, 407, 409, 418, 422, 429, 499];
const maybeApplied = [100, 199, 303, 408, 500, 502, 503, 504, 599, 999];

describe("api: delivery", () => {
  for (const [delivery, statuses] of Object.entries({ answered, rejected, "maybe applied": maybeApplied })) {
    for (const status of statuses) {
      it(`${status} is ${delivery}`, () => assert.equal(deliveryOfResponse(status), delivery));
    }
  }

  it("of silence depends on whether the connection came up", () => {
    assert.equal(deliveryOfSilence(false), "not sent");
    assert.equal(deliveryOfSilence(true), "maybe applied");
  });
});
