import assert from "node:assert/strict";
import { RequestError } from "../../../provider/domain/errors";
import { FlowControl } from "../../../provider/platform/flowControl";
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

/** A queue that responds to everything. */
function answering(sent: unknown) {
  const requester = new FakeRequester(() => ({ body: typeof sent === "string" ? sent : JSON.stringify(sent) }));
  return { requester, flowControl: new FlowControl(requester, { resetAction: "reset" }) };
}

function rejection(status: number, isJson: boolean): RequestError {
  const consequences = { unchanged: "Nothing was changed." };
  const facts = { purpose: 'read "gone"', method: "GET", url: "u", consequences };
  return new RequestError("rejected", facts, {
    happened: "h",
    advice: "Check rekey:queueUrl.",
    status,
    ...(isJson && { words: "" }),
  });
}

describe("platform: flow control, one key", () => {
  const read: Readonly<Record<string, { sent: object; expected: object }>> = {
    "all fields": { sent: full, expected: full },
    "no counters: they are 0": { sent: { rateMax: 3 }, expected: { ...zeros, rateMax: 3 } },
    "another spelling": { sent: { waitlistSize: 7 }, expected: { ...zeros, waitListSize: 7 } },
    "fields of other platforms": { sent: { isPaused: true, later: [1] }, expected: { ...zeros, isPaused: true } },
  };
  for (const [title, { sent, expected }] of Object.entries(read)) {
    it(`reads ${title}`, async () => {
      const { flowControl } = answering({ flowControlKey: "orders", ...sent });
      assert.deepEqual(await flowControl.get("orders"), { flowControlKey: "orders", ...expected, exists: true });
    });
  }

  const unreadable: Readonly<Record<string, readonly [sent: unknown, message: RegExp]>> = {
    "a counter that is not exact": ['{"rateCount":9007199254740993}', /rateCount: larger than a number can represent/],
    "a record without a key": [{}, /without flowControlKey/],
    "a list": [[full], /it is not an object/],
  };
  for (const [title, [sent, message]] of Object.entries(unreadable)) {
    it(`refuses ${title}`, async () => {
      await assert.rejects(answering(sent).flowControl.get("orders"), (error: RequestError) => {
        assert.match(error.message, message);
        assert.match(error.message, /flow-control key "orders".*GET https:.*\. Nothing was changed\. Check/);
        assertFields(error, { delivery: "responded", status: 200, code: "REKEY_UNREADABLE_RESPONSE" });
        return true;
      });
    });
  }

  /** A queue that refuses to read a key, and everything else unless `others` is true. */
  const rejecting = (status: number, isJson: boolean, others = false) => {
    const error = rejection(status, isJson);
    const requester = new FakeRequester(({ path, method }) =>
      others && (method === "POST" || !path.startsWith("/v2/flowControl")) ? { body: "{}" } : error,
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
});

describe("platform: flow control, lists and counts", () => {
  it("reads both forms of the list, up to 16 MiB, and sends the search only if there is one", async () => {
    const emails = { ...zeros, flowControlKey: "emails", exists: true };
    const records = [full, { flowControlKey: "emails" }];
    for (const sent of [records, { flowControls: records }]) {
      assert.deepEqual(await answering(sent).flowControl.list(), [{ ...full, exists: true }, emails]);
    }
    for (const empty of [[], null, { flowControls: null }]) {
      assert.deepEqual(await answering(empty).flowControl.list(), [], "servers in Go send null");
    }
    const { flowControl, requester } = answering([]);
    for (const search of [undefined, "or", ""]) await flowControl.list(search);
    assert.deepEqual(
      requester.sent.map(({ query, isList }) => ({ query, isList })),
      [undefined, { search: "or" }, { search: "" }].map((query) => ({ query, isList: true })),
    );
  });

  it("refuses a response that is not a list, and a list with a record that cannot be read", async () => {
    for (const wrong of [
      {},
      { flowControls: {} },
      "<html>",
      "",
      0,
      [{ rateMax: 1 }],
      [full, { ...full, rateMax: "3" }],
    ]) {
      await assert.rejects(answering(wrong).flowControl.list(), RequestError);
    }
  });

  it("reads all forms of global parallelism", async () => {
    const none = { parallelismMax: 0, parallelismCount: 0 };
    for (const [sent, expected] of [
      [
        { parallelismMax: 100, parallelismCount: 0, later: 1 },
        { ...none, parallelismMax: 100 },
      ],
      [{ waitlistSize: 3 }, { waitListSize: 3 }],
      [{}, none],
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
    "do not remember it if the platform refuses that, too: the key may be gone": {
      refused: { reset: 404, resetRate: 404 },
      keys: { a: true, b: true },
      sent: ["a reset", "a resetRate", "b reset", "b resetRate"],
      fails: true,
    },
  };
  for (const [title, { refused, keys, sent, fails = false }] of Object.entries(rows)) {
    it(title, async () => {
      const requester = new FakeRequester(({ path }) => {
        const status = refused[path.split("/").at(-1) ?? ""];
        return status === undefined ? {} : rejection(status, false);
      });
      const flowControl = new FlowControl(requester, { resetAction: "reset", otherAction: "resetRate" });
      for (const [key, isKnown] of Object.entries(keys)) {
        if (fails) await assert.rejects(flowControl.reset(key, isKnown), RequestError);
        else assert.equal(await flowControl.reset(key, isKnown), sent.at(-1)?.split(" ")[1]);
      }
      assert.deepEqual(
        requester.sent.map(({ path }) => path.split("/").slice(3).join(" ")),
        sent,
      );
      assert.ok(requester.sent.every((request) => request.method === "POST" && request.idempotent));
    });
  }
});
