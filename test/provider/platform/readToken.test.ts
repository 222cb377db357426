import assert from "node:assert/strict";
import { RequestError } from "../../../provider/domain/errors";
import { FlowControl } from "../../../provider/platform/flowControl";
import { queueToken } from "../../../provider/domain/secretKind";
import { SecretOperations } from "../../../provider/platform/secretOperations";
import { ReadTokenRequester } from "../../../provider/platform/readToken";
import { FakeRequester } from "../../support/fakeRequester";

const facts = {
  purpose: "do it",
  method: "GET",
  url: "https://platform.test/x",
  consequences: { unchanged: "Unchanged.", unknown: "" },
};
const rejected = (status: number) =>
  new RequestError("rejected", facts, { happened: `it responded with ${status}`, advice: "Check it.", status });

describe("requests to the queue with a token that is read", () => {
  /** What the platform shows when the user is read, one entry for each read. */
  let shown: (string | undefined | RequestError)[];
  /** The tokens that the queue accepts, and how it refuses others. */
  let accepted: string[];
  let refusal: number;
  let used: string[];
  let user: ConstructorParameters<typeof ReadTokenRequester>[0];
  let management: FakeRequester;
  let requester: ReadTokenRequester;
  let queue: FlowControl;

  beforeEach(() => {
    [shown, accepted, refusal, used, user] = [["t1"], ["t1"], 401, [], {}];
    management = new FakeRequester(() => {
      const next = shown.shift();
      return next instanceof RequestError ? next : { body: JSON.stringify({ id: "u1", token: next }) };
    });
    const requesterWith = (sent: string) =>
      new FakeRequester(() => {
        used.push(sent);
        return accepted.includes(sent) ? { body: '{"parallelismCount":0}' } : rejected(refusal);
      });
    const paths = { reset: "/v2/qstash/rotate-token/{id}", read: "/v2/qstash/user/{id}" };
    const users = new SecretOperations(management, queueToken, paths);
    const sources = { userId: "u1", baseUrl: "https://queue.test", users, requesterWith };
    requester = new ReadTokenRequester(user, sources, management.secrets);
    queue = new FlowControl(requester, { resetAction: "reset" });
  });

  const get = () => queue.globalParallelism();
  const reads = () => management.sent.length;

  it("read it once, on first use, keep it secret, and use one that is set", async () => {
    assert.equal(reads(), 0);
    await Promise.all([get(), get()]);
    user.current = Promise.resolve({ credentials: { token: "t2" } });
    accepted = ["t2"];
    await get();
    assert.deepEqual([reads(), used], [1, ["t1", "t1", "t2"]]);
    assert.deepEqual(
      management.sent.map(({ method, path }) => `${method} ${path}`),
      ["GET /v2/qstash/user/u1"],
    );
    [shown, accepted] = [["a-new-token"], ["a-new-token"]];
    await get();
    assert.equal(management.secrets.redact("it is a-new-token"), "it is …");
  });

  const post = (idempotent: boolean) =>
    requester.send({ ...facts, method: "POST", path: "/v2/keys/rotate", idempotent });
  const cases: Readonly<
    Record<string, { send: () => Promise<unknown>; status?: number; shows: string; used: string[]; fails?: RegExp }>
  > = {
    "read it once more if it is refused, also if several are": {
      send: () => Promise.all([get(), get()]),
      shows: "t2",
      used: ["t1", "t1", "t2", "t2"],
    },
    "are not sent again with the token that was refused": { send: get, shows: "t1", used: ["t1"], fails: / 401$/ },
    "are not sent a second time with a new one": { send: get, shows: "t3", used: ["t1", "t3"], fails: / 401$/ },
    "are not sent again if they may not be repeated": {
      send: () => post(false),
      shows: "t2",
      used: ["t1"],
      fails: / 401$/,
    },
    "are sent again if they may be repeated": { send: () => post(true), shows: "t2", used: ["t1", "t2"] },
    "are not sent again after another failure": { send: get, status: 403, shows: "t2", used: ["t1"], fails: / 403$/ },
  };
  for (const [title, { send, status = 401, shows, used: expected, fails }] of Object.entries(cases)) {
    it(title, async () => {
      [shown, accepted, refusal] = [["t1", shows], ["t2"], status];
      const result = await send().then(
        () => undefined,
        ({ happened }: RequestError) => happened,
      );
      assert.deepEqual(used, expected);
      if (fails) assert.match(result ?? "", fails);
      else assert.equal(result, undefined);
    });
  }

  it("are not sent if it cannot be read, and then a key is not taken for one that does not exist", async () => {
    shown = [rejected(404), "t1"];
    const expected =
      /^Could not read the flow-control key "orders": the token of queue user "u1" \(rekey:queueUserId\) could not be read: it responded with 404 \(GET https:\/\/queue\.test\/v2\/flowControl\/orders\)\. Nothing was changed\. Check it/;
    await assert.rejects(queue.get("orders"), (error) => {
      assert.ok(error instanceof RequestError && error.delivery === "not sent");
      assert.match(error.message, expected);
      return true;
    });
    assert.deepEqual(used, []);
    await get();
    assert.equal(reads(), 2, "a failed read is not kept");
  });

  it("are not sent if the platform shows no token that can be sent", async () => {
    for (const hidden of [undefined, "", "***", "a b", "ü"]) {
      shown = [hidden];
      const expected =
        /does not show the token of queue user "u1" \(rekey:queueUserId\).*Use an API key that is not read-only, or set rekey:queueToken instead of rekey:queueUserId\./;
      await assert.rejects(get(), expected, hidden);
    }
    assert.deepEqual(used, []);
  });
});
