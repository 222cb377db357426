import { indexTable, indexUrl } from "../../records/indexRecord";
import { type SecretKind } from "../../platform/secretKind";

/** The tokens of a vector index. */
export const vectorToken = indexToken("vector", "/v2/vector/index");

/** The tokens of a search index. */
export const searchToken = indexToken("search", "/v2/search");

/** The response to the reset has no record: a read shows the new tokens. */
function indexToken(type: string, path: string): SecretKind {
  return {
    service: "management",
    paths: { reset: `${path}/{id}/reset-password`, read: `${path}/{id}`, list: path },
    table: indexTable,
    confirmation: "OK",
    idInput: "indexId",
    word: "token",
    noun: `${type} index`,
    plural: `${type} indexes`,
    duplicateCode: "REKEY_DUPLICATE_SECRET",
    restUrl: indexUrl,
    probe: { service: "index", path: "/info" },
  };
}
