import { indexTable, indexUrl } from "../../records/indexRecord";
import { type SecretKind } from "../../platform/secretKind";

/** The tokens of a search index. Its reset returns no record: a read shows the new tokens. */
export const searchToken: SecretKind = {
  service: "management",
  paths: { reset: "/v2/search/{id}/reset-password", read: "/v2/search/{id}" },
  table: indexTable,
  confirmation: "OK",
  idInput: "indexId",
  word: "token",
  noun: "search index",
  duplicateCode: "REKEY_DUPLICATE_SECRET",
  restUrl: indexUrl,
};
