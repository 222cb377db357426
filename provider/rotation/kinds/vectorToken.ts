import { indexTable, indexUrl } from "../../records/indexRecord";
import { type SecretKind } from "../../platform/secretKind";

/** The tokens of a vector index. Its reset returns no record: a read shows the new tokens. */
export const vectorToken: SecretKind = {
  service: "management",
  paths: { reset: "/v2/vector/index/{id}/reset-password", read: "/v2/vector/index/{id}" },
  table: indexTable,
  confirmation: "OK",
  idInput: "indexId",
  word: "token",
  noun: "vector index",
  duplicateCode: "REKEY_DUPLICATE_SECRET",
  restUrl: indexUrl,
};
