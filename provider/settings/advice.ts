import { type FailureKind, otherTeam, type ServiceName, type Wording } from "../platform/failures";

/** What names a service's address, path and credentials: settings, or inputs of a verification. */
const namesOf: Readonly<Record<ServiceName, Readonly<Record<"address" | "path" | "credentials", string>>>> = {
  management: {
    address: "rekey:baseUrl",
    path: "rekey:resetPasswordPath",
    credentials: "rekey:username and rekey:password",
  },
  queue: {
    address: "rekey:queueUrl",
    path: "rekey:flowControlResetAction",
    credentials: "rekey:queueToken or rekey:queueUserId",
  },
  database: { address: "host", path: "port", credentials: "restToken" },
};

/** The deadline of requests to the platform, as errors name it. */
export const deadlineName = "the deadline (rekey:deadlineSeconds)";

/** What to do about a failed request. */
export const advise: Wording["advise"] = ({ service, kind, method, retryAfterMs }) => {
  const { address, credentials } = namesOf[service];
  const isRead = service === "management" && method === "GET";
  const isReset = service === "management" && method === "POST";
  const path = isRead ? "rekey:databasePath, which `none` switches off" : namesOf[service].path;
  const team = service === "management" ? ` ${otherTeam}` : "";
  const wait = typeof retryAfterMs === "number" ? `Wait ${Math.ceil(retryAfterMs / 1000)} s` : "Wait";
  const advice: Readonly<Record<FailureKind, string>> = {
    "proxy unreachable": "Check rekey:proxy.",
    "proxy response": "Check rekey:proxy and its credentials.",
    "certificate of another host": `Set ${address} to the host that the certificate is for, then run again.`,
    "certificate not trusted": "Set rekey:caFile to the certificate of that authority, then run again.",
    "certificate out of date": "Renew the certificate, check the clock of this machine, then run again.",
    "certificate not accepted": `Check ${address}, then run again.`,
    "unknown host": `Check the host in ${address}.`,
    "no TLS": `Check that the port in ${address} uses TLS.`,
    "no connection": `Check that the platform is running and that ${address} is correct, then run again.`,
    unauthorized: `Check ${credentials}.${team}`,
    "not found": `Check the id or key, ${address} and ${path}.${team}`,
    "too many requests": `${wait}, then run again; rekey:requestsPerSecond limits the rate.`,
    redirect: `Redirects are not followed: set ${address} to the address that the platform itself uses.`,
    rejected: "Fix what the platform reports, then run again.",
    // Until a reset is confirmed, clients may be refused.
    unconfirmed: isReset ? "Run `up` again at once." : "Check the status of the platform, then run again.",
    "unusable response": service === "queue" ? `Check ${address}.` : `Check ${address} and ${path}, then run again.`,
  };
  return advice[kind];
};
