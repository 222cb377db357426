import assert from "node:assert/strict";
import { checkConnection } from "../../../../provider/engine/plugin/outputs";

describe("plugin: the check of a connection", () => {
  it("are checked as far as they are known", () => {
    const reasonsWith = (...unknown: string[]) =>
      checkConnection({ host: "a b", port: 0 }, new Set(unknown), () => undefined).map(({ reason }) => reason);
    assert.match(reasonsWith().join(), /^host must be a host name/);
    assert.match(reasonsWith("host").join(), /^port must be/);
    assert.deepEqual(reasonsWith("host", "port"), []);
  });

  it("are checked with the setting unless the host is not known", () => {
    const check = (...unknown: string[]) =>
      checkConnection({ tls: false }, new Set(unknown), () => ({ value: "db.example.com", source: "configuration" }));
    assert.deepEqual(
      check().map(({ property }) => property),
      ["tls"],
    );
    assert.deepEqual(check("host"), []);
  });

  it("passes on an error in the setting", () => {
    const fail = () => assert.fail("the setting cannot be used");
    assert.throws(() => checkConnection({ tls: false }, new Set(), fail), /the setting cannot be used/);
  });
});
