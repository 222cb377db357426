import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { type Platform } from "../../local/index";
import { Crypter } from "../../local/engine/secrets";
import { leaksOf } from "./canaries";
import { passphrase } from "./engineProcess";
import { textsBelow } from "./files";
import { type Project } from "./project";

/** All credentials that a program can have from a platform. */
export function credentialsOf({
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

  constructor(readonly project: Project) {}

  /** Adds the current credentials of a platform. */
  note(platform: Platform): void {
    for (const one of credentialsOf(platform)) this.canaries[one] = one;
  }

  /** Adds texts that someone may see, line by line: states repeat most of them. */
  see(...texts: readonly string[]): void {
    for (const text of texts) for (const line of text.split("\n")) this.#lines.add(line);
  }

  /** Asserts that no credential is in what was seen, in the files of the project, and in what they have encrypted. */
  async assertNoLeak(): Promise<void> {
    const files = textsBelow(this.project.directory);
    this.see(...files);
    const secrets = await this.#decrypted(files.join("\n"));
    assert.ok(secrets.length > 0 && Object.keys(this.canaries).length > 0);
    assert.deepEqual(leaksOf([...this.#lines, ...secrets].join("\n"), this.canaries), []);
  }

  /** The secrets of the stack in a text, which everyone can read who has its passphrase. */
  async #decrypted(text: string): Promise<string[]> {
    const settings = readFileSync(this.project.path("Pulumi.dev.yaml"), "utf8");
    const crypter = await Crypter.open(passphrase, /encryptionsalt: (\S+)/.exec(settings)?.[1] ?? "");
    const sealed = new Set(text.match(/v1:[\w+/]{16}:[\w+/]+=*/g));
    return [...sealed].map((one) => crypter.decrypt(one));
  }
}
