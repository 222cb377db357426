import { sampleAddress } from "./databaseRecord";

/**
 * The record of a vector index, a search index or a queue user, without tokens. Any field may have any value,
 * `undefined` omits it, and unknown fields may be added.
 */
export type TokenResourceRecord = {
  /** Id of the index or the user. */
  readonly id: string;
} & {
  readonly [field: string]: unknown;
};

export function sampleIndex(id: string): TokenResourceRecord {
  // A short name, one of the formats of the vendor. The address of the platform replaces it.
  const { endpoint } = sampleAddress(id);
  return { id, name: id, endpoint, type: "payg", region: "eu-west-1", creation_time: 1_752_451_200 };
}

export function sampleUser(id: string): TokenResourceRecord {
  return {
    id,
    customer_id: "owner@example.com",
    region: "eu-central-1",
    state: "active",
    creation_time: 1_752_451_200,
    max_parallelism: 10,
    max_global_parallelism: 100,
    max_requests_per_second: 100,
  };
}
