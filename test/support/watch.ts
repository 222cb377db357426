import assert from "node:assert/strict";
import { createDecipheriv, pbkdf2Sync } from "node:crypto";
import { readFileSync } from "node:fs";
import { type Platform } from "../../local/platform/index";
import { leaksOf } from "./canaries";
import { textsBelow } from "./files";
import { type EngineStack, passphrase } from "./engineStack";

/** All credentials that a program can have from a platform. */
function credentialsOf({
  databases,
  vectorIndexes,
  searchIndexes,
  queueUsers: users,
  signingKeys,
}: Platform): string[] {
  const passwords = [...databases.values()].flatMap((one) => [one.password, one.restToken, one.readOnlyRestToken]);
  const owners = [vectorIndexes, searchIndexes, users].flatMap((all) => [...all.values()]);
  const tokens = owners.flatMap(({ token, readOnlyToken }) => [token, readOnlyToken]);
  return [...passwords, ...tokens, signingKeys.current, signingKeys.next];
}

/** Everything that a test sees of a stack, and the credentials that the platform has issued meanwhile. */
export class Watch {
  readonly canaries: Record<string, string> = {};
  readonly #lines = new Set<string>();

  constructor(readonly stack: EngineStack) {}

  /** Adds the current credentials of a platform. */
  note(platform: Platform): void {
    for (const one of credentialsOf(platform)) this.canaries[one] = one;
  }

  /** Adds texts that someone may see, line by line: states repeat most of them. */
  see(...texts: readonly string[]): void {
    for (const text of texts) for (const line of text.split("\n")) this.#lines.add(line);
  }

  /** Asserts that no credential is in what was seen, in the files of the stack, and in what they have encrypted. */
  assertNoLeak(): void {
    const files = textsBelow(this.stack.directory);
    this.see(...files);
    const secrets = this.#decrypted(files.join("\n"));
    assert.ok(secrets.length > 0 && Object.keys(this.canaries).length > 0);
    assert.deepEqual(leaksOf([...this.#lines, ...secrets].join("\n"), this.canaries), []);
  }

  /** The secrets of the stack in a text, which everyone can read who has its passphrase. */
  #decrypted(text: string): string[] {
    const settings = readFileSync(this.stack.path(`Pulumi.${this.stack.name}.yaml`), "utf8");
    const [, salt = ""] = /encryptionsalt: v1:(\S+?):/.exec(settings) ?? [];
    const key = pbkdf2Sync(passphrase, Buffer.from(salt, "base64"), 1_000_000, 32, "sha256");
    const sealed = [...text.matchAll(/v1:([\w+/]{16}):([\w+/]+=*)/g)];
    return sealed.map(([, nonce = "", cipher = ""]) => {
      const bytes = Buffer.from(cipher, "base64");
      const decipher = createDecipheriv("aes-256-gcm", key, Buffer.from(nonce, "base64"));
      return (
        decipher.setAuthTag(bytes.subarray(-16)).update(bytes.subarray(0, -16), undefined, "utf8") +
        decipher.final("utf8")
      );
    });
  }
}
