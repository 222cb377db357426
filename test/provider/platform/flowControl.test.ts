import assert from "node:assert/strict";
import { RejectedError, UnreadableError } from "../../../provider/platform/errors";
import { allReadable, FlowControl } from "../../../provider/platform/flowControl";
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
  return { requester, flowControl: new FlowControl(requester, { name: "reset" }) };
}

/** The fields of sent requests that tests compare. */
const sentBy = ({ sent }: FakeRequester) =>
  sent.map(({ method, path, idempotent, query }) => ({ method, path, idempotent, query }));

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
      const request = { method: "GET", path: "/v2/flowControl/orders", idempotent: true, query: {} };
      assert.deepEqual(sentBy(requester), [request]);
    });
  }

  const unreadable: readonly {
    readonly title: string;
    readonly sent: unknown;
    readonly message: RegExp;
    readonly status?: number;
  }[] = [
    { title: "a counter that is text", sent: { ...full, rateCount: "2" }, message: /rateCount: expected an integer/ },
    {
      title: "a counter that is not exact",
      sent: '{"rateCount":9007199254740993}',
      message: /rateCount: larger than a number can represent/,
    },
    { title: "a counter that is null", sent: { ...full, rateCount: null }, message: /rateCount: expected an integer/ },
    { title: "a record without a key", sent: {}, message: /without flowControlKey/ },
    { title: "another key", sent: { ...full, flowControlKey: "emails" }, message: /record of another key/ },
    { title: "a list", sent: [full], message: /is not a record/ },
    { title: "HTML", sent: "<html>", message: /is not JSON/ },
    { title: "nothing", sent: "", message: /is not JSON/ },
    { title: "a 204", sent: "", message: /not have status 200/, status: 204 },
    { title: "a 202 with a record", sent: full, message: /not have status 200/, status: 202 },
  ];
  for (const { title, sent, message, status } of unreadable) {
    it(`refuses ${title}`, async () => {
      await assert.rejects(answering(sent, status).flowControl.get("orders"), (error) => {
        assert.ok(error instanceof UnreadableError);
        assert.match(error.message, message);
        assert.match(error.message, /flow-control key "orders".*GET https:\/\/platform\.test/);
        assert.match(error.message, /\. Nothing was changed\. Check the address\. \[REKEY_UNREADABLE_RESPONSE\]$/);
        assertFields(error, { name: "UnreadableError", delivery: "responded", status: status ?? 200 });
        return true;
      });
    });
  }

  /** A queue that refuses to read a key, and other requests too unless `others` is true. */
  const rejecting = (status: number, inJson: boolean, others = false) => {
    const consequences = { "not sent": "", rejected: "", "maybe applied": "" };
    const facts = { purpose: "p", method: "GET", url: "u", consequences };
    const error = new RejectedError(facts, { happened: "h", advice: "Check rekey:queueUrl.", status, inJson });
    const requester = new FakeRequester(({ path, method }) =>
      others && (method === "POST" || !path.startsWith("/v2/flowControl")) ? {} : error,
    );
    return { error, requester, flowControl: new FlowControl(requester, { name: "reset" }) };
  };
  const gone = { ...zeros, flowControlKey: "gone", exists: false };

  it("reads that a key does not exist if the platform responds 404 in JSON, and has responded to another request", async () => {
    const { flowControl, requester } = rejecting(404, true, true);
    assert.deepEqual(await Promise.all([flowControl.get("gone"), flowControl.get("gone")]), [gone, gone]);
    assert.deepEqual(await flowControl.get("gone"), gone);
    const asked = requester.sent.filter(({ path }) => path === "/v2/globalParallelism");
    assert.equal(asked.length, 1, "one request for all keys");
  });

  it("asks nothing else if the platform has responded to a request of the run", async () => {
    const { flowControl, requester } = rejecting(404, true, true);
    await flowControl.reset("gone", false);
    assert.deepEqual(await flowControl.get("gone"), gone);
    assert.deepEqual(
      requester.sent.map(({ path }) => path),
      ["/v2/flowControl/gone/reset", "/v2/flowControl/gone"],
    );
  });

  it("does not believe a 404 of a queue that responds to nothing: the token may be that of another region", async () => {
    const { flowControl } = rejecting(404, true);
    for (let nth = 0; nth < 2; nth++) {
      await assert.rejects(flowControl.get("gone"), (error) => {
        assert.ok(error instanceof RejectedError);
        assert.match(error.message, /"gone".* another region .*Nothing was changed.* rekey:queueUrl\..* same region/s);
        return true;
      });
    }
  });

  it("fails for any other refusal", async () => {
    for (const { flowControl, error } of [rejecting(404, false), rejecting(403, true), rejecting(400, true)]) {
      await assert.rejects(flowControl.get("orders"), error);
    }
  });

  it("encodes the key, and refuses one that cannot be in a path", async () => {
    const { flowControl, requester } = answering({ flowControlKey: "a/b ü%" });
    await flowControl.get("a/b ü%");
    for (const key of ["", "..", "\ud800"]) await assert.rejects(flowControl.get(key), /flowControlKey must/);
    assert.deepEqual(
      requester.sent.map(({ path }) => path),
      ["/v2/flowControl/a%2Fb%20%C3%BC%25"],
    );
  });
});

