import { isDeepStrictEqual } from "node:util";
import { NotEncryptedError, RefusedError } from "../platform/errors";
import { secretOf, type Subject } from "../platform/secretKind";
import { type CredentialName, credentialNames, type Credentials, kindOf } from "../records/fields";
import { jsonText } from "../records/properties";
import { type Run } from "../run";
import { urlsOf } from "./access";
import { knownIn, marksOf } from "./marks";
import { credentialsIn, type Declared, type Memory, type State, withoutValues } from "./memory";
import { type Finding, type Rotated } from "./messages";
import { savesNone } from "./plan";

/** What each read of this run has shown. What the platform shows may leave the state. */
export function readsIn(subject: Subject, run: Run): Credentials[] {
  return run.shared(`reads ${secretOf(subject)}`, (): Credentials[] => []);
}

/**
 * What to save, in the form that the program declares: the only place where current values are removed from a state, or
 * encrypted. A value is removed only if the age file has it, or if a read of this run has shown it. New ones that
 * cannot be encrypted are saved instead. `confirm` and `learn` have removed the former values before.
 */
export async function save(
  subject: Subject,
  before: State | undefined,
  { state, failure, findings }: Rotated,
  declared: Declared,
  run: Run,
): Promise<Rotated> {
  const { memory } = state;
  const reads = readsIn(subject, run);
  let next: State;
  try {
    next = inForm(await withFile(subject, { ...state, memory: { ...memory, declared } }, run), reads);
  } catch {
    const isSame = before !== undefined && isDeepStrictEqual(before.memory.current, memory.current);
    failure ??= new NotEncryptedError({ secret: secretOf(subject), isSame });
    // The form stays, or is that of saved values, so that the next `up` tries again.
    const { saveCredentials: _save, encryptFor: _for, ...others } = declared;
    next = inForm({ ...state, memory: { ...memory, declared: isSame ? before.memory.declared : others } }, reads);
  }
  const all = [...findings, ...formFindings(before, next, state), ...tokenFindings(before, next)];
  return { state: next, ...(failure && { failure }), findings: all };
}

/** A database may show one token, as the console of a vendor does. It is told with each new one. */
function tokenFindings(before: State | undefined, { memory: { current } }: State): Finding[] {
  const { password, restToken } = current;
  const isNew = restToken !== undefined && restToken !== before?.memory.current.restToken;
  return isNew && password === undefined ? [{ kind: "tokenOnly" }] : [];
}

/** The state with the age file that the program declares, unless something is only in the file that it replaces. */
async function withFile(subject: Subject, state: State, run: Run): Promise<State> {
  const { memory, ...rest } = state;
  const { file, current, declared } = memory;
  const { encryptFor } = declared;
  const values = credentialsIn(state);
  const has = marksOf(memory, values);
  const next = encryptFor && Object.keys(values).length > 0 ? { for: encryptFor, has } : undefined;
  const isOnlyHere = (name: CredentialName) =>
    isInFile(memory, name) &&
    (savesNone(declared) ? !isShown(memory, name, readsIn(subject, run)) : has[name] === undefined);
  if (isDeepStrictEqual(file, next) || knownIn(current).some(isOnlyHere)) return state;
  // A file with nothing that is current is of no use.
  if (!next) return { ...rest, encryptedCredentials: undefined, memory: { ...memory, file: next } };
  const { kind, id } = subject;
  const text = jsonText({ [kind.idInput]: id, rotatedAt: state.rotatedAt, ...values, ...urlsOf(subject, state, run) });
  return { ...rest, encryptedCredentials: await encrypt(text, next.for), memory: { ...memory, file: next } };
}

/** The state without the values that are to be kept out of it, and are elsewhere. */
function inForm(state: State, reads: readonly Credentials[]): State {
  const { memory, otherFields: _open, ...rest } = state;
  if (memory.declared.saveCredentials !== false) return state;
  const leaving = knownIn(memory.current).filter((name) => isInFile(memory, name) || isShown(memory, name, reads));
  return withoutValues({ ...rest, memory }, leaving);
}

/** Whether the age file has a current credential, under whatever name: a roll makes the next key the current one. */
function isInFile({ current, file }: Memory, name: CredentialName): boolean {
  return file !== undefined && Object.values<string | undefined>(file.has).includes(current[name]);
}

export function isShown(memory: Memory, name: CredentialName, reads: readonly Credentials[]): boolean {
  return reads.some((one) => marksOf(memory, one)[name] === memory.current[name]);
}

/** @param whole the state before values were removed from it */
function formFindings(before: State | undefined, next: State, whole: State): Finding[] {
  const { current, declared, file } = next.memory;
  const { saveCredentials, encryptFor } = declared;
  const was = before?.memory;
  const [had, has] = [credentialsIn(before), credentialsIn(next)];
  const findings: Finding[] = [];
  if (credentialNames.some((name) => had[name] && has[name] === undefined && was?.current[name] === current[name])) {
    findings.push({ kind: "removed" });
  }
  const isFileKept = file !== undefined && encryptFor === undefined;
  if (saveCredentials === false && (Object.keys(has).length > 0 || isFileKept)) {
    findings.push({ kind: "kept", names: Object.keys(has) });
  }
  const isWanted = saveCredentials !== false || (encryptFor !== undefined && !isDeepStrictEqual(file?.for, encryptFor));
  const isChanged = was !== undefined && !isDeepStrictEqual(was.declared, declared);
  if (isChanged && isWanted && knownIn(current).some((name) => whole[name] === undefined)) {
    findings.push({ kind: "later" });
  }
  return findings;
}

/** Encrypts an empty text for the recipients, so that an unusable one is found before anything is sent. */
export async function tryRecipients(subject: Subject, { encryptFor }: Declared, run: Run): Promise<void> {
  if (encryptFor === undefined) return;
  try {
    await run.shared(`recipients ${encryptFor.join()}`, () => encrypt("", encryptFor));
  } catch {
    const why = "nothing can be encrypted for one of encryptFor. Check the recipients";
    throw new RefusedError("REKEY_NOT_ENCRYPTED", { secret: secretOf(subject), why });
  }
}

/** age is loaded with its first use, because most rotations encrypt nothing. */
function age(): typeof import("age-encryption") {
  return require("age-encryption") as typeof import("age-encryption");
}

/** What is wrong with recipients, if anything is. No value is shown: a secret key may be among them, by mistake. */
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

/** The text as an ASCII-armored age file for these recipients. */
export async function encrypt(text: string, recipients: readonly string[]): Promise<string> {
  const { Encrypter, armor } = age();
  const encrypter = new Encrypter();
  for (const recipient of recipients) encrypter.addRecipient(recipient);
  return armor.encode(await encrypter.encrypt(text));
}
