import { indexTable, indexUrl } from "../../records/otherSecrets";
import { type SecretKind } from "../../platform/secretKind";

/** The response to the reset has no record: a read shows the new tokens. */
const indexToken = {
  service: "management",
  table: indexTable,
  confirmation: "OK",
  idInput: "indexId",
  word: "token",
  duplicateCode: "REKEY_DUPLICATE_SECRET",
  restUrl: indexUrl,
  probe: { service: "index", path: "/info" },
} as const;

/** The tokens of a vector index. */
export const vectorToken: SecretKind = {
  ...indexToken,
  paths: {
    reset: "/v2/vector/index/{id}/reset-password",
    read: "/v2/vector/index/{id}",
    list: "/v2/vector/index",
  },
  noun: "vector index",
  plural: "vector indexes",
};

/** The tokens of a search index. */
export const searchToken: SecretKind = {
  ...indexToken,
  paths: { reset: "/v2/search/{id}/reset-password", read: "/v2/search/{id}", list: "/v2/search" },
  noun: "search index",
  plural: "search indexes",
};
