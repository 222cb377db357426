import { CredentialVerification, QueueTokenRotation } from "pulumi-rekey";
import { Team } from "../support/age";
import { fails } from "./engineStack";
import { closePlatforms, TestStack } from "./memory";

const queueUserId = "00000000-0000-4000-8000-000000000001";

describe("review: a verification of a queue token that is only encrypted", () => {
  afterEach(closePlatforms);

  it("says that no read shows it before the former one is retired, and what retires it", async () => {
    const { recipient } = await Team.create();
    const stack = await TestStack.start(
      () => {
        const all = { queueUserId, version: 1, saveCredentials: false, encryptFor: [recipient] };
        const { access } = new QueueTokenRotation("queue", all);
        new CredentialVerification("proof", { access, withinSeconds: 0.1, retireFormer: true });
        return {};
      },
      { credentials: "read" },
    );
    delete stack.config["rekey:queueToken"];
    stack.config["rekey:queueUserId"] = queueUserId;
    await fails(stack.up(), /Set overlap to a duration/);
  });
});
