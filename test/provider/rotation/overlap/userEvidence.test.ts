import assert from "node:assert/strict";
import { hashOf } from "../../../../provider/clients/aclReplies";
import { type AclUsers } from "../../../../provider/clients/aclUsers";
import { afterUserRead, formerHashes, hashInList } from "../../../../provider/rotation/overlap/userEvidence";
import { type State, stateIn } from "../../../../provider/rotation/state";
import { FakeAclUsers } from "../../../support/fakeAclUsers";
import { RealResource } from "../../../support/redisUser";

const admin = { host: "redis.example.com", port: 6379, password: "admin" };
const [first, second, made, others] = ["first", "second", "made-1", "someone else's"].map(hashOf) as [
  string,
  string,
  string,
  string,
];

/** The states of a user that had two passwords. */
async function statesOf() {
  const users = new FakeAclUsers(["first", "second"]);
  const user = new RealResource("AclUserRotation");
  const up = async (more: object): Promise<State> => {
    const run = user.start({ aclUsers: () => users as unknown as AclUsers });
    await user.up({ userName: "app", admin, ...more }, run);
    return stateIn(user.outputs);
  };
  const adopted = await up({ version: 1, initialRotation: false });
  const rotated = await up({ version: 2 });
  return { adopted, rotated };
}

describe("rotation: what the list of a user's passwords shows", () => {
  let states: Awaited<ReturnType<typeof statesOf>>;
  before(async () => void (states = await statesOf()));
  const read = (state: State, ...hashes: string[]) => {
    const { state: after, findings } = afterUserRead(state, { isOn: true, hasNoPassword: false, hashes }, "app");
    return { former: after.memory.overlap?.hashes, said: findings.map(({ why }) => why).join("\n") };
  };

  it("nothing, if all that is known is there", () => {
    assert.deepEqual(read(states.rotated, first, second, made), { former: [first, second], said: "" });
  });

  it("which former ones were retired", () => {
    assert.deepEqual(read(states.rotated, second, made), { former: [second], said: "" });
    assert.deepEqual(read(states.rotated, made), { former: undefined, said: "" });
  });

  it("that the current one is gone, and the former ones stay known", () => {
    const { former, said } = read(states.rotated, first);
    assert.deepEqual(former, [first]);
    assert.match(said, /does not have the current password any more.*Set a new version/);
  });

  it("how many are not known to Rekey", () => {
    assert.match(read(states.rotated, first, made, others).said, /^the user has 1 password that Rekey does not know/);
    const two = read(states.rotated, made, others, hashOf("another"));
    assert.match(two.said, /^the user has 2 passwords that Rekey does not know.*`ACL SETUSER app !<hash>`/);
  });

  it("how many the user has before the first rotation, whose retirement removes them all", () => {
    assert.deepEqual(read(states.adopted), { former: undefined, said: "the user has no password." });
    const three = read(states.adopted, first, second, others);
    assert.match(three.said, /^the user has 3 passwords that Rekey did not make\. The first retirement removes all/);
    const { adopted, rotated } = states;
    const list = (...hashes: string[]) => ({ isOn: true, hasNoPassword: false, hashes });
    assert.deepEqual(formerHashes(adopted, list(first, second, others)), [first, second, others]);
    const withAdded = {
      ...adopted,
      memory: { ...adopted.memory, added: { reason: "created", trigger: "", hash: others } },
    };
    assert.deepEqual(formerHashes(withAdded as State, list(first, others)), [first]);
    assert.deepEqual(formerHashes(rotated, list(first, made, others)), [first, made], "what was not retired, too");
  });

  it("under which hash it lists a token: its SHA-256, otherwise the only one that is new", () => {
    assert.equal(hashInList(made, [first], [first, others, made]), made);
    assert.equal(hashInList(made, [first], [first, others]), others);
    assert.equal(hashInList(made, [first], [first, others, second]), undefined);
    assert.equal(hashInList(made, [first], [first]), undefined);
  });
});
