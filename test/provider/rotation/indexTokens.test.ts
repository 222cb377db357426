import assert from "node:assert/strict";
import { type SecretKind } from "../../../provider/platform/secretKind";
import { RejectedError } from "../../../provider/platform/errors";
import { SecretOperations } from "../../../provider/platform/secretOperations";
import { type Properties } from "../../../provider/records/properties";
import { presets } from "../../../provider/settings/presets";
import { indexUrl } from "../../../provider/records/indexRecord";
import { searchToken, vectorToken } from "../../../provider/rotation/kinds/indexToken";
import { rotationOf } from "../../../provider/rotation/rotation";
import { type Run } from "../../../provider/run";
import { asShown, FakeRun, unconfirmed } from "../../support/fakeRun";
import { FakeRequester } from "../../support/fakeRequester";

const kinds: readonly { readonly kind: SecretKind; readonly reset: string; readonly read: string }[] = [
  { kind: vectorToken, reset: "/v2/vector/index/a%2Fb/reset-password", read: "/v2/vector/index/a%2Fb" },
  { kind: searchToken, reset: "/v2/search/a%2Fb/reset-password", read: "/v2/search/a%2Fb" },
];

for (const { kind, reset, read } of kinds) {
  describe(`rotation: the token of a ${kind.noun}`, () => {
    const { check, diff, apply, refresh } = asShown(rotationOf(kind));
    const inputs = (version: number) => ({ indexId: "idx", version });
    const tokens = (generation: number) => ({ token: `t${generation}`, readOnlyToken: `r${generation}` });
    const record = { id: "idx", endpoint: "bold-fox" };
    let fake: FakeRun;
    let run: Run;

    beforeEach(() => {
      fake = new FakeRun();
      fake.canRead = true;
      fake.preset = presets.upstash;
      fake.answer = () => ({});
      fake.readDatabase = (_id, resets) => ({ record, credentials: tokens(resets) });
      run = fake.start();
    });

    const known = (outputs: object) => {
      const { indexId, token, readOnlyToken, restUrl, outcome, rotationCount } = outputs as Properties;
      return { indexId, token, readOnlyToken, restUrl, outcome, rotationCount };
    };
    const resetAs = (rotationCount: number) => ({
      indexId: "idx",
      ...tokens(rotationCount),
      restUrl: "https://bold-fox.upstash.io",
      outcome: "reset",
      rotationCount,
    });

    it("is read after a reset whose response has none", async () => {
      const { outputs } = await apply(undefined, inputs(1), run);
      assert.deepEqual(known(outputs), resetAs(1));
      const next = await apply(outputs, inputs(2), run);
      assert.deepEqual(known(next.outputs), resetAs(2));
      assert.deepEqual(fake.resets, ["idx", "idx"]);
      assert.equal(diff(next.outputs, inputs(2)).changes, false);
    });

    it("is settled by a read if the response is lost: one reset in all", async () => {
      fake.answer = unconfirmed;
      const { outputs, failure, notice } = await apply(undefined, inputs(1), run);
      assert.equal(failure, undefined);
      assert.deepEqual(known(outputs), resetAs(1));
      assert.match(notice ?? "", new RegExp(`^The reset of ${kind.noun} "idx" was not confirmed .*it was applied`));
      assert.equal(fake.resets.length, 1);
    });

    it("is settled by a later refresh if it was applied late", async () => {
      fake.answer = unconfirmed;
      let applied = 0;
      fake.readDatabase = () => ({ record, credentials: tokens(applied) });
      const { outputs, message } = await apply(undefined, inputs(1), run);
      assert.match(message ?? "", new RegExp(`reads the ${kind.noun} first`));
      applied = 1;
      const read = await refresh(outputs, fake.start());
      assert.deepEqual(known(read.outputs), resetAs(1));
      assert.equal(diff(read.outputs, inputs(1)).changes, false);
      assert.equal(fake.resets.length, 1);
    });

    it("never becomes a former one, however long the platform shows that", async () => {
      const { outputs } = await apply(undefined, inputs(1), run);
      fake.readDatabase = () => ({ record, credentials: tokens(1) });
      const next = await apply(outputs, inputs(2), run);
      assert.equal(known(next.outputs).token, undefined);
      assert.match(next.warning ?? "", new RegExp(`^The token of ${kind.noun} "idx" was reset, but its new token and`));
      fake.readDatabase = () => ({ record, credentials: tokens(2) });
      const read = await apply(next.outputs, inputs(2), fake.start());
      assert.deepEqual(known(read.outputs), resetAs(2));
      assert.equal(fake.resets.length, 2);
    });

    it("has no URL any more if a refresh shows an endpoint without TLS", async () => {
      const { outputs } = await apply(undefined, inputs(1), run);
      const unsafe = { ...record, endpoint: "http://example.com" };
      fake.readDatabase = () => ({ record: unsafe, credentials: tokens(1) });
      const read = await refresh(outputs, run);
      assert.equal(known(read.outputs).restUrl, undefined);
    });

    it("is adopted without a reset, and belongs to one resource only", async () => {
      const { outputs } = await apply(undefined, { ...inputs(1), initialRotation: false }, run);
      assert.deepEqual(known(outputs), { ...resetAs(0), outcome: "adopted" });
      assert.deepEqual(fake.resets, []);
      check({ ...inputs(1), owner: "first" }, new Set(), run);
      const [failure] = check({ ...inputs(1), owner: "second" }, new Set(), run);
      assert.equal(failure?.code, "REKEY_DUPLICATE_SECRET");
      assert.equal(failure.property, "indexId");
    });

    it("names both reasons for a 404 or 405", async () => {
      for (const status of [404, 405]) {
        const facts = {
          purpose: "reset it",
          consequences: { "not sent": "", rejected: "Unchanged.", "maybe applied": "" },
        };
        const rejection = { happened: `it responded with ${status}`, advice: "", status, inJson: true };
        const request = { ...facts, method: "POST", url: "https://platform.test/x" };
        const requester = new FakeRequester(() => new RejectedError(request, rejection));
        const operations = new SecretOperations(requester, kind, kind.paths ?? { reset: "", read: "" });
        const expected = new RegExp(
          `responded with ${status}; it does not have this operation, or no ${kind.noun} with this id .*not changed.*Check the id and the address`,
        );
        await assert.rejects(operations.reset("idx"), expected);
        await assert.rejects(operations.read("idx"), RejectedError);
      }
    });

    it("is reset and read by these requests; only OK or a record confirms a reset", async () => {
      const bodies = ['"OK"', '{"id":"a/b","token":"t"}', "{}", '"NO"', "OK", '{"id":"other","token":"t"}'];
      const results = [];
      const requester = new FakeRequester(() => ({ body: bodies.shift() ?? "{}" }));
      const operations = new SecretOperations(requester, kind, kind.paths ?? { reset: "", read: "" });
      while (bodies.length > 0) {
        results.push(
          await operations.reset("a/b").then(
            ({ credentials }) => credentials,
            (error: Error) => error.name,
          ),
        );
      }
      assert.deepEqual(results, [{}, { token: "t" }, ...Array<string>(4).fill("UnconfirmedError")]);
      await operations.read("a/b").catch(() => undefined);
      const sent = requester.sent.map(({ method, path }) => `${method} ${path}`);
      assert.deepEqual([sent[0], sent.at(-1)], [`POST ${reset}`, `GET ${read}`]);
    });
  });
}

