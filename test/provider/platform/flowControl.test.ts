import assert from "node:assert/strict";
import { RequestError } from "../../../provider/platform/errors";
import { FlowControl } from "../../../provider/platform/flowControl";
import { isIdempotent } from "../../../provider/platform/http";
import { FakeRequester } from "../../support/fakeRequester";
import { assertFields } from "../../support/results";

const zeros = { waitListSize: 0, parallelismCount: 0, rateCount: 0 };
const full = {
  flowControlKey: "orders",
  waitListSize: 42,
  parallelismMax: 10,
  parallelismCount: 9,
  rateMax: 3,
  rateCount: 2,
  ratePeriod: 604_800,
  ratePeriodStart: 1_752_451_200,
};

function answering(sent: unknown, status = 200) {
  const requester = new FakeRequester(() => ({ status, body: typeof sent === "string" ? sent : JSON.stringify(sent) }));
  return { requester, flowControl: new FlowControl(requester, { resetAction: "reset" }) };
}

/** The fields of sent requests that tests compare. */
const sentBy = ({ sent }: FakeRequester) =>
  sent.map((request) => {
    const { method, path, query } = request;
    return { method, path, idempotent: isIdempotent(request), query };
  });

const consequences = { unchanged: "Nothing was changed.", unknown: "" };
const rejection = (status: number, isJson: boolean) =>
  new RequestError(
    "rejected",
    { purpose: 'read "gone"', method: "GET", url: "u", consequences },
    { happened: "h", advice: "Check rekey:queueUrl.", status, isJson },
  );

describe("platform: flow control, one key", () => {
  const read: Readonly<Record<string, { sent: object; expected: object }>> = {
    "all fields": { sent: full, expected: full },
    "no counters: they are 0": { sent: { rateMax: 3 }, expected: { ...zeros, rateMax: 3 } },
    "another spelling": { sent: { waitlistSize: 7 }, expected: { ...zeros, waitListSize: 7 } },
    "fields of other platforms": { sent: { isPaused: true, later: [1] }, expected: { ...zeros, isPaused: true } },
  };
  for (const [title, { sent, expected }] of Object.entries(read)) {
    it(`reads ${title}`, async () => {
      const { flowControl, requester } = answering({ flowControlKey: "orders", ...sent });
      assert.deepEqual(await flowControl.get("orders"), { flowControlKey: "orders", ...expected, exists: true });
      assert.deepEqual(sentBy(requester), [
        { method: "GET", path: "/v2/flowControl/orders", idempotent: true, query: undefined },
      ]);
    });
  }

  const unreadable: Readonly<Record<string, readonly [sent: unknown, message: RegExp]>> = {
    "a counter that is text": [{ ...full, rateCount: "2" }, /rateCount: expected an integer/],
    "a counter that is not exact": ['{"rateCount":9007199254740993}', /rateCount: larger than a number can represent/],
    "a counter that is null": [{ ...full, rateCount: null }, /rateCount: expected an integer/],
    "a record without a key": [{}, /without flowControlKey/],
    "another key": [{ ...full, flowControlKey: "emails" }, /record of another key/],
    "a list": [[full], /is not a record/],
    nothing: ["", /is not JSON/],
  };
  for (const [title, [sent, message]] of Object.entries(unreadable)) {
    it(`refuses ${title}`, async () => {
      await assert.rejects(answering(sent).flowControl.get("orders"), (error) => {
        assert.ok(error instanceof RequestError);
        assert.match(error.message, message);
        assert.match(
          error.message,
          /flow-control key "orders".*GET https:\/\/platform\.test.*\. Nothing was changed\. Check/,
        );
        assertFields(error, { delivery: "responded", status: 200, code: "REKEY_UNREADABLE_RESPONSE" });
        return true;
      });
    });
  }

  /** A queue that refuses to read a key, and everything else unless `others` is true. */
  const rejecting = (status: number, inJson: boolean, others = false) => {
    const error = rejection(status, inJson);
    const requester = new FakeRequester(({ path, method }) =>
      others && (method === "POST" || !path.startsWith("/v2/flowControl")) ? {} : error,
    );
    return { error, requester, flowControl: new FlowControl(requester, { resetAction: "reset" }) };
  };
  const gone = { ...zeros, flowControlKey: "gone", exists: false };

  it("does not exist after a 404 in JSON, if the platform has responded to another request", async () => {
    const { flowControl, requester } = rejecting(404, true, true);
    assert.deepEqual(await Promise.all([flowControl.get("gone"), flowControl.get("gone")]), [gone, gone]);
    assert.deepEqual(await flowControl.get("gone"), gone);
    const asked = requester.sent.filter(({ path }) => path === "/v2/globalParallelism");
    assert.equal(asked.length, 1, "one request for all keys");
    const known = rejecting(404, true, true);
    await known.flowControl.reset("gone", false);
    assert.deepEqual(await known.flowControl.get("gone"), gone);
    assert.equal(known.requester.sent.length, 2, "a request of the run is enough");
  });

  it("is not taken for one that does not exist by a queue that responds to nothing, or refuses otherwise", async () => {
    for (const one of [rejecting(404, true), rejecting(404, false), rejecting(403, true), rejecting(400, true)]) {
      for (let nth = 0; nth < 2; nth++) await assert.rejects(one.flowControl.get("orders"), one.error);
    }
  });

  it("is encoded in paths, and refused if it cannot be in one", async () => {
    const { flowControl, requester } = answering({ flowControlKey: "a/b ü%" });
    await flowControl.get("a/b ü%");
    for (const key of ["", "..", "\ud800"]) await assert.rejects(flowControl.get(key), /flowControlKey must/);
    assert.deepEqual(
      requester.sent.map(({ path }) => path),
      ["/v2/flowControl/a%2Fb%20%C3%BC%25"],
    );
  });
});

