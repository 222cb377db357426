import { type Hono } from "hono";
import { allowOnly, type Env, json, pathParameter } from "./responses";
import { unknownId } from "./secretRoutes";
import { type Stores } from "./stores";

/** What both kinds of index respond to `info`, in the format of the public clients. */
const emptyIndex = {
  vectorCount: 0,
  pendingVectorCount: 0,
  indexSize: 0,
  dimension: 1536,
  similarityFunction: "COSINE",
  namespaces: { "": { vectorCount: 0, pendingVectorCount: 0 } },
};

/** The REST interface of the indexes: only `info`, which shows whether a token is valid. */
export function addIndexRoutes(app: Hono<Env>, { vectorIndexes, searchIndexes }: Stores): void {
  for (const [path, indexes] of [
    ["/indexes/vector/:id/info", vectorIndexes],
    ["/indexes/search/:id/info", searchIndexes],
  ] as const) {
    // The public clients send POST.
    app.on(["GET", "POST"], path, (c) => {
      const id = pathParameter(c, "id");
      const exists = indexes.read(id) !== undefined;
      return exists ? json({ result: emptyIndex }) : unknownId(indexes.kind, id);
    });
    allowOnly(app, ["GET", "POST"], [path]);
  }
}
