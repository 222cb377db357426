import { RefusedError } from "../../domain/errors";
import { secretOf, type Subject } from "../../domain/secretKind";
import { kindOf } from "../../records/fields";
import { type Run } from "../../run/run";
import { type Form } from "./memory";

/** age is loaded with its first use, because most rotations encrypt nothing. */
function age(): typeof import("age-encryption") {
  return require("age-encryption") as typeof import("age-encryption");
}

/** The text as an ASCII-armored age file for these recipients. */
export async function encrypt(text: string, recipients: readonly string[]): Promise<string> {
  const { Encrypter, armor } = age();
  const encrypter = new Encrypter();
  for (const recipient of recipients) encrypter.addRecipient(recipient);
  return armor.encode(await encrypter.encrypt(text));
}

/** Encrypts an empty text for the recipients, so that an unusable one is found before anything is sent. */
export async function tryRecipients(
  subject: Subject,
  { encryptFor }: Form,
  run: Run,
): Promise<void> {
  if (encryptFor === undefined) return;
  const { triedRecipients } = run.shared;
  const key = encryptFor.join();
  const tried = triedRecipients.get(key) ?? encrypt("", encryptFor);
  triedRecipients.set(key, tried);
  try {
    await tried;
  } catch {
    const why = "nothing can be encrypted for one of encryptFor. Check the recipients";
    throw new RefusedError("REKEY_NOT_ENCRYPTED", { secret: secretOf(subject), why });
  }
}

/** The problem of recipients, if there is one. No value is shown: a secret key may be among them, by mistake. */
export function recipientsProblem(given: readonly unknown[]): string | undefined {
  if (given.length === 0) return "must contain a recipient of age (age1…)";
  const problems = given.map((one, index) => {
    const problem = recipientProblem(one);
    return problem === undefined ? undefined : `[${index}] ${problem}`;
  });
  return problems.find((problem) => problem !== undefined);
}

function recipientProblem(given: unknown): string | undefined {
  if (typeof given !== "string") return `must be a recipient of age (age1…), not ${kindOf(given)}`;
  if (/AGE-SECRET-KEY/i.test(given)) {
    return "is a secret key: remove it from the program, and use its recipient (age1…), which `age-keygen -y` prints";
  }
  try {
    new (age().Encrypter)().addRecipient(given);
    return undefined;
  } catch {
    return "is not a recipient of age (age1…), or is incomplete";
  }
}
