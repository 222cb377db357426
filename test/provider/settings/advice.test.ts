import assert from "node:assert/strict";
import { type FailureKind, type ServiceName } from "../../../provider/platform/failures";
import { advise, deadlineName } from "../../../provider/settings/advice";

type ByService = Readonly<Record<ServiceName, string>>;

/** Advice that is the same for each service is a single text. */
const rows: Readonly<Record<FailureKind, string | ByService>> = {
  "proxy unreachable": "Check rekey:proxy.",
  "proxy response": "Check rekey:proxy and its credentials.",
  "certificate of another host": {
    management: "Set rekey:baseUrl to the host that the certificate is for, then run again.",
    queue: "Set rekey:queueUrl to the host that the certificate is for, then run again.",
    database: "Set host to the host that the certificate is for, then run again.",
  },
  "certificate not trusted": "Set rekey:caFile to the certificate of that authority, then run again.",
  "certificate out of date": "Renew the certificate, check the clock of this machine, then run again.",
  "certificate not accepted": {
    management: "Check rekey:baseUrl, then run again.",
    queue: "Check rekey:queueUrl, then run again.",
    database: "Check host, then run again.",
  },
  "unknown host": {
    management: "Check the host in rekey:baseUrl.",
    queue: "Check the host in rekey:queueUrl.",
    database: "Check the host in host.",
  },
  "no TLS": {
    management: "Check that the port in rekey:baseUrl uses TLS.",
    queue: "Check that the port in rekey:queueUrl uses TLS.",
    database: "Check that the port in host uses TLS.",
  },
  "no connection": {
    management: "Check that the platform is running and that rekey:baseUrl is correct, then run again.",
    queue: "Check that the platform is running and that rekey:queueUrl is correct, then run again.",
    database: "Check that the platform is running and that host is correct, then run again.",
  },
  unauthorized: {
    management: "Check rekey:username and rekey:password. The API key may be of another team.",
    queue: "Check rekey:queueToken or rekey:queueUserId.",
    database: "Check restToken.",
  },
  "not found": {
    management: "Check the id or key, rekey:baseUrl and rekey:resetPasswordPath. The API key may be of another team.",
    queue: "Check the id or key, rekey:queueUrl and rekey:flowControlResetAction.",
    database: "Check the id or key, host and port.",
  },
  "too many requests": "Wait, then run again; rekey:requestsPerSecond limits the rate.",
  redirect: {
    management: "Redirects are not followed: set rekey:baseUrl to the address that the platform itself uses.",
    queue: "Redirects are not followed: set rekey:queueUrl to the address that the platform itself uses.",
    database: "Redirects are not followed: set host to the address that the platform itself uses.",
  },
  rejected: "Fix what the platform reports, then run again.",
  unconfirmed: "Check the status of the platform, then run again.",
  "unusable response": {
    management: "Check rekey:baseUrl and rekey:resetPasswordPath, then run again.",
    queue: "Check rekey:queueUrl.",
    database: "Check host and port, then run again.",
  },
};

describe("settings: the advice of a failed request", () => {
  const services: readonly ServiceName[] = ["management", "queue", "database"];
  for (const [kind, expected] of Object.entries(rows)) {
    it(`names what to check if the failure is: ${kind}`, () => {
      const given = services.map((service) => [service, advise({ service, kind: kind as FailureKind })]);
      const each = services.map((service) => [service, typeof expected === "string" ? expected : expected[service]]);
      assert.deepEqual(Object.fromEntries(given), Object.fromEntries(each));
    });
  }

  it("names the path of reads for the management service only", () => {
    const given = services.map((service) => [service, advise({ service, kind: "not found", method: "GET" })]);
    assert.deepEqual(Object.fromEntries(given), {
      ...(rows["not found"] as ByService),
      management:
        "Check the id or key, rekey:baseUrl and rekey:databasePath, which `none` switches off. The API key may be of another team.",
    });
  });

  it("is to run `up` at once if a reset was not confirmed, because clients may be refused until one is", () => {
    const [reset, ...others] = services.map((service) => advise({ service, kind: "unconfirmed", method: "POST" }));
    assert.equal(reset, "Run `up` again at once.");
    const read = advise({ service: "management", kind: "unconfirmed", method: "GET" });
    assert.deepEqual(new Set([...others, read]), new Set([rows.unconfirmed]));
  });

  for (const { retryAfterMs, wait } of [
    { retryAfterMs: 1_001, wait: "Wait 2 s" },
    { retryAfterMs: 0, wait: "Wait 0 s" },
    { retryAfterMs: "unusable", wait: "Wait" },
  ] as const) {
    it(`gives the time to wait in seconds, rounded up, if it is known: ${retryAfterMs}`, () => {
      const advice = advise({ service: "management", kind: "too many requests", retryAfterMs });
      assert.equal(advice, `${wait}, then run again; rekey:requestsPerSecond limits the rate.`);
    });
  }

  it("names the setting of the deadline", () => {
    assert.equal(deadlineName, "the deadline (rekey:deadlineSeconds)");
  });
});
