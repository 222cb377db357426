import assert from "node:assert/strict";
import { FlowControlReset, PasswordRotation } from "pulumi-rekey";
import { succeeds } from "./engineStack";
import { closePlatforms, TestStack } from "./memory";

describe("A process with many runs", () => {
  afterEach(closePlatforms);

  it("has no more listeners after the last one than after the first: Node would warn of a leak", async () => {
    const stack = await TestStack.start(
      () => {
        new PasswordRotation("cache", { databaseId: "cache" });
        new FlowControlReset("orders", { flowControlKey: "orders" });
      },
      { databases: ["cache"], credentials: "always" },
    );
    const emitters = [process, process.stdout, process.stderr];
    const counts = () => emitters.map((one) => one.eventNames().map((name) => [name, one.listenerCount(name)]));
    const warnings: string[] = [];
    const onWarning = ({ name }: Error) => warnings.push(name);
    process.on("warning", onWarning);
    try {
      await succeeds(stack.up());
      const first = counts();
      for (let run = 0; run < 12; run++) await succeeds(stack.up());
      assert.deepEqual(counts(), first);
      assert.deepEqual(warnings, []);
    } finally {
      process.off("warning", onWarning);
    }
  });
});
