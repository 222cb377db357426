import assert from "node:assert/strict";
import { type ErrorCode, RekeyError } from "../../../../provider/domain/errors";
import { queueToken } from "../../../../provider/domain/secretKind";
import { emptyMemory } from "../../../../provider/rotation/memory/memory";
import { type Finding } from "../../../../provider/rotation/messages/findings";
import { type Addition, failureAfter } from "../../../../provider/rotation/messages/messages";
import { tableOf } from "../tables";

describe("messages: a failure says what the run has done, and nothing else", () => {
  const rows = tableOf(
    ["added", "found", "code", "becomes", "says"],
    `
    unproven    |              | REKEY_VERIFICATION_FAILED | REKEY_VERIFICATION_FAILED | has added a new one, which was not handed out. It has retired none that clients may use. What
    unproven    | retiredFirst | REKEY_VERIFICATION_FAILED | REKEY_VERIFICATION_FAILED | has added a new one, which was not handed out, and has retired the older one. What
    unproven    |              | REKEY_INTERNAL            | REKEY_INCOMPLETE          | has added a new one, which was not handed out. It has retired none that clients may use. What
    lost        |              | REKEY_UNCONFIRMED         | REKEY_UNCONFIRMED         | may have added a new one, which was not handed out. It has retired none that clients may use. What
    lost        | retiredFirst | REKEY_UNCONFIRMED         | REKEY_INCOMPLETE          | may have added a new one, which was not handed out, and has retired the older one. What
    handed over |              | REKEY_REJECTED            | REKEY_INCOMPLETE          | has added a new one. What
    handed over | retired      | REKEY_REJECTED            | REKEY_INCOMPLETE          | has added a new one, and has retired the former one. What
    -           | retiredFirst | REKEY_REJECTED            | REKEY_INCOMPLETE          | has retired the older one. What
    `,
  );
  for (const { added, found, code, becomes, says } of rows) {
    it(`${added}, ${found || "retired none"}: ${becomes}`, () => {
      const failure = new RekeyError(code as ErrorCode, "It broke.", "not sent");
      const findings = found ? [{ kind: found as Finding["kind"] }] : [];
      const state = { rotationCount: 1, memory: emptyMemory(new Date()) };
      const addition = added === "-" ? undefined : (added as Addition);
      const after = failureAfter({ kind: queueToken, id: "u" }, failure, { state, findings }, addition);
      assert.equal(after.code, becomes);
      assert.ok(after.text.includes(`is not complete: this run ${says} it could not finish is saved`), after.text);
      assert.match(after.text, /: It broke\.$/);
    });
  }
});
