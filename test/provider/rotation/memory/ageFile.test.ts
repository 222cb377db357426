import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { encrypt, recipientsProblem } from "../../../../provider/rotation/memory/ageFile";
import { Team, whyNoAge } from "../../../support/age";
import { Folder } from "../../../support/folder";

/** What `age-keygen` writes: the identity below comments, one of which has the recipient. */
function keysOf({ identity, recipient }: Team): string {
  return `# created: 2026-11-24T00:00:00Z\n# public key: ${recipient}\n${identity}\n`;
}

describe("ageFile: encrypted credentials", () => {
  const text = JSON.stringify({ password: 'quotes " and ünicode', port: 1 });

  it("are a file that each recipient can decrypt, and others cannot", async () => {
    const [one, two, other] = await Promise.all([Team.create(), Team.create(), Team.create()]);
    const file = await encrypt(text, [one.recipient, two.recipient]);
    assert.match(file, /^-----BEGIN AGE ENCRYPTED FILE-----\n[\w+/=\n]+-----END AGE ENCRYPTED FILE-----\n?$/);
    for (const team of [one, two]) assert.deepEqual(await team.decrypt(file), JSON.parse(text));
    await assert.rejects(other.decrypt(file), /no identity matched/);
  });

  it("are for recipients of age only: what is none is refused by its place, without its value", async () => {
    const { identity, recipient } = await Team.create();
    const rows: readonly (readonly [given: readonly unknown[], problem: string | undefined])[] = [
      [[], "must contain a recipient of age (age1…)"],
      [[recipient, recipient], undefined],
      [[recipient, 7], "[1] must be a recipient of age (age1…), not a number"],
      [[recipient.slice(0, -1)], "[0] is not a recipient of age (age1…), or is incomplete"],
    ];
    for (const [given, problem] of rows) assert.equal(recipientsProblem(given), problem);
    for (const key of [identity, identity.toLowerCase()]) {
      assert.match(recipientsProblem([key]) ?? "", /^\[0\] is a secret key: remove it from the program, and use its/);
    }
  });

  const title = "are decrypted by `age` with a keys.txt of several identities, as SOPS uses it";
  if (whyNoAge !== undefined) return void it.skip(`${title} (skipped: ${whyNoAge})`);
  it(title, async () => {
    const [one, two, other] = await Promise.all([Team.create(), Team.create(), Team.create()]);
    const made = execFileSync("age-keygen", { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
    const recipient = /public key: (age1\w+)/.exec(made)?.[1] ?? assert.fail(made.split("\n")[1]);
    const file = await encrypt(text, [recipient, two.recipient]);
    const folder = new Folder();
    const decrypt = (keys: string): string => {
      const args = ["-d", "-i", folder.write("keys.txt", keys)];
      return execFileSync("age", args, { input: file, encoding: "utf8", stdio: "pipe" });
    };
    for (const keys of [made, keysOf(one) + made, keysOf(other) + keysOf(two) + keysOf(one)]) {
      assert.equal(decrypt(keys), text);
    }
    assert.throws(() => decrypt(keysOf(one) + keysOf(other)), /no identity matched/);
    folder.remove();
  });
});
