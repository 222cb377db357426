import assert from "node:assert/strict";
import { databaseText } from "../../support/platformBodies";
import { FakeRequester } from "../../support/fakeRequester";
import { inProcessProvider } from "../../support/inProcessProvider";

describe("dynamic provider: a new resource", () => {
  const __provider = "exports.handler=…";
  const inputs = { databaseId: "db", __provider };
  const printed: string[] = [];
  const start = () => {
    printed.length = 0;
    const requester = new FakeRequester(() => ({ body: databaseText({ password: "p" }) }));
    return inProcessProvider(requester, (line) => printed.push(line));
  };

  it("is announced when it is checked, which previews do, too", async () => {
    const { passwordRotation } = start();
    await passwordRotation.check({}, inputs);
    assert.equal(printed.length, 1);
    assert.match(printed.join(), /^Password of database "db": will be reset, because the resource is new/);
  });

  it("is not announced if it is refused, adopted or saved already", async () => {
    const { passwordRotation, signingKeyRotation } = start();
    await passwordRotation.check({}, { ...inputs, verison: 1 });
    await passwordRotation.check({}, { ...inputs, initialRotation: false });
    await passwordRotation.check(inputs, inputs);
    await signingKeyRotation.check({ __provider }, { __provider, rotateEvery: "30d" });
    assert.deepEqual(printed, []);
  });

  it("is announced once if it replaces another one", async () => {
    const { passwordRotation } = start();
    const saved = { databaseId: "db", outcome: "adopted", rotationCount: 0, __provider };
    const other = { ...inputs, databaseId: "other" };
    await passwordRotation.check(inputs, other);
    await passwordRotation.diff("db", saved, other);
    await passwordRotation.check({}, other);
    assert.equal(printed.length, 1);
    assert.match(printed.join(), /^Password of database "other": will be reset, because the resource is new/);
  });
});
