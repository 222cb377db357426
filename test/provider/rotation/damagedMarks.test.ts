import assert from "node:assert/strict";
import { StateError } from "../../../provider/platform/errors";
import { readMarked, readMarks } from "../../../provider/rotation/marks";

const salt = "AAECAwQFBgcICQoLDA0ODw";
const mark = "zmXRPcpaT57JQams";

describe("rotation: damaged marks", () => {
  const readers: Readonly<Record<string, (text: string) => unknown>> = {
    currentMarks: readMarked,
    formerMarks: (text) => readMarks(text),
  };
  const damaged: Readonly<Record<string, readonly string[]>> = {
    currentMarks: [
      "",
      `1:${salt}`,
      `01:${salt}:0=${mark}`,
      `1:${salt}:0=${mark},`,
      `1:${salt}:0=${mark}x`,
      `1:${salt}:0=${mark},9=${mark}`,
      `1:${salt}:9=${mark},0=${mark}`,
    ],
    formerMarks: ["", `01:0:${salt}:${mark}:`, `1:0:${salt}:${mark}`, `1:0:${salt}:${mark}::${mark}x`, `1:x:${salt}::`],
  };
  for (const [output, texts] of Object.entries(damaged)) {
    for (const text of texts) {
      it(`are refused as ${output}: ${JSON.stringify(text)}`, () => {
        assert.throws(
          () => readers[output]?.(text),
          (error) => {
            assert.ok(error instanceof StateError);
            assert.equal(
              error.message,
              `The saved output ${output} cannot be read: the state is damaged. Nothing was sent. Use the version of pulumi-rekey that wrote it, or a newer one, or restore an earlier export of the state. [REKEY_STATE_UNREADABLE]`,
            );
            return true;
          },
        );
      });
    }
  }

  it("are refused as formerMarks if they have another salt than others of the same secret", () => {
    assert.throws(
      () => readMarks(`1:0:${salt}:${mark}:`, "B".repeat(22)),
      /^StateError: The saved output formerMarks /,
    );
    assert.deepEqual(readMarks(`1:0:${salt}:${mark}:`, salt), { salt, rank: 0, former: [mark] });
  });
});
