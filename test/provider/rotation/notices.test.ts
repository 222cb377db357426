import assert from "node:assert/strict";
import {
  adoptionNotice,
  driftNotice,
  failedNotice,
  laterNotice,
  missingNotice,
  olderNotices,
  otherRollNotice,
  partNotice,
  unknownNotice,
  unseenNotice,
} from "../../../provider/rotation/notices";
import { databasePassword } from "../../../provider/rotation/kinds/databasePassword";
import { searchToken, vectorToken } from "../../../provider/rotation/kinds/indexToken";
import { signingKeys } from "../../../provider/rotation/kinds/signingKeys";
import { pluralOf, type Subject } from "../../../provider/platform/secretKind";

const database: Subject = { kind: databasePassword, id: "a" };
const keys: Subject = { kind: signingKeys, id: "signing-keys" };
const ifItLasts = "If it lasts, set a new version, which resets the password once more.";

describe("rotation: the notices of one secret", () => {
  it("say what is not known after a reset, why, and what happens next", () => {
    const textOf = (...[missing, last]: Parameters<typeof unknownNotice> extends [unknown, ...infer R] ? R : never) =>
      unknownNotice(database, missing, last).text.replace('The password of database "a" was reset, but ', "");
    const response = (what: string) =>
      `: the platform's response ${what}. Look in the platform's console. ${ifItLasts}`;
    const hidden = ": the platform neither returned it nor shows it when it is asked. ";
    const once = "The next `up` or refresh reads it once more, and resets nothing. ";
    const again = `The next \`up\` or refresh reads it again, and resets nothing. Until then, look in the platform's console. ${ifItLasts}`;
    const cases: readonly (readonly [made: string, expected: string])[] = [
      [
        textOf(["password"], { kind: "repeated" }),
        `its new password is not known${response("repeats the former credentials")}`,
      ],
      [textOf([], { kind: "left out" }), `the new one is not known${response("does not contain it")}`],
      [
        textOf(["password", "restToken"], { kind: "left out" }),
        `its new password and restToken are not known${response("does not contain it")}`,
      ],
      [
        textOf(["password"], { kind: "hidden" }),
        `its new password is not known${hidden}${once}To know it now, look in the platform's console.`,
      ],
      [
        textOf([], { kind: "current" }),
        `the new one is not known${hidden}To know it now, look in the platform's console.`,
      ],
      [
        textOf(["password"], { kind: "stale" }),
        `its new password is not known: the platform still shows the former credentials. ${again}`,
      ],
      [
        textOf(["password"], { kind: "unreadable", why: "timed out" }),
        `its new password is not known: the database could not be read (timed out). ${again}`,
      ],
    ];
    for (const [made, expected] of cases) assert.equal(made, expected);
  });

  it("name each credential that the platform does not show", () => {
    assert.match(unseenNotice(database, ["password", "restToken"]).text, /does not show password, restToken of/);
    assert.match(missingNotice(database, ["password", "restToken"]).text, /but not password, restToken: the former/);
  });

  it("say which secret is still older than rotatedSince, and until when", () => {
    const textsOf = (subject: Subject, plan: Parameters<typeof olderNotices>[1]) =>
      olderNotices(subject, plan).map(({ text }) => text);
    const due = { kind: "reset", reason: "rotatedSince" } as const;
    const older = "is still older than rotatedSince, or of unknown age";
    assert.deepEqual(textsOf(database, due), [
      `The password of database "a" ${older}. The next \`up\` resets it once more.`,
    ]);
    const waits = { reason: "rotatedSince", why: "it was rolled at noon" } as const;
    assert.deepEqual(textsOf(keys, { kind: "keep", waits }), [
      `The current key of the pair of signing keys ${older}: it was rolled at noon.`,
    ]);
    const others = [
      { kind: "keep" },
      { kind: "reset", reason: "schedule" },
      { kind: "adopt" },
      { kind: "keep", waits: { reason: "schedule", why: "" } },
    ] as const;
    for (const plan of others) assert.deepEqual(textsOf(database, plan), []);
  });

  it("have the kind by which a fleet summarizes them, and are warnings if something is to be done", () => {
    const made = {
      adopted: adoptionNotice(database),
      drift: driftNotice(database, ["port"]),
      roll: otherRollNotice(keys, "it timed out"),
      failed: failedNotice(database, ""),
      later: laterNotice(database),
      older: olderNotices(database, { kind: "reset", reason: "rotatedSince" })[0],
      part: partNotice(database),
    };
    const kindsOf = Object.fromEntries(
      Object.entries(made).map(([name, notice]) => [name, [notice?.kind, notice?.isWarning ?? false]]),
    );
    assert.deepEqual(kindsOf, {
      adopted: ["adopted", true],
      drift: ["drift", false],
      roll: ["drift", false],
      failed: ["failed", true],
      later: ["later", false],
      older: ["older", true],
      part: ["part", true],
    });
    assert.equal(made.failed.text, 'Could not read database "a". The saved state stays.');
    assert.match(made.later.text, /^The credentials of database "a" are not known: saveCredentials and encryptFor /);
    assert.match(
      made.part.text,
      /^The credentials of database "a" were changed outside of Rekey, .* has former ones\. /,
    );
  });

  it("name more than one secret of a kind", () => {
    const plurals = [databasePassword, vectorToken, searchToken, signingKeys].map(pluralOf);
    assert.deepEqual(plurals, ["databases", "vector indexes", "search indexes", "signing keys"]);
  });
});
