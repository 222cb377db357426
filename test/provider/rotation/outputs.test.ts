import assert from "node:assert/strict";
import { outputsOf, secretOutputsOf } from "../../../provider/rotation/outputs";
import { kinds } from "../../../provider/rotation/kinds/kinds";

const ofState = ["appliedTrigger", "attemptedTrigger", "account", "formerMarks", "currentMarks"];
const ofAttempts = ["outcome", "rotatedAt", "adoptedAt", "rotationCount", "rotationReason", "unconfirmedResets"];
const ofSince = ["appliedSince", "attemptedSince", "attemptedAt"];
const ofRolls = ["lastRolledAt", "currentKeySince", "nextKeySince"];
const ofReads = ["missingCredentials", "encryptedCredentials", "encryptedFor"];
const common = ["exactIntegers", "problems", ...ofAttempts, ...ofSince, ...ofReads];

describe("rotation: the outputs of a resource", () => {
  const expected: Readonly<Record<keyof typeof kinds, readonly [plain: string[], secret: string[]]>> = {
    PasswordRotation: [
      ["databaseId", "record"],
      ["password", "restToken", "readOnlyRestToken"],
    ],
    VectorTokenRotation: [
      ["indexId", "record"],
      ["token", "readOnlyToken", "restUrl"],
    ],
    SearchTokenRotation: [
      ["indexId", "record"],
      ["token", "readOnlyToken", "restUrl"],
    ],
    QueueTokenRotation: [
      ["queueUserId", "record"],
      ["token", "readOnlyToken"],
    ],
    SigningKeyRotation: [
      ["subject", ...ofRolls],
      ["currentKey", "nextKey"],
    ],
  };

  for (const [type, [plain, credentials]] of Object.entries(expected)) {
    it(`${type}: all of them, and those that are secret`, () => {
      const kind = kinds[type as keyof typeof kinds];
      const secret = [...credentials, "otherFields", ...ofState];
      assert.deepEqual(outputsOf(kind).sort(), [...plain, ...common, ...secret].sort());
      // Never shown as outputs of a resource.
      assert.deepEqual(secretOutputsOf(kind).sort(), [...secret, "saving", "baseline"].sort());
    });
  }
});
