import { queueUserTable } from "../records/otherSecrets";
import { type SecretKind } from "./secretKind";

/** The tokens of a queue user. */
export const queueToken: SecretKind = {
  service: "management",
  paths: { reset: "/v2/qstash/rotate-token/{id}", read: "/v2/qstash/user/{id}", list: "/v2/qstash/users" },
  table: queueUserTable,
  idInput: "queueUserId",
  word: "token",
  noun: "queue user",
  authorizesQueue: true,
  probe: { service: "queue", path: "/v2/globalParallelism" },
  duplicateCode: "REKEY_DUPLICATE_SECRET",
};
