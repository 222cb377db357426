import assert from "node:assert/strict";
import * as pulumi from "@pulumi/pulumi";
import { AclUserRotation, type AclUserRotationArgs, CredentialVerification } from "pulumi-rekey";
import { isSecret } from "../support/wire";
import { startMocks, valueOf } from "./pulumiMocks";

describe("sdk: the admin of an AclUserRotation", () => {
  const values = { host: "redis.example.com", port: 6379, password: "p" };
  const given: Readonly<Record<string, AclUserRotationArgs["admin"]>> = {
    "a text": "{}",
    "an output": pulumi.output("{}"),
    values,
    "values with an output": { ...values, password: pulumi.output("p") },
    "a secret": pulumi.secret(values),
  };
  for (const [what, admin] of Object.entries(given)) {
    it(`reaches the engine as a secret if it is given as ${what}`, async () => {
      const registered = await startMocks();
      await valueOf(new AclUserRotation("a", { userName: "app", admin }).urn);
      const { inputs } = registered[0] ?? assert.fail();
      assert.ok(isSecret(inputs["admin"]));
      assert.deepEqual(inputs["admin"].value, await valueOf(pulumi.output(admin)));
    });
  }

  it("is one like the credential of a verification", async () => {
    const registered = await startMocks();
    const http = { url: "https://api.example.com" };
    await valueOf(new CredentialVerification("a", { credential: "key", http }).urn);
    assert.ok(isSecret(registered[0]?.inputs["credential"]));
  });
});
