import assert from "node:assert/strict";
import { Search } from "@upstash/search";
import { Index } from "@upstash/vector";
import { type Platform, startPlatform, type TokenResource } from "../../../local/platform/index";
import { basic, bearer, resetPassword, send } from "./client";

describe("local platform: the REST interface of indexes", () => {
  let platform: Platform;
  beforeEach(
    async () => (platform = await startPlatform({ vectorIndexes: ["a/b ü", "other"], searchIndexes: ["docs"] })),
  );
  afterEach(() => platform.close());

  const vectorIndex = () => platform.vectorIndexes.get("a/b ü")!;
  const searchIndex = () => platform.searchIndexes.get("docs")!;
  const addressOf = ({ record }: TokenResource) => String(record.endpoint);
  const info = (path: string, token: string, method = "GET") =>
    send(platform, method, path, bearer({ queueToken: token }));

  it("is at the endpoint of the record, which is a URL of the platform", () => {
    assert.equal(addressOf(vectorIndex()), `${platform.url}/indexes/vector/a%2Fb%20%C3%BC`);
    assert.equal(addressOf(searchIndex()), `${platform.url}/indexes/search/docs`);
  });

  it("is elsewhere if the record has another endpoint", async () => {
    await platform.close();
    platform = await startPlatform({ vectorIndexes: [{ id: "one", endpoint: "slug-1-eu1" }] });
    assert.equal(addressOf(platform.vectorIndexes.get("one")!), "slug-1-eu1");
  });

  it("is at the address of the new platform if that is started with a saved state", async () => {
    const again = await startPlatform(platform.state());
    assert.equal(addressOf(again.searchIndexes.get("docs")!), `${again.url}/indexes/search/docs`);
    await again.close();
  });

  it("accepts the unmodified client of vector indexes with either token", async () => {
    for (const token of [vectorIndex().token, vectorIndex().readOnlyToken]) {
      const index = new Index({ url: addressOf(vectorIndex()), token, retry: false });
      const { vectorCount, dimension, namespaces } = await index.info();
      assert.deepEqual(
        { vectorCount, dimension, namespaces: Object.keys(namespaces) },
        {
          vectorCount: 0,
          dimension: 1536,
          namespaces: [""],
        },
      );
    }
  });

  it("accepts the unmodified client of search indexes with either token", async () => {
    for (const token of [searchIndex().token, searchIndex().readOnlyToken]) {
      const search = new Search({ url: addressOf(searchIndex()), token, retry: false });
      const { documentCount, indexes } = await search.info();
      assert.deepEqual({ documentCount, indexes: Object.keys(indexes) }, { documentCount: 0, indexes: [""] });
    }
  });

  it("refuses the former token to the clients after a reset", async () => {
    const { token } = vectorIndex();
    const path = "/v2/vector/index/a%2Fb%20%C3%BC/reset-password";
    assert.equal((await send(platform, "POST", path, basic(platform))).status, 200);
    const index = (given: string) => new Index({ url: addressOf(vectorIndex()), token: given, retry: false });
    await assert.rejects(index(token).info(), /Authorization: missing or wrong/);
    assert.equal((await index(vectorIndex().token).info()).vectorCount, 0);
  });

  it("accepts only the tokens of the index itself", async () => {
    const { token } = vectorIndex();
    assert.equal((await info("/indexes/vector/a%2Fb%20%C3%BC/info", token)).status, 200);
    for (const path of ["/indexes/vector/other/info", "/indexes/search/docs/info"]) {
      const { status, headers, error } = await info(path, token);
      assert.equal(status, 401);
      assert.equal(headers["www-authenticate"], 'Bearer realm="local platform"');
      assert.match(error, /"Bearer <token of the index>"/);
    }
    for (const authorization of [bearer(platform), basic(platform), undefined]) {
      assert.equal((await send(platform, "GET", "/indexes/search/docs/info", authorization)).status, 401);
    }
    assert.equal((await send(platform, "GET", "/v2/globalParallelism", `Bearer ${token}`)).status, 401);
  });

  it("responds with 404 for an unknown index, and 400 for a malformed id", async () => {
    assert.match((await info("/indexes/vector/none/info", "any")).error, /^id: vector index "none" does not exist/);
    assert.match((await info("/indexes/vector/%zz/info", "any")).error, /^id: .*percent-encoding/);
  });

  it("allows GET and POST", async () => {
    const { token } = searchIndex();
    assert.equal((await info("/indexes/search/docs/info", token, "POST")).status, 200);
    const { status, headers } = await info("/indexes/search/docs/info", token, "DELETE");
    assert.deepEqual({ status, allow: headers.allow }, { status: 405, allow: "GET, HEAD, POST" });
  });

  it("records whether requests had a valid token", async () => {
    await info("/indexes/search/docs/info", searchIndex().token);
    await info("/indexes/search/docs/info", "wrong");
    assert.deepEqual(
      platform.requests.map(({ authorized }) => authorized),
      [true, false],
    );
  });

  it("is counted together with databases", async () => {
    await resetPassword(platform);
    await send(platform, "POST", "/v2/search/docs/reset-password", basic(platform));
    assert.equal(platform.resetCount, 2);
  });
});
