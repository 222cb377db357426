import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isMap, isScalar, parseDocument } from "yaml";
import { fullKey, type Project } from "../../local/engine/config";
import { firstLineOf, messageOf } from "../../local/engine/errors";
import { Crypter, passphraseFrom } from "../../local/engine/secrets";
import { type Check, unchecked, wrong } from "./check";

/** A setting of a stack as its file has it. */
export interface StackSetting {
  /** Undefined where it is encrypted and cannot be read. */
  readonly value: string | undefined;
  readonly secret: boolean;
  /** The file that it stands in. */
  readonly file: string;
}

export interface StackSettings {
  /** By full name. */
  readonly settings: ReadonlyMap<string, StackSetting>;
  /** What hindered the reading. */
  readonly problems: readonly Check[];
}

/** Reads what a stack's files say of `rekey:` settings. Each is read for itself: what cannot be decrypted hides no other. */
export async function readStackSettings(
  project: Project,
  stack: string,
  environment: NodeJS.ProcessEnv,
): Promise<StackSettings> {
  const settings = new Map<string, StackSetting>();
  for (const [key, value] of Object.entries(project.config)) {
    if (key.startsWith("rekey:")) settings.set(key, { value, secret: false, file: "Pulumi.yaml" });
  }
  const file = `Pulumi.${stack}.yaml`;
  const path = join(project.directory, file);
  if (!existsSync(path)) {
    const message = `There is no ${file} in ${project.directory}: the settings are those of the environment alone.`;
    return { settings, problems: [unchecked(file, message)] };
  }
  try {
    const document = parseDocument(readFileSync(path, "utf8"));
    if (document.errors[0]) throw document.errors[0];
    const config = document.get("config");
    const sealed = new Map<string, string>();
    for (const { key: written, value } of isMap(config) ? config.items : []) {
      const key = fullKey(project.name, String(isScalar(written) ? written.value : written));
      if (!key.startsWith("rekey:")) continue;
      const secure: unknown = isMap(value) ? value.get("secure") : undefined;
      if (typeof secure === "string") sealed.set(key, secure);
      // The text as it is written, as the engine takes it: `1.10` is not 1.1.
      const text = isScalar(value) ? (value.source ?? String(value.value)) : JSON.stringify(value);
      settings.set(key, { value: secure === undefined ? text : undefined, secret: secure !== undefined, file });
    }
    if (sealed.size === 0) return { settings, problems: [] };
    const opened = await open(sealed, document.get("encryptionsalt"), environment);
    if (!(opened instanceof Map)) return { settings, problems: [opened] };
    for (const [key, value] of opened) settings.set(key, { value, secret: true, file });
    return { settings, problems: [] };
  } catch (error) {
    return { settings, problems: [wrong(file, `${file} cannot be read: ${firstLineOf(error)}.`, "Mend the file.")] };
  }
}

/** Decrypts settings with the stack's passphrase, or says why that cannot be done. */
async function open(
  sealed: ReadonlyMap<string, string>,
  salt: unknown,
  environment: NodeJS.ProcessEnv,
): Promise<Map<string, string> | Check> {
  const subject = "the stack's secrets";
  const names = [...sealed.keys()].join(", ");
  if (typeof salt !== "string") {
    return unchecked(subject, `${names}: encrypted otherwise than with a passphrase, which cannot be read here.`);
  }
  const mend =
    "Set PULUMI_CONFIG_PASSPHRASE (or PULUMI_CONFIG_PASSPHRASE_FILE) to the passphrase of this stack, or the settings anew.";
  try {
    const passphrase = passphraseFrom(environment, (path) => readFileSync(path, "utf8"));
    if (passphrase === undefined) return wrong(subject, `${names}: encrypted, and no passphrase is set.`, mend);
    const crypter = await Crypter.open(passphrase, salt);
    return new Map([...sealed].map(([key, text]) => [key, crypter.decrypt(text)]));
  } catch (error) {
    return wrong(subject, `${names}: cannot be decrypted: ${messageOf(error)}.`, mend);
  }
}
