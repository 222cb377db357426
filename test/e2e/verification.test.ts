import assert from "node:assert/strict";
import {
  CredentialVerification,
  PasswordRotation,
  QueueTokenRotation,
  SearchTokenRotation,
  VectorTokenRotation,
} from "pulumi-rekey";
import { fails, succeeds, valuesOf } from "./engineStack";
import { closePlatforms, Consumer, TestStack } from "./memory";
import { assertFields } from "../support/results";

describe("A program with a CredentialVerification", () => {
  let version: number;
  beforeEach(() => (version = 1));
  afterEach(closePlatforms);

  it("fails if the former password still works, without a further reset, and holds back a consumer that depends on it", async () => {
    const stack = await TestStack.start(
      () => {
        const { access, password } = new PasswordRotation("cache", { databaseId: "cache", version });
        const verification = new CredentialVerification("proof", { access, withinSeconds: 1 });
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

  it("names the output that is meant if access is the whole rotation, and resets nothing", async () => {
    const stack = await TestStack.start(
      () => {
        const cache = new PasswordRotation("cache", { databaseId: "cache", version });
        new CredentialVerification("proof", { access: cache as never });
      },
      { databases: ["cache"] },
    );
    const meant = /CredentialVerification "proof": access is a resource, .* `rotation\.access` .*No request was made/;
    await fails(stack.preview(), meant);
    await fails(stack.up(), meant);
    assert.equal(stack.platform.resetCount, 0);
  });

  it("shows that new tokens are accepted and the former ones refused", async () => {
    const queueUserId = "00000000-0000-4000-8000-000000000001";
    const program = () => {
      const rotations = {
        vectors: new VectorTokenRotation("vectors", { indexId: "idx-vectors", version }),
        search: new SearchTokenRotation("search", { indexId: "idx-search", version }),
        queue: new QueueTokenRotation("queue", { queueUserId, version, overlap: "none" }),
      };
      const verified = Object.entries(rotations).map(([name, { access }]) => {
        const { verified, formerRefused } = new CredentialVerification(name, { access, withinSeconds: 1 });
        return [name, { verified, formerRefused }] as const;
      });
      return Object.fromEntries(verified);
    };
    const stack = await TestStack.start(program, { credentials: "read" });
    await fails(stack.up(), /REKEY_QUEUE_TOKEN_IN_USE/);
    delete stack.config["rekey:queueToken"];
    stack.config["rekey:queueUserId"] = queueUserId;
    for (const expected of [{ verified: true }, { verified: true, formerRefused: true }]) {
      const outputs = valuesOf(await succeeds(stack.up()));
      assert.deepEqual(outputs, { vectors: expected, search: expected, queue: expected });
      version = 2;
    }
  });
});