describe("rotation: the URL of an index", () => {
  const { indexHost } = presets.upstash;
  const usable: readonly (readonly [endpoint: string, host: string | undefined, url: string])[] = [
    ["bold-fox", undefined, "https://bold-fox"],
    ["bold-fox", indexHost, "https://bold-fox.upstash.io"],
    ["$&", "{endpoint}", ""],
    ["bold-fox.example.com", indexHost, "https://bold-fox.example.com"],
    ["2001:db8::1", indexHost, "https://[2001:db8::1]"],
    ["https://example.com", indexHost, "https://example.com"],
    ["https://example.com:8443/i", undefined, "https://example.com:8443/i"],
    ["http://127.0.0.1:1/i", undefined, "http://127.0.0.1:1/i"],
  ];
  for (const [endpoint, host, url] of usable) {
    it(`of ${endpoint} is ${url || "not known"}${host === indexHost ? " with the preset" : ""}`, () => {
      assert.equal(indexUrl({ endpoint }, host), url || undefined);
    });
  }

  const users = ["user@evil.test", "https://user@evil.test", "https://user:canary@evil.test", "https://@evil.test"];
  const parts = [
    "evil.test/path",
    "evil.test?",
    "evil.test#x",
    "https://evil.test?x=1",
    "https://evil.test/#",
    "a b.c",
  ];
  const others = [
    "http://example.com",
    "ftp://example.com",
    "a://",
    "evil.test:8443",
    "https://e vil.test",
    "",
    "..",
    5,
  ];
  for (const endpoint of [...users, ...parts, ...others]) {
    it(`of ${JSON.stringify(endpoint)} is not known, with and without the preset`, () => {
      for (const host of [undefined, indexHost]) assert.equal(indexUrl({ endpoint }, host), undefined);
    });
  }
});
