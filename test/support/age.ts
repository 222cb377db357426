import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { realpathSync } from "node:fs";
import { join, resolve } from "node:path";
import { armor, Decrypter, generateX25519Identity, identityToRecipient } from "age-encryption";
import { Folder } from "./folder";
import { type Properties } from "./wire";

/** Why the command `age` cannot run here; undefined if it can. */
export const whyNoAge =
  spawnSync("age", ["--version"]).status === 0 && spawnSync("age-keygen", ["--version"]).status === 0
    ? undefined
    : "there is no `age` on PATH";

/** Who can decrypt credentials. */
export class Team {
  private constructor(
    readonly identity: string,
    readonly recipient: string,
  ) {}

  static async create(): Promise<Team> {
    const identity = await generateX25519Identity();
    return new Team(identity, await identityToRecipient(identity));
  }

  /**
   * The JSON in an age file, decrypted by the library, and by the command `age` if it can run here.
   *
   * @throws Error if the team cannot decrypt it, or both differ
   */
  async decrypt(file: unknown): Promise<Properties> {
    const read = await this.read(file);
    if (whyNoAge !== undefined) return read;
    assert.deepEqual(JSON.parse(decryptByCommand(String(file), this.identity)), read, "`age` decrypts another text");
    return read;
  }

  /** As `decrypt`, by the library alone: a process takes longer than all else that a random walk does in one step. */
  async read(file: unknown): Promise<Properties> {
    const decrypter = new Decrypter();
    decrypter.addIdentity(this.identity);
    return JSON.parse(await decrypter.decrypt(armor.decode(String(file)), "text")) as Properties;
  }
}

/**
 * What `age -d` prints for a file.
 *
 * @param keys the text of `keys.txt`
 * @throws Error if it cannot be decrypted
 */
export function decryptByCommand(file: string, keys: string): string {
  const folder = new Folder();
  try {
    const path = folder.write("keys.txt", keys, 0o600);
    return execFileSync("age", ["-d", "-i", path], { input: file, encoding: "utf8", stdio: ["pipe", "pipe", "pipe"] });
  } finally {
    folder.remove();
  }
}

/** A preload that makes encryption fail in the process of an adapter, of everything or of credentials. */
export const failingEncryption = (what: "everything" | "credentials"): string => `
import { createRequire } from "node:module";
const require = createRequire(${JSON.stringify(join(realpathSync(resolve(__dirname, "../..")), "package.json"))});
const { Encrypter } = require("age-encryption");
const { encrypt } = Encrypter.prototype;
Encrypter.prototype.encrypt = async function (text) {
  if (text !== "" || ${what === "everything"}) throw new Error("cannot encrypt " + text);
  return encrypt.call(this, text);
};`;
