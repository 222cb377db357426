import assert from "node:assert/strict";
import { Search } from "@upstash/search";
import { Index } from "@upstash/vector";
import { type Platform, startPlatform, type TokenResource } from "../../../local/platform/index";

// That a reset replaces the tokens: secrets.test.ts.
describe("Local platform: the REST interface of indexes", () => {
  let platform: Platform;
  before(async () => (platform = await startPlatform({ vectorIndexes: ["a/b ü", "other"], searchIndexes: ["docs"] })));
  after(() => platform.close());

  const vectorIndex = () => platform.vectorIndexes.get("a/b ü")!;
  const searchIndex = () => platform.searchIndexes.get("docs")!;
  const addressOf = ({ record }: TokenResource) => String(record.endpoint);

  it("is at the endpoint of the record, unless that was given", async () => {
    assert.equal(addressOf(vectorIndex()), `${platform.url}/indexes/vector/a%2Fb%20%C3%BC`);
    assert.equal(addressOf(searchIndex()), `${platform.url}/indexes/search/docs`);
    const other = await startPlatform({ vectorIndexes: [{ id: "one", endpoint: "slug-1-eu1" }] });
    assert.equal(addressOf(other.vectorIndexes.get("one")!), "slug-1-eu1");
    await other.close();
  });

  it("accepts the unmodified clients with either token", async () => {
    for (const token of [vectorIndex().token, vectorIndex().readOnlyToken]) {
      const index = new Index({ url: addressOf(vectorIndex()), token, retry: false });
      assert.equal((await index.info()).dimension, 1536);
    }
    for (const token of [searchIndex().token, searchIndex().readOnlyToken]) {
      const search = new Search({ url: addressOf(searchIndex()), token, retry: false });
      assert.equal((await search.info()).documentCount, 0);
    }
  });
});
