import assert from "node:assert/strict";
import { mock } from "node:test";
import * as pulumi from "@pulumi/pulumi";
import { CredentialVerification, PasswordRotation } from "pulumi-rekey";
import { startMocks, valueOf } from "./pulumiMocks";

describe("sdk: a CredentialVerification that retires", () => {
  afterEach(() => mock.restoreAll());

  /** The warnings of a program with one, and a resource that it may depend on. */
  async function warningsOf(retireFormer: boolean, isDependent: boolean): Promise<string[]> {
    await startMocks();
    const warn = mock.method(pulumi.log, "warn", async () => undefined);
    const rotation = new PasswordRotation("db", { databaseId: "db" });
    const options = isDependent ? { dependsOn: rotation } : {};
    await valueOf(new CredentialVerification("proof", { access: rotation.access, retireFormer }, options).urn);
    return warn.mock.calls.map(({ arguments: [line] }) => String(line));
  }

  it("warns if it depends on nothing that uses the secret", async () => {
    const [warning = "", ...others] = await warningsOf(true, false);
    assert.match(warning, /^CredentialVerification "proof": retireFormer is set without the option dependsOn/);
    assert.deepEqual(others, []);
  });

  it("does not warn if it does, nor if it retires nothing", async () => {
    assert.deepEqual(await warningsOf(true, true), []);
    assert.deepEqual(await warningsOf(false, false), []);
  });
});
