import assert from "node:assert/strict";
import { type FailureKind, type ServiceName } from "../../../provider/platform/failures";
import { advise } from "../../../provider/settings/advice";

/** Advice that depends on the service. */
const rows: Readonly<Partial<Record<FailureKind, Readonly<Record<ServiceName, string>>>>> = {
  "certificate of another host": {
    management: "Set rekey:baseUrl to the host that the certificate is for, then run again.",
    queue: "Set rekey:queueUrl to the host that the certificate is for, then run again.",
    database: "Set host to the host that the certificate is for, then run again.",
  },
  unauthorized: {
    management: "Check rekey:username and rekey:password.",
    queue: "Check rekey:queueToken.",
    database: "Check restToken.",
  },
  "not found": {
    management: "Check the id or key, rekey:baseUrl and rekey:resetPasswordPath.",
    queue: "Check the id or key, rekey:queueUrl and rekey:flowControlResetAction.",
    database: "Check the id or key, host and port.",
  },
  "unusable response": {
    management: "Check rekey:baseUrl and rekey:resetPasswordPath, then run again.",
    queue: "Check rekey:queueUrl.",
    database: "Check host and port, then run again.",
  },
};

describe("settings: the advice of a failed request", () => {
  for (const [kind, services] of Object.entries(rows)) {
    it(`names what to check if the failure is: ${kind}`, () => {
      const given = Object.keys(services).map((service) => {
        return [service, advise({ service: service as ServiceName, kind: kind as FailureKind })];
      });
      assert.deepEqual(Object.fromEntries(given), services);
    });
  }
});
