import { indexTable, indexUrl } from "../../records/indexRecord";
import { type SecretKind } from "../../platform/secretKind";

/** The tokens of a vector index. */
export const vectorToken = indexToken("vector index", "/v2/vector/index/{id}");

/** The tokens of a search index. */
export const searchToken = indexToken("search index", "/v2/search/{id}");

/** The response to the reset has no record: a read shows the new tokens. */
function indexToken(noun: string, path: string): SecretKind {
  return {
    service: "management",
    paths: { reset: `${path}/reset-password`, read: path },
    table: indexTable,
    confirmation: "OK",
    idInput: "indexId",
    word: "token",
    noun,
    duplicateCode: "REKEY_DUPLICATE_SECRET",
    restUrl: indexUrl,
  };
}
