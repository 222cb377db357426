import assert from "node:assert/strict";
import { RejectedError, UnreadableError } from "../../../provider/api/errors";
import { allReadable, FlowControl } from "../../../provider/api/flowControl";
import { FakeRequester } from "../../support/fakeRequester";

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
  return { requester, flowControl: new FlowControl(requester) };
}

describe("api: flow control, one key", () => {
  const read: readonly (readonly [string, unknown, object])[] = [
    ["all fields", full, { ...full, exists: true }],
    ["no counters: they are 0", { flowControlKey: "orders", rateMax: 3 }, { ...zeros, rateMax: 3, exists: true }],
    ["another spelling", { flowControlKey: "orders", waitlistSize: 7 }, { ...zeros, waitListSize: 7, exists: true }],
    [
      "fields of other platforms",
      { flowControlKey: "orders", isPaused: true, later: [1] },
      { ...zeros, isPaused: true, exists: true },
    ],
  ];
  for (const [what, sent, expected] of read) {
    it(`reads ${what}`, async () => {
      const { flowControl, requester } = answering(sent);
      assert.deepEqual(await flowControl.get("orders"), { flowControlKey: "orders", ...expected });
      const { method, path, idempotent, query } = requester.sent[0] ?? {};
      assert.deepEqual([method, path, idempotent, query], ["GET", "/v2/flowControl/orders", true, {}]);
    });
  }

  const unreadable: readonly (readonly [string, unknown, RegExp, number?])[] = [
    ["a counter that is text", { ...full, rateCount: "2" }, /rateCount: expected an integer/],
    ["a counter that no number can hold", '{"rateCount":9007199254740993}', /rateCount: beyond what a number can hold/],
    ["a counter that is null", { ...full, rateCount: null }, /rateCount: expected an integer/],
    ["a record of no key", {}, /without flowControlKey/],
    ["another key", { ...full, flowControlKey: "emails" }, /record of another key/],
    ["a list", [full], /is not a record/],
    ["HTML", "<html>", /is not JSON/],
    ["nothing", "", /is not JSON/],
    ["a 204", "", /not the 200/, 204],
    ["a 202 with a record", full, /not the 200/, 202],
  ];
  for (const [what, sent, message, status] of unreadable) {
    it(`refuses ${what}`, async () => {
      const { flowControl } = answering(sent, status);
      await assert.rejects(flowControl.get("orders"), (error: Error) => {
        assert.ok(error instanceof UnreadableError);
        assert.match(error.message, message);
        assert.match(error.message, /^Could not read the flow-control key "orders".*GET https:\/\/platform\.test/);
        return true;
      });
    });
  }

  const facts = {
    purpose: "p",
    method: "GET",
    url: "u",
    consequences: { "not sent": "", rejected: "", "maybe applied": "" },
  };
  it("says that a key does not exist where the platform itself says so, in JSON", async () => {
    const flowControl = new FlowControl(new FakeRequester(() => new RejectedError(facts, "h", "a", 404, true)));
    assert.deepEqual(await flowControl.get("gone"), { ...zeros, flowControlKey: "gone", exists: false });
  });

  for (const [status, inJson] of [
    [404, false],
    [403, true],
    [400, true],
  ] as const) {
    it(`fails where the answer is ${status}, ${inJson ? "" : "not "}in JSON`, async () => {
      const error = new RejectedError(facts, "h", "a", status, inJson);
      await assert.rejects(new FlowControl(new FakeRequester(() => error)).get("orders"), error);
    });
  }

  it("encodes the key, and refuses what no path can carry", async () => {
    const { flowControl, requester } = answering({ flowControlKey: "a/b ü%" });
    await flowControl.get("a/b ü%");
    assert.equal(requester.sent[0]?.path, "/v2/flowControl/a%2Fb%20%C3%BC%25");
    for (const key of ["", "..", "\ud800"]) await assert.rejects(flowControl.get(key), /flowControlKey must/);
    assert.equal(requester.sent.length, 1);
  });
});

describe("api: flow control, the other operations", () => {
  it("reads both shapes of the list", async () => {
    const records = [full, { flowControlKey: "emails" }];
    const expected = [
      { ...full, exists: true },
      { ...zeros, flowControlKey: "emails", exists: true },
    ];
    assert.deepEqual(await answering(records).flowControl.list(), expected);
    assert.deepEqual(await answering({ flowControls: records }).flowControl.list(), expected);
    assert.deepEqual(await answering([]).flowControl.list(), []);
  });

  it("sends the search only where there is one", async () => {
    const { flowControl, requester } = answering([]);
    await flowControl.list();
    await flowControl.list(undefined);
    await flowControl.list("or");
    await flowControl.list("");
    assert.deepEqual(
      requester.sent.map(({ query }) => query),
      [{}, {}, { search: "or" }, { search: "" }],
    );
    assert.ok(requester.sent.every(({ path, method }) => path === "/v2/flowControl" && method === "GET"));
  });

  for (const sent of [{}, { flowControls: {} }, null, "<html>", [{ rateMax: 1 }], [1], [{ ...full, rateMax: "3" }]]) {
    it(`refuses the list ${JSON.stringify(sent).slice(0, 30)}`, async () => {
      await assert.rejects(async () => allReadable(await answering(sent).flowControl.list()), UnreadableError);
    });
  }

  it("reads both shapes of global parallelism", async () => {
    const counts = { parallelismMax: 100, parallelismCount: 0 };
    assert.deepEqual(await answering(counts).flowControl.globalParallelism(), counts);
    assert.deepEqual(await answering({ waitListSize: 3 }).flowControl.globalParallelism(), { waitListSize: 3 });
    assert.deepEqual(await answering({ waitlistSize: 3 }).flowControl.globalParallelism(), { waitListSize: 3 });
    for (const sent of [{}, [], { later: 1 }, { parallelismMax: "1" }, "<html>"]) {
      await assert.rejects(answering(sent).flowControl.globalParallelism(), UnreadableError);
    }
  });

  it("resets with a POST that may be repeated, whatever 2xx it answers", async () => {
    for (const [status, body] of [
      [200, "{}"],
      [202, ""],
      [204, ""],
    ] as const) {
      const { flowControl, requester } = answering(body, status);
      assert.equal(await flowControl.reset("a/b"), undefined);
      const { method, path, idempotent } = requester.sent[0] ?? {};
      assert.deepEqual([method, path, idempotent], ["POST", "/v2/flowControl/a%2Fb/reset", true]);
    }
  });

  it("resets with the action that the settings name", async () => {
    const requester = new FakeRequester(() => ({}));
    await new FlowControl(requester, "resetRate").reset("orders");
    assert.equal(requester.sent[0]?.path, "/v2/flowControl/orders/resetRate");
  });
});
