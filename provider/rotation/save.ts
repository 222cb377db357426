import { isDeepStrictEqual } from "node:util";
import { NotEncryptedError, RefusedError, type RekeyError } from "../platform/errors";
import { secretOf, type Subject } from "../platform/secretKind";
import { type CredentialName, credentialNames, type Credentials } from "../records/credentials";
import { jsonText } from "../records/properties";
import { type Run } from "../run";
import { encrypt } from "./encryption";
import { type Finding } from "./findings";
import { type Declared, type EncryptedFile, knownIn, marksOf, type Memory } from "./memory";
import { credentialsIn, type State, withoutValues } from "./state";

/** How the values of a state are saved. */
interface How {
  /** The URLs with which the credentials of a state are used, for the file. */
  readonly urlsOf: (state: State) => object;
  /** The credentials that reads of this run have shown. */
  readonly shown: readonly Credentials[];
}

/** What was done for one secret: what to save, and what to tell. */
export interface Rotated {
  readonly state: State;
  readonly failure?: RekeyError | undefined;
  readonly findings: readonly Finding[];
}

/**
 * What to save, in the form that the program declares: the only place where values leave a state, and are encrypted. A
 * value leaves only if the age file has it, or if a read of this run has shown it. New ones that cannot be encrypted
 * are saved instead.
 *
 * @param before the saved state
 */
export async function save(
  subject: Subject,
  before: State | undefined,
  { state, failure, findings }: Rotated,
  declared: Declared,
  how: How,
): Promise<Rotated> {
  const { memory } = state;
  const isSame = before !== undefined && isDeepStrictEqual(before.memory.current, memory.current);
  const asked: State = isDeepStrictEqual(memory.declared, declared)
    ? state
    : { ...state, memory: { ...memory, declared } };
  let next: State;
  try {
    next = inForm(await withFile(subject, asked, declared, how), declared, how);
  } catch {
    // What was declared before stays, so that the next `up` tries again.
    const former = (isSame && before?.memory.declared) || {};
    failure ??= new NotEncryptedError({ secret: secretOf(subject), isSame });
    next = inForm(state, former, how);
    next = { ...next, memory: { ...next.memory, declared: former } };
  }
  const isChanged = !isDeepStrictEqual(before?.memory.declared ?? {}, next.memory.declared);
  return {
    state: next,
    ...(failure && { failure }),
    findings: [...findings, ...formFindings(before, next, state, isChanged)],
  };
}

/** The state with the age file that the program declares, if all that the former one has is in it, or elsewhere. */
async function withFile(
  { kind, id }: Subject,
  state: State,
  { encryptFor, saveCredentials }: Declared,
  { urlsOf, shown }: How,
): Promise<State> {
  const { memory } = state;
  const { file, current } = memory;
  const values = credentialsIn(state);
  const has = marksOf(memory, values);
  const isNeeded = (one: EncryptedFile | undefined) => !isDeepStrictEqual(one, encryptFor && { for: encryptFor, has });
  const isComplete = knownIn(current).every((name) => has[name] !== undefined);
  if (file && isDeepStrictEqual(file.for, encryptFor) && isDeepStrictEqual(file.has, current) && !isComplete) {
    return state;
  }
  if (!isNeeded(file)) return state;
  const isElsewhere = (name: CredentialName) =>
    isShown(memory, name, shown) ||
    (encryptFor ? has[name] !== undefined : saveCredentials !== false && has[name] !== undefined);
  const isOnlyCopy =
    file !== undefined && knownIn(current).some((name) => isInFile(file, current[name]) && !isElsewhere(name));
  if (isOnlyCopy) return state;
  const { encryptedCredentials: _former, ...rest } = state;
  if (encryptFor === undefined || Object.keys(values).length === 0) {
    // A file with nothing that is current is of no use.
    const { file: _none, ...others } = memory;
    return { ...rest, memory: others };
  }
  const text = jsonText({ [kind.idInput]: id, rotatedAt: state.rotatedAt, ...values, ...urlsOf(state) });
  const encryptedCredentials = await encrypt(text, encryptFor);
  return { ...rest, encryptedCredentials, memory: { ...memory, file: { for: encryptFor, has } } };
}

/** The state without the values that are to be kept out of it, and are elsewhere. */
function inForm(state: State, { saveCredentials }: Declared, { shown }: How): State {
  if (saveCredentials !== false) return state;
  const { otherFields: _open, ...rest } = state;
  const leaving = knownIn(state.memory.current).filter((name) => isElsewhere(state.memory, name, shown));
  return withoutValues(rest, leaving);
}

/** Whether a value is known outside of the state: the age file has it, or a read of this run has shown it. */
export function isElsewhere(memory: Memory, name: CredentialName, shown: readonly Credentials[]): boolean {
  const { current, file } = memory;
  return (file !== undefined && isInFile(file, current[name])) || isShown(memory, name, shown);
}

/** Whatever its name there: a roll makes the next key the current one. */
function isInFile({ has }: EncryptedFile, mark: string | undefined): boolean {
  return mark !== undefined && Object.values(has).includes(mark);
}

function isShown(memory: Memory, name: CredentialName, shown: readonly Credentials[]): boolean {
  return shown.some((one) => marksOf(memory, one)[name] === memory.current[name]);
}

function formFindings(before: State | undefined, next: State, found: State, isChanged: boolean): Finding[] {
  const { current, declared, file } = next.memory;
  const [was, has] = [credentialsIn(before), credentialsIn(next)];
  const findings: Finding[] = [];
  const isLeft = credentialNames.some(
    (name) => was[name] !== undefined && has[name] === undefined && before?.memory.current[name] === current[name],
  );
  if (isLeft) findings.push({ kind: "removed" });
  const isKept = declared.saveCredentials === false && (Object.keys(has).length > 0 || isFileKept(next));
  if (isKept) findings.push({ kind: "kept", names: Object.keys(has) });
  const lacking = knownIn(current).filter((name) => found[name] === undefined && has[name] === undefined);
  const isWanted =
    declared.saveCredentials !== false || (declared.encryptFor !== undefined && !isFileOf(file, declared));
  if (isChanged && isWanted && before !== undefined && lacking.length > 0) findings.push({ kind: "later" });
  return findings;
}

/** Whether the age file stays although the program asks for none, because it is the only place that has something. */
function isFileKept({ memory }: State): boolean {
  return memory.declared.encryptFor === undefined && memory.file !== undefined;
}

function isFileOf(file: EncryptedFile | undefined, { encryptFor }: Declared): boolean {
  return isDeepStrictEqual(file?.for, encryptFor);
}

/**
 * Encrypts nothing for the recipients, so that one that cannot be used is found before anything is sent.
 *
 * @throws RefusedError
 */
export async function tryRecipients(subject: Subject, { encryptFor }: Declared, run: Run): Promise<void> {
  if (encryptFor === undefined) return;
  try {
    await run.shared(`recipients ${encryptFor.join()}`, () => encrypt("", encryptFor));
  } catch {
    const why = "nothing can be encrypted for one of encryptFor. Check the recipients";
    throw new RefusedError("REKEY_NOT_ENCRYPTED", { secret: secretOf(subject), why });
  }
}
