import assert from "node:assert/strict";
import { checkConnection, outputsOf, secretsOf, withNextRotation } from "../../../../provider/engine/plugin/outputs";
import { resources } from "../../../../provider/engine/resources";
import { isSecret, secret, unknown } from "../../../support/wire";

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

describe("plugin: the outputs that the SDK derives in the program", () => {
  const { PasswordRotation, SigningKeyRotation, FlowControlReset } = resources;
  const derivedOf = (resource: Parameters<typeof outputsOf>[0]) =>
    outputsOf(resource).filter((name) => !resource.outputs.includes(name));
  const derivedSecretsOf = (resource: Parameters<typeof outputsOf>[0]) =>
    secretsOf(resource).filter((name) => !resource.secretOutputs.includes(name));

  it("are the next rotation of each, and the secret URLs of a database", () => {
    assert.deepEqual(derivedOf(PasswordRotation), ["nextRotationAt", "connectionUrl", "restUrl"]);
    assert.deepEqual(derivedSecretsOf(PasswordRotation), ["connectionUrl", "restUrl"]);
    assert.deepEqual(derivedOf(SigningKeyRotation), ["nextRotationAt"]);
    assert.deepEqual(derivedOf(FlowControlReset), []);
    for (const resource of [SigningKeyRotation, FlowControlReset]) assert.deepEqual(derivedSecretsOf(resource), []);
  });

  it("have the next rotation from the last one or the adoption, secret if rotateEvery is", () => {
    const next = (outputs: object, rotateEvery: unknown) =>
      withNextRotation(PasswordRotation, { ...outputs }, { rotateEvery })["nextRotationAt"];
    const [last, expected] = ["2026-11-01T00:00:00.000Z", "2026-11-02T00:00:00.000Z"];
    assert.equal(next({ rotatedAt: last }, "1d"), expected);
    assert.equal(next({ adoptedAt: last }, "1d"), expected);
    assert.equal(next({ rotatedAt: last, adoptedAt: expected }, "1d"), expected);
    assert.ok(isSecret(next({ rotatedAt: last }, secret("1d"))));
    assert.equal(next({ rotatedAt: last }, unknown), unknown);
    for (const outputs of [{ rotatedAt: "2026" }, {}]) assert.equal(next(outputs, secret("1d")), undefined);
    assert.equal(next({ rotatedAt: last }, undefined), undefined);
    assert.deepEqual(withNextRotation(FlowControlReset, { rotatedAt: last }, { rotateEvery: "1d" }), {
      rotatedAt: last,
    });
  });
});