describe("platform: flow control, the other operations", () => {
  it("reads both forms of the list", async () => {
    const records = [full, { flowControlKey: "emails" }];
    const emails = { ...zeros, flowControlKey: "emails", exists: true };
    for (const sent of [records, { flowControls: records }]) {
      assert.deepEqual(await answering(sent).flowControl.list(), [{ ...full, exists: true }, emails]);
    }
    for (const empty of [[], null, { flowControls: null }]) {
      assert.deepEqual(await answering(empty).flowControl.list(), [], "servers in Go send null");
    }
  });

  it("sends the search only if there is one", async () => {
    const { flowControl, requester } = answering([]);
    for (const search of [undefined, "or", ""]) await flowControl.list(search);
    const request = { method: "GET", path: "/v2/flowControl", idempotent: true };
    assert.deepEqual(
      sentBy(requester),
      [{}, { search: "or" }, { search: "" }].map((query) => ({ ...request, query })),
    );
  });

  for (const sent of [{}, { flowControls: {} }, "<html>", "", 0, [{ rateMax: 1 }], [1], [{ ...full, rateMax: "3" }]]) {
    it(`refuses the list ${JSON.stringify(sent).slice(0, 30)}`, async () => {
      await assert.rejects(async () => allReadable(await answering(sent).flowControl.list()), UnreadableError);
    });
  }

  it("reads a list of up to 16 MiB", async () => {
    const { flowControl, requester } = answering([]);
    await flowControl.list();
    assert.equal(requester.sent[0]?.maxBytes, 16 * 1024 * 1024);
  });

  it("reads a list with a few unreadable records, and refuses one with a hundred", async () => {
    const listOf = (count: number) => answering([full, ...Array<object>(count).fill({})]).flowControl.list();
    assert.equal((await listOf(99)).length, 100);
    await assert.rejects(listOf(100), UnreadableError);
  });

  it("reads all forms of global parallelism", async () => {
    const counts = { parallelismMax: 100, parallelismCount: 0 };
    assert.deepEqual(await answering(counts).flowControl.globalParallelism(), counts);
    for (const sent of [{ waitListSize: 3 }, { waitlistSize: 3 }]) {
      assert.deepEqual(await answering(sent).flowControl.globalParallelism(), { waitListSize: 3 });
    }
    const noCounts = { parallelismMax: 0, parallelismCount: 0 };
    for (const sent of [{}, { parallelismMax: 100 }, { parallelismCount: 2 }, { parallelismMax: 100, later: 1 }]) {
      const { later: _, ...known } = { later: 0, ...sent };
      assert.deepEqual(await answering(sent).flowControl.globalParallelism(), { ...noCounts, ...known });
    }
    for (const sent of [[], { later: 1 }, { parallelismMax: "1" }, "<html>"]) {
      await assert.rejects(answering(sent).flowControl.globalParallelism(), UnreadableError);
    }
  });

  for (const status of [200, 202, 204]) {
    it(`resets with a POST that may be repeated, and accepts ${status}`, async () => {
      const { flowControl, requester } = answering("", status);
      assert.equal(await flowControl.reset("a/b", false), "reset");
      const request = { method: "POST", path: "/v2/flowControl/a%2Fb/reset", idempotent: true, query: undefined };
      assert.deepEqual(sentBy(requester), [request]);
    });
  }

  it("resets with the action of the settings", async () => {
    const requester = new FakeRequester(() => ({}));
    await new FlowControl(requester, { name: "resetRate" }).reset("orders", true);
    assert.equal(requester.sent[0]?.path, "/v2/flowControl/orders/resetRate");
  });

  describe("with another action", () => {
    const consequences = { "not sent": "", rejected: "", "maybe applied": "" };
    const facts = { purpose: "reset", method: "POST", url: "https://platform.test", consequences };
    const rejectedWith = (status: number) =>
      new RejectedError(facts, { happened: "no", advice: "", status, inJson: false });
    /** A platform that refuses each action with a status. */
    const refusing = (statuses: Readonly<Record<string, number>>) => {
      const requester = new FakeRequester(({ path }) => {
        const status = statuses[path.split("/").at(-1)!];
        return status === undefined ? {} : rejectedWith(status);
      });
      const action = { name: "reset", otherwise: "resetRate" };
      const sent = () => requester.sent.map(({ path }) => path.split("/").slice(3).join(" "));
      return { flowControl: new FlowControl(requester, action), sent };
    };

    for (const status of [404, 405]) {
      it(`sends it after ${status}, and then for the rest of the run`, async () => {
        const { flowControl, sent } = refusing({ reset: status });
        assert.equal(await flowControl.reset("a", true), "resetRate");
        assert.equal(await flowControl.reset("b", false), "resetRate");
        assert.deepEqual(sent(), ["a reset", "a resetRate", "b resetRate"]);
      });
    }

    it("does not need it if the platform has the first", async () => {
      const { flowControl, sent } = refusing({});
      assert.equal(await flowControl.reset("a", true), "reset");
      assert.deepEqual(sent(), ["a reset"]);
    });

    it("fails without it if no read showed the key, or for another status", async () => {
      for (const { status, isKnown } of [
        { status: 404, isKnown: false },
        { status: 405, isKnown: false },
        { status: 403, isKnown: true },
        { status: 429, isKnown: true },
      ]) {
        const { flowControl, sent } = refusing({ reset: status });
        await assert.rejects(flowControl.reset("a", isKnown), RejectedError);
        assert.deepEqual(sent(), ["a reset"], String(status));
      }
    });

    it("does not remember it if the platform refuses that, too: the key may be gone", async () => {
      const statuses: Record<string, number> = { reset: 404, resetRate: 404 };
      const { flowControl, sent } = refusing(statuses);
      await assert.rejects(flowControl.reset("a", true), RejectedError);
      delete statuses["reset"];
      assert.equal(await flowControl.reset("b", true), "reset");
      assert.deepEqual(sent(), ["a reset", "a resetRate", "b reset"]);
    });
  });
});