describe("platform: flow control, lists and counts", () => {
  it("reads both forms of the list, up to 16 MiB, and sends the search only if there is one", async () => {
    const records = [full, { flowControlKey: "emails" }];
    const emails = { ...zeros, flowControlKey: "emails", exists: true };
    for (const sent of [records, { flowControls: records }]) {
      assert.deepEqual(await answering(sent).flowControl.list(), [{ ...full, exists: true }, emails]);
    }
    for (const empty of [[], null, { flowControls: null }]) {
      assert.deepEqual(await answering(empty).flowControl.list(), [], "servers in Go send null");
    }
    const { flowControl, requester } = answering([]);
    for (const search of [undefined, "or", ""]) await flowControl.list(search);
    assert.deepEqual(
      requester.sent.map(({ method, path, query, maxBytes }) => ({ method, path, query, maxBytes })),
      [undefined, { search: "or" }, { search: "" }].map((query) => {
        return { method: "GET", path: "/v2/flowControl", query, maxBytes: 16 * 1024 * 1024 };
      }),
    );
  });

  it("refuses a response that is not a list, and a list with a record that cannot be read", async () => {
    const wrong = [{}, { flowControls: {} }, "<html>", "", 0, [{ rateMax: 1 }], [1], [{ ...full, rateMax: "3" }]];
    for (const sent of wrong) {
      await assert.rejects(answering(sent).flowControl.list(), RequestError);
    }
  });

  it("reads all forms of global parallelism", async () => {
    const none = { parallelismMax: 0, parallelismCount: 0 };
    for (const [sent, expected] of [
      [
        { parallelismMax: 100, parallelismCount: 0 },
        { parallelismMax: 100, parallelismCount: 0 },
      ],
      [{ waitListSize: 3 }, { waitListSize: 3 }],
      [{ waitlistSize: 3 }, { waitListSize: 3 }],
      [{}, none],
      [
        { parallelismMax: 100, later: 1 },
        { ...none, parallelismMax: 100 },
      ],
      [{ parallelismCount: 2 }, { ...none, parallelismCount: 2 }],
    ]) {
      assert.deepEqual(await answering(sent).flowControl.globalParallelism(), expected);
    }
    for (const sent of [[], { later: 1 }, { parallelismMax: "1" }, "<html>"]) {
      await assert.rejects(answering(sent).flowControl.globalParallelism(), RequestError);
    }
  });
});

describe("platform: flow control, resets", () => {
  it("are POSTs that may be repeated, with the action of the settings", async () => {
    const { flowControl, requester } = answering("");
    assert.equal(await flowControl.reset("a/b", false), "reset");
    await new FlowControl(requester, { resetAction: "resetRate" }).reset("orders", true);
    const request = { method: "POST", idempotent: true, query: undefined };
    assert.deepEqual(sentBy(requester), [
      { ...request, path: "/v2/flowControl/a%2Fb/reset" },
      { ...request, path: "/v2/flowControl/orders/resetRate" },
    ]);
  });

  /** What the platform refuses, by action, and what is sent for keys in turn, of which a read has shown some. */
  const rows: Readonly<
    Record<string, { refused: Record<string, number>; keys: Record<string, boolean>; sent: string[]; fails?: boolean }>
  > = {
    "use the other action after 404, and for the rest of the run": {
      refused: { reset: 404 },
      keys: { a: true, b: false },
      sent: ["a reset", "a resetRate", "b resetRate"],
    },
    "use it after 405, too": { refused: { reset: 405 }, keys: { a: true }, sent: ["a reset", "a resetRate"] },
    "do not need it if the platform has the first": { refused: {}, keys: { a: true }, sent: ["a reset"] },
    "fail without it if no read showed the key": {
      refused: { reset: 404 },
      keys: { a: false },
      sent: ["a reset"],
      fails: true,
    },
    "fail without it for another status": {
      refused: { reset: 403 },
      keys: { a: true },
      sent: ["a reset"],
      fails: true,
    },
  };
  const starting = (refused: Record<string, number>) => {
    const requester = new FakeRequester(({ path }) => {
      const status = refused[path.split("/").at(-1) ?? ""];
      return status === undefined ? {} : rejection(status, false);
    });
    const sent = () => requester.sent.map(({ path }) => path.split("/").slice(3).join(" "));
    return { sent, flowControl: new FlowControl(requester, { resetAction: "reset", otherAction: "resetRate" }) };
  };
  for (const [title, { refused, keys, sent: expected, fails = false }] of Object.entries(rows)) {
    it(title, async () => {
      const { flowControl, sent } = starting(refused);
      for (const [key, isKnown] of Object.entries(keys)) {
        if (fails) await assert.rejects(flowControl.reset(key, isKnown), RequestError);
        else assert.equal(await flowControl.reset(key, isKnown), expected.at(-1)?.split(" ")[1]);
      }
      assert.deepEqual(sent(), expected);
    });
  }

  it("do not remember the other action if the platform refuses that, too: the key may be gone", async () => {
    const refused: Record<string, number> = { reset: 404, resetRate: 404 };
    const { flowControl, sent } = starting(refused);
    await assert.rejects(flowControl.reset("a", true), RequestError);
    delete refused["reset"];
    assert.equal(await flowControl.reset("b", true), "reset");
    assert.deepEqual(sent(), ["a reset", "a resetRate", "b reset"]);
  });
});
