import { createCipheriv, createDecipheriv, pbkdf2, randomBytes } from "node:crypto";
import { promisify } from "node:util";
import { EngineError, readable } from "./errors";
import { isSecret, mapParts, type PropertyValue, secret, secretSignature, signature } from "./values";

const iterations = 1_000_000;
const proof = "pulumi";

/**
 * Encrypts like the passphrase provider of the `pulumi` CLI: AES-256-GCM with a key that PBKDF2-SHA256 derives from the
 * passphrase. `salt` is the text that is saved with the secrets: the salt, and a known text that verifies the
 * passphrase.
 */
export class Crypter {
  /** The saved ciphertexts, so that the ciphertext of an unchanged secret does not change. */
  readonly #ciphertexts = new WeakMap<object, string>();

  private constructor(
    readonly salt: string,
    private readonly key: Buffer,
  ) {}

  /** Creates a crypter with a new salt. */
  static async create(passphrase: string): Promise<Crypter> {
    const salt = randomBytes(8);
    const key = await deriveKey(passphrase, salt);
    return new Crypter(`v1:${salt.toString("base64")}:${encrypt(key, proof)}`, key);
  }

  /** Creates a crypter for an existing salt. @throws EngineError if the passphrase does not match it */
  static async open(passphrase: string, salt: string): Promise<Crypter> {
    const [version, saltText] = salt.split(":", 2);
    if (version !== "v1" || saltText === undefined) {
      throw new EngineError(
        "the encryption salt of the stack is malformed. Restore the former `encryptionsalt`: without it, no secret can be decrypted",
      );
    }
    const key = await deriveKey(passphrase, Buffer.from(saltText, "base64"));
    let found: string | undefined;
    try {
      found = decrypt(key, salt.slice(version.length + saltText.length + 2));
    } catch {
      // A decryption error has the same meaning as a wrong text.
    }
    if (found !== proof) {
      throw new EngineError(
        "incorrect passphrase: set PULUMI_CONFIG_PASSPHRASE to the passphrase with which this stack was created",
      );
    }
    return new Crypter(salt, key);
  }

  encrypt(text: string): string {
    return encrypt(this.key, text);
  }

  decrypt(ciphertext: string): string {
    try {
      return decrypt(this.key, ciphertext);
    } catch (cause) {
      throw new EngineError("a secret is damaged or was encrypted with another passphrase or salt", { cause });
    }
  }

  /** Values as they are saved: with secrets encrypted, or in plain text. */
  seal<T extends PropertyValue>(value: T, showSecrets = false): T {
    return mapParts(value, (part) => {
      if (!isSecret(part)) return part;
      const plaintext = (): string => JSON.stringify(this.seal(part.value, showSecrets));
      if (showSecrets) return { [signature]: secretSignature, plaintext: plaintext() };
      const ciphertext = this.#ciphertexts.get(part) ?? this.encrypt(plaintext());
      this.#ciphertexts.set(part, ciphertext);
      return { [signature]: secretSignature, ciphertext };
    });
  }

  /** Decrypts saved values. */
  unseal<T extends PropertyValue>(saved: T): T {
    return mapParts(saved, (part) => {
      if (!isSecret(part)) return part;
      const { plaintext, ciphertext } = part;
      const read = (text: string): PropertyValue => this.unseal(JSON.parse(text) as PropertyValue);
      if (typeof plaintext === "string") return secret(read(plaintext));
      if (typeof ciphertext !== "string") throw new EngineError("malformed secret: it has no ciphertext");
      const opened = secret(read(this.decrypt(ciphertext)));
      this.#ciphertexts.set(opened, ciphertext);
      return opened;
    });
  }
}

/** The passphrase from `PULUMI_CONFIG_PASSPHRASE`, else from the file that `PULUMI_CONFIG_PASSPHRASE_FILE` names. */
export function passphraseFrom(env: NodeJS.ProcessEnv, readFile: (path: string) => string): string | undefined {
  if (env.PULUMI_CONFIG_PASSPHRASE !== undefined) return env.PULUMI_CONFIG_PASSPHRASE;
  const file = env.PULUMI_CONFIG_PASSPHRASE_FILE;
  if (file === undefined || file === "") return undefined;
  return readable("PULUMI_CONFIG_PASSPHRASE_FILE", "Set it to a readable file", () => readFile(file).trim());
}

/** Keys by passphrase and salt: deriving one takes most of a second. */
const keys = new Map<string, Promise<Buffer>>();

function deriveKey(passphrase: string, salt: Buffer): Promise<Buffer> {
  const id = JSON.stringify([passphrase, salt.toString("base64")]);
  const key = keys.get(id) ?? promisify(pbkdf2)(passphrase, salt, iterations, 32, "sha256");
  keys.set(id, key);
  return key;
}

function encrypt(key: Buffer, text: string): string {
  const nonce = randomBytes(12);
  const cipher = createCipheriv("aes-256-gcm", key, nonce);
  const sealed = Buffer.concat([cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]);
  return `v1:${nonce.toString("base64")}:${sealed.toString("base64")}`;
}

function decrypt(key: Buffer, text: string): string {
  const [version, nonce, sealed] = text.split(":");
  if (version !== "v1" || nonce === undefined || sealed === undefined) {
    throw new Error("not in the format v1:nonce:ciphertext");
  }
  const bytes = Buffer.from(sealed, "base64");
  const decipher = createDecipheriv("aes-256-gcm", key, Buffer.from(nonce, "base64"), { authTagLength: 16 });
  decipher.setAuthTag(bytes.subarray(-16));
  return Buffer.concat([decipher.update(bytes.subarray(0, -16)), decipher.final()]).toString("utf8");
}
