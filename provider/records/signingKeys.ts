import { type RecordTable } from "./fields";

/** The response with the keys that sign messages: it has nothing else. */
export const signingKeyTable = {
  fields: {},
  credentials: { current: "currentKey", next: "nextKey" },
} as const satisfies RecordTable;
