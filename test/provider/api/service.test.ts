import assert from "node:assert/strict";
import { managementService, queueService } from "../../../provider/api/requester";

describe("api: services", () => {
  it("lets one in to the management interface by HTTP Basic, in UTF-8", () => {
    const { authorization, addressSetting, credentialSettings } = managementService(
      "https://m.test",
      "Aladdin",
      "open sésame:",
    );
    assert.equal(authorization, "Basic QWxhZGRpbjpvcGVuIHPDqXNhbWU6");
    assert.deepEqual([addressSetting, credentialSettings], ["rekey:baseUrl", "rekey:username and rekey:password"]);
  });

  it("lets one in to the message queue by a bearer token", () => {
    const { authorization, addressSetting, credentialSettings } = queueService("https://q.test", "tok");
    assert.equal(authorization, "Bearer tok");
    assert.deepEqual([addressSetting, credentialSettings], ["rekey:queueUrl", "rekey:queueToken"]);
  });
});
