import assert from "node:assert/strict";
import { RekeyError } from "../../../provider/domain/errors";
import { reporting } from "../../../provider/engine/adapter";
import { createProviders } from "../../../provider/engine/dynamic";
import { InProcessAdapter } from "../../fuzz/inProcessAdapter";
import { databaseText } from "../../support/platformBodies";

describe("the dynamic provider", () => {
  const __provider = "exports.handler=…";
  const inputs = { databaseId: "db", __provider };
  let process: InProcessAdapter;
  beforeEach(() => {
    process = new InProcessAdapter();
    process.answer = () => databaseText({ password: "p" });
  });

  it("announces a new resource when it is checked, which previews do, unless it is refused or saved", async () => {
    const { PasswordRotation, SigningKeyRotation } = process.adapter;
    await PasswordRotation.check({}, { ...inputs, verison: 1 });
    await PasswordRotation.check(inputs, inputs);
    await SigningKeyRotation.check({ __provider }, { __provider, rotateEvery: "30d" });
    assert.deepEqual(process.said, []);
    await PasswordRotation.check({}, inputs);
    assert.equal(process.said.length, 1);
    assert.match(process.said.join(), /^Resets the password of database "db", because the resource is new/);
    await PasswordRotation.check({}, { ...inputs, initialRotation: false });
    assert.match(
      process.said[1] ?? "",
      /^The password of database "db" is adopted, not reset\. To reset it, set a new version/,
    );
  });

  it("reports an error to each of two calls that share a request", async () => {
    const shared = Promise.reject(new RekeyError("REKEY_REJECTED", "it broke", "rejected"));
    const call = reporting(() => shared);
    for (let times = 0; times < 2; times++) await assert.rejects(call(), /^pulumi-rekey$|it broke.*REKEY_REJECTED/);
  });

  it("announces a replacement once", async () => {
    const { PasswordRotation } = process.adapter;
    const { outs: saved = {} } = await PasswordRotation.create({ ...inputs, initialRotation: false });
    const plain = { ...inputs, outcome: saved["outcome"], memory: (saved["memory"] as { value: string }).value };
    process.said.length = 0;
    const other = { ...inputs, databaseId: "other" };
    await PasswordRotation.check(inputs, other);
    assert.deepEqual((await PasswordRotation.diff("db", plain, other)).replaces, ["databaseId"]);
    await PasswordRotation.check({}, other);
    assert.equal(process.said.length, 1);
    assert.match(process.said.join(), /^Resets the password of database "other", because the resource is new/);
  });

  it("updates what the plugin has saved, which names no provider, without a request", async () => {
    const { PasswordRotation } = process.adapter;
    const { outs: saved = {} } = await PasswordRotation.create({ ...inputs, initialRotation: false });
    const ofPlugin = { ...saved, memory: (saved["memory"] as { value: string }).value, __provider: undefined };
    const { length } = process.sent;
    const changes = [ofPlugin, { ...ofPlugin, __provider }].map((outputs) =>
      PasswordRotation.diff("db", outputs, inputs),
    );
    assert.deepEqual(
      (await Promise.all(changes)).map((one) => one.changes),
      [true, false],
    );
    assert.equal((await PasswordRotation.update("db", ofPlugin, inputs)).outs?.["__provider"], __provider);
    assert.equal(process.sent.length, length);
  });

  it("changes nothing if the host is too old to pass on the configuration: the environment may name another platform", async () => {
    const { PasswordRotation, FlowControlReset } = createProviders(() => assert.fail("it has no settings"));
    const refused =
      /did not pass on the .* No request was made\. Install @pulumi\/pulumi 3\.139\.0 or later .*REKEY_PULUMI_TOO_OLD/;
    for (const provider of [PasswordRotation, FlowControlReset]) {
      await assert.rejects(provider.check({}, inputs), { message: refused });
      await assert.rejects(provider.create(inputs), { message: refused });
      await assert.rejects(provider.update("db", inputs, inputs), { message: refused });
    }
  });
});
