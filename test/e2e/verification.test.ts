import assert from "node:assert/strict";
import { CredentialVerification, PasswordRotation } from "pulumi-rekey";
import { fails, succeeds, valuesOf } from "./engineStack";
import { closePlatforms, Consumer, TestStack } from "./memory";
import { assertFields } from "../support/results";

describe("A program with a CredentialVerification", () => {
  afterEach(closePlatforms);

  it("fails if the former password still works, without a further reset, and holds back a consumer that depends on it", async () => {
    let version = 1;
    const stack = await TestStack.start(
      () => {
        const { access, password } = new PasswordRotation("cache", { databaseId: "cache", version });
        const verification = new CredentialVerification("proof", { access, withinSeconds: version === 2 ? 1 : 20 });
        new Consumer("early", { password });
        new Consumer("late", { password }, { dependsOn: verification });
        const { verified, formerRefused } = verification;
        return { verified, formerRefused };
      },
      { databases: ["cache"], credentials: "always" },
    );
    await succeeds(stack.up());
    const first = stack.saved("late")?.["password"];
    version = 2;
    stack.platform.failNext({ path: /reset-password/, keepFormerPassword: true });
    for (let run = 0; run < 2; run++) {
      await fails(stack.up(), /old password is still/, /rotation itself is saved/);
      const { password } = stack.platform.database("cache");
      assertFields(stack.saved("cache"), { password, rotationCount: 2, outcome: "reset" });
      assert.deepEqual([stack.saved("early")?.["password"], stack.saved("late")?.["password"]], [password, first]);
      assert.equal(stack.platform.resetCount, 2);
    }
    version = 3;
    // Nothing is claimed of the second password, which was never verified.
    assert.deepEqual(valuesOf(await succeeds(stack.up())), { verified: true });
    assert.equal(stack.saved("late")?.["password"], stack.platform.database("cache").password);
  });
});
