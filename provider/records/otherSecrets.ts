import { int64, type RecordOf, type RecordTable, text } from "./fields";

/**
 * The record of a vector or search index. Limits of its plan are in `otherFields`.
 *
 * @see docs/interface.md#other-secrets-of-the-account
 */
const indexFields = {
  /** Id of the index. */
  id: text,
  /** Name of the index. */
  name: text,
  /** Endpoint of its REST interface: a short slug, a full host name, or a URL. */
  endpoint: text,
  /** Region. */
  region: text,
  /** Payment plan. */
  type: text,
  /** Unix time (seconds) at which the index was created. */
  creationTime: int64,
  /** Owner: an email address, or one scoped to a marketplace. */
  customerId: text,
};

/** The record of a vector or search index, each value as the platform returned it. */
export interface IndexRecord extends RecordOf<typeof indexFields> {}

export const indexTable = {
  fields: indexFields,
  id: "id",
  listed: { id: indexFields.id, name: indexFields.name, creationTime: indexFields.creationTime },
  credentials: { token: "token", readOnlyToken: "readOnlyToken" },
} as const satisfies RecordTable;

/**
 * The record of a user of the queue, one for each region. Further limits of its plan are in `otherFields`.
 *
 * @see docs/interface.md#other-secrets-of-the-account
 */
const queueUserFields = {
  /** Id of the user. */
  id: text,
  /** Region. */
  region: text,
  /** State of the user. */
  state: text,
  /** Unix time (seconds) at which the user was created. */
  creationTime: int64,
  /** Owner: an email address, or one scoped to a marketplace. */
  customerId: text,
  /** Messages that may run at the same time, for one flow-control key or queue. */
  maxParallelism: int64,
  /** Messages that may run at the same time, over all keys. */
  maxGlobalParallelism: int64,
  /** Requests per second. */
  maxRequestsPerSecond: int64,
};

/** The record of a user of the queue, each value as the platform returned it. */
export interface QueueUserRecord extends RecordOf<typeof queueUserFields> {}

export const queueUserTable = {
  fields: queueUserFields,
  id: "id",
  listed: {
    id: queueUserFields.id,
    region: queueUserFields.region,
    creationTime: queueUserFields.creationTime,
  },
  credentials: { token: "token", readOnlyToken: "readOnlyToken" },
} as const satisfies RecordTable;

/** The credentials of a Redis user. No response contains them. */
export const aclUserTable = {
  fields: {},
  credentials: { password: "password", rest_token: "restToken" },
} as const satisfies RecordTable;

/** The response with the next tokens of a user of the queue, which are valid in addition to its current ones. */
export const nextTokenTable = {
  fields: {},
  credentials: { nextToken: "token", nextReadOnlyToken: "readOnlyToken" },
} as const satisfies RecordTable;

/** The response with the keys that sign messages: it has nothing else. */
export const signingKeyTable = {
  fields: {},
  credentials: { current: "currentKey", next: "nextKey" },
} as const satisfies RecordTable;
