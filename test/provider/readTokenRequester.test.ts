import assert from "node:assert/strict";
import { InternalError, NotSentError, RejectedError } from "../../provider/platform/errors";
import { FlowControl } from "../../provider/platform/flowControl";
import { queueToken } from "../../provider/platform/queueToken";
import { SecretOperations } from "../../provider/platform/secretOperations";
import { type ReadToken, ReadTokenRequester } from "../../provider/readTokenRequester";
import { FakeRequester } from "../support/fakeRequester";

const facts = {
  purpose: "do it",
  method: "GET",
  url: "https://platform.test/x",
  consequences: { "not sent": "", rejected: "Unchanged.", "maybe applied": "" },
};
const rejected = (status: number) =>
  new RejectedError(facts, { happened: `it responded with ${status}`, advice: "Check it.", status, inJson: true });

describe("platform: requests to the queue with a token that is read", () => {
  /** What the platform shows when the user is read, one entry for each read. */
  let shown: (string | undefined | Error)[];
  /** The tokens that the queue accepts. */
  let accepted: string[];
  let used: string[];
  let token: ReadToken;
  let management: FakeRequester;
  let requester: ReadTokenRequester;
  let queue: FlowControl;

  beforeEach(() => {
    shown = ["t1"];
    accepted = ["t1"];
    used = [];
    token = {};
    management = new FakeRequester(() => {
      const next = shown.shift();
      return next instanceof Error ? next : { body: JSON.stringify({ id: "u1", token: next }) };
    });
    const requesterWith = (sent: string) =>
      new FakeRequester(({ path }) => {
        used.push(sent);
        if (!accepted.includes(sent)) return rejected(401);
        return { body: path.endsWith("rotate") ? '{"current":"c","next":"n"}' : '{"parallelismCount":0}' };
      });
    const users = new SecretOperations(management, queueToken, queueToken.paths ?? { reset: "", read: "" });
    const sources = { userId: "u1", baseUrl: "https://queue.test", users, requesterWith };
    requester = new ReadTokenRequester(token, sources, management.secrets);
    queue = new FlowControl(requester, { name: "reset" });
  });

  const reads = () => management.sent.map(({ method, path }) => `${method} ${path}`);
  const read = "GET /v2/qstash/user/u1";
  const post = (idempotent: boolean) =>
    requester.send({ ...facts, method: "POST", path: "/v2/keys/rotate", idempotent });

  it("read it once, on first use, and keep it secret", async () => {
    assert.deepEqual(reads(), []);
    await Promise.all([queue.globalParallelism(), queue.globalParallelism()]);
    await queue.globalParallelism();
    assert.deepEqual(reads(), [read]);
    assert.deepEqual(used, ["t1", "t1", "t1"]);
    shown = ["a-new-token"];
    accepted = ["a-new-token"];
    await queue.globalParallelism();
    assert.equal(management.secrets.redact("it is a-new-token"), "it is …");
  });

  it("read it once more if it is refused, also if several are at the same time", async () => {
    await queue.globalParallelism();
    accepted = ["t2"];
    shown = ["t2"];
    await Promise.all([queue.globalParallelism(), queue.globalParallelism()]);
    assert.deepEqual(reads(), [read, read]);
    assert.deepEqual(used, ["t1", "t1", "t1", "t2", "t2"]);
  });

  it("are not sent again with the token that was refused, nor a second time with a new one", async () => {
    accepted = [];
    shown = ["t1", "t1"];
    await assert.rejects(queue.globalParallelism(), /responded with 401/);
    assert.deepEqual(used, ["t1"]);
    shown = ["t2"];
    await assert.rejects(queue.globalParallelism(), /responded with 401/);
    assert.deepEqual(used, ["t1", "t1", "t2"]);
    assert.equal(reads().length, 3);
  });

  it("are not sent again if they may not be repeated", async () => {
    accepted = [];
    await assert.rejects(post(false), /responded with 401/);
    assert.deepEqual([used, reads()], [["t1"], [read]]);
    accepted = ["t2"];
    shown = ["t2"];
    await post(true);
    assert.deepEqual(used, ["t1", "t1", "t2"]);
  });

  it("are not sent again after another failure", async () => {
    accepted = ["t2"];
    const forbidden = new ReadTokenRequester(
      token,
      {
        userId: "u1",
        baseUrl: "",
        users: new SecretOperations(management, queueToken, { reset: "", read: "/{id}" }),
        requesterWith: () => new FakeRequester(() => rejected(403)),
      },
      management.secrets,
    );
    await assert.rejects(new FlowControl(forbidden, { name: "reset" }).globalParallelism(), /responded with 403/);
    assert.equal(reads().length, 1);
  });

  it("are not sent if it cannot be read, and then a key is not taken for one that does not exist", async () => {
    shown = [rejected(404)];
    const expected =
      /^Could not read the flow-control key "orders": the token of queue user "u1" \(rekey:queueUserId\) could not be read: it responded with 404; .*or no queue user with this id \(GET https:\/\/queue\.test\/v2\/flowControl\/orders\)\. Nothing was changed\. Check the id/;
    await assert.rejects(queue.get("orders"), (error) => {
      assert.ok(error instanceof NotSentError);
      assert.match(error.message, expected);
      return true;
    });
    assert.deepEqual(used, []);
    shown = ["t1"];
    await queue.globalParallelism();
    assert.equal(reads().length, 2, "a failed read is not kept");
  });

  for (const hidden of [undefined, "***", "a b", "ü"]) {
    it(`are not sent if the platform shows no token that can be sent: ${hidden}`, async () => {
      shown = [hidden];
      await assert.rejects(
        queue.globalParallelism(),
        /does not show the token of queue user "u1" \(rekey:queueUserId\).*Set rekey:queueToken instead of rekey:queueUserId\./,
      );
      assert.deepEqual(used, []);
    });
  }

  it("use a new token that is set", async () => {
    await queue.globalParallelism();
    token.current = Promise.resolve("t2");
    accepted = ["t2"];
    await queue.globalParallelism();
    assert.deepEqual([used, reads()], [["t1", "t2"], [read]]);
  });

  it("pass on errors that the read did not cause", async () => {
    shown = [new InternalError({ secret: "x", word: "y" }, new Error("z"))];
    await assert.rejects(queue.globalParallelism(), InternalError);
  });
});
