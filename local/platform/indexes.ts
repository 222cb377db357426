import { sampleAddress } from "./databaseRecord";
import { asSaved, type SavedTokenResource, type TokenResourceRecord, TokenResources } from "./tokenResources";

/**
 * Vector or search indexes.
 *
 * @param given ids, fields that override the sample values, or whole states
 * @param url the URL of the platform, which must be known when a record is read
 */
export function openIndexes(
  kind: "vector" | "search",
  given: readonly (string | TokenResourceRecord | SavedTokenResource)[],
  url: () => string,
): TokenResources {
  const initial = given.map((index) => asSaved(index, sampleRecord));
  return new TokenResources(`${kind} index`, initial, (record) => {
    const { id, endpoint } = record;
    const isSample = endpoint === sampleAddress(id).endpoint;
    return isSample ? { ...record, endpoint: `${url()}/indexes/${kind}/${encodeURIComponent(id)}` } : record;
  });
}

function sampleRecord(id: string): TokenResourceRecord {
  return {
    id,
    name: id,
    // A short name, one of the formats of the vendor. The address of the platform replaces it.
    endpoint: sampleAddress(id).endpoint,
    type: "payg",
    region: "eu-west-1",
    creation_time: 1_752_451_200,
  };
}
