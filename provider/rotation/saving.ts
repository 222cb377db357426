import { isDeepStrictEqual } from "node:util";
import { NotEncryptedError, RefusedError } from "../platform/errors";
import { secretOf, type SecretKind, type Subject } from "../platform/secretKind";
import { type CredentialName, credentialNames, type Credentials } from "../records/credentials";
import { isSet } from "../records/fields";
import { unknownNames } from "../records/properties";
import { type CheckFailure, type Schemas } from "../resource";
import { type Run } from "../run";
import { type Connection, connectionNames } from "./connection";
import { encrypt, recipientsProblem } from "./encryption";
import { knownUrl, restUrlFor, urlFor } from "./endpoint";
import { databasePassword } from "./kinds/databasePassword";
import { markAll, type Marked, type Marks, writeMarked } from "./marks";
import { keptNotice, laterNotice, partNotice, removedNotice, type SecretNotice, type SecretResult } from "./notices";
import { type RotationOutputs, type Saving } from "./outputs";
import {
  credentialsIn,
  currentIn,
  isReadable,
  knownNames,
  marksIn,
  missingIn,
  savedKnowledge,
  shownIn,
  withoutCredentials,
} from "./saved";

/** The inputs that say how credentials are saved. None of them is part of a trigger. */
export interface SavingInputs {
  readonly saveCredentials?: boolean | null | undefined;
  readonly encryptFor?: readonly string[] | null | undefined;
  /** Where clients connect, for the URLs that are encrypted; by default the other inputs say it. */
  readonly connection?: Connection | null | undefined;
}

/** What a change of the saved form does: values are removed, encrypted or read, or it waits for a reset. */
export type SavingChange = "removed" | "not saved" | "encrypted" | "not encrypted" | "read" | "later";

/** The schemas of the inputs. */
export function savingInputs({ z, flag, expected, refuse }: Schemas) {
  const encryptFor = z.array(z.unknown(), expected("a list of age recipients")).superRefine(refuse(recipientsProblem));
  return { saveCredentials: flag, encryptFor };
}

/** Refuses to save no credentials that could not be read or decrypted later. */
export function checkSaving(
  { saveCredentials, encryptFor }: SavingInputs,
  unknown: ReadonlySet<string>,
  kind: SecretKind,
  run: Run,
): CheckFailure[] {
  if (saveCredentials !== false || isSet(encryptFor) || unknown.has("encryptFor")) return [];
  if (run.options.canRead(kind)) return [];
  const reason =
    "saveCredentials: false needs encryptFor, because this platform cannot be read (rekey:databasePath): new credentials would be lost";
  return [{ property: "saveCredentials", reason }];
}

/**
 * The ids of databases and the URNs of fleets in this run whose credentials are not saved and cannot be read. A
 * verification of one of them is refused before the reset.
 */
export function unreadableIn(run: Run): Set<unknown> {
  return run.shared(unreadableIn, () => new Set());
}

/** Adds the id of a database or the URN of a fleet to these, if its credentials are not saved and cannot be read. */
export function rememberUnreadable(subject: unknown, inputs: SavingInputs, kind: SecretKind, run: Run): void {
  if (inputs.saveCredentials === false && !run.options.canRead(kind)) unreadableIn(run).add(subject);
}

/** What the inputs ask for. While one of them is unknown, in a preview, the saved form stays. */
export function savingOf(inputs: SavingInputs, saved: RotationOutputs | undefined): Saving {
  const { saveCredentials, encryptFor } = inputs;
  if (unknownNames({ saveCredentials, encryptFor }).size > 0) return saved?.saving ?? {};
  const recipients = [...new Set(encryptFor ?? [])].sort();
  const given = { ...(inputs.connection ?? inputs) } as Readonly<Record<string, unknown>>;
  const names = connectionNames.filter((name) => isSet(given[name]));
  const connection = Object.fromEntries(names.map((name) => [name, given[name]]));
  return {
    ...(saveCredentials === false && { saveCredentials: false }),
    ...(recipients.length > 0 && { encryptFor: recipients }),
    ...(recipients.length > 0 && names.length > 0 && { connection }),
  };
}

/** What the change does to the credentials of one or more, in notices. A read has its own words. */
export const savingChanges: Readonly<Record<Exclude<SavingChange, "read">, (of: string) => string>> = {
  removed: (of) => `removes the credentials of ${of} from the state, unless they are the only copy`,
  "not saved": (of) => `saves no credentials of ${of}`,
  encrypted: (of) => `encrypts the credentials of ${of} for encryptFor`,
  "not encrypted": (of) => `saves no encryptedCredentials of ${of}, unless they are the only copy`,
  later: (of) =>
    `applies saveCredentials and encryptFor to ${of} with the next reset, because the current credentials are not known`,
};

/** What a change of the saved form does, although nothing is reset; undefined if the form stays. */
export function savingChange(
  kind: SecretKind,
  saved: RotationOutputs | undefined,
  inputs: SavingInputs,
  run: Run,
): SavingChange | undefined {
  if (saved === undefined) return undefined;
  const saving = savingOf(inputs, saved);
  if (!isOther(saved.saving, saving)) return undefined;
  if (areValuesWanted(saved, saving)) {
    return saved.outcome !== "unknown" && isReadable(kind, saved, run) ? "read" : "later";
  }
  if (saving.saveCredentials === false && hasValues(saved)) return "removed";
  if (!isDeepStrictEqual(saved.saving?.encryptFor, saving.encryptFor)) {
    if (saving.encryptFor === undefined) return "not encrypted";
    return Object.keys(credentialsIn(saved)).length > 0 ? "encrypted" : "later";
  }
  // An import saves no credentials. If none is known, nothing has to change before one is.
  return saving.saveCredentials === false ? "not saved" : undefined;
}

/** Whether credentials that are known by marks only are to be saved or encrypted. */
export function areValuesWanted(saved: RotationOutputs, saving: Saving): boolean {
  const { saveCredentials, encryptFor } = saving;
  const isWanted = saveCredentials !== false || (encryptFor !== undefined && !isEncryptedFor(saved, saving));
  return isWanted && lacksValues(saved);
}

/** Whether new credentials are saved nowhere: each must be shown by a read, or it would be lost. */
export function isSavedNowhere({ saveCredentials, encryptFor }: Saving): boolean {
  return saveCredentials === false && encryptFor === undefined;
}

/**
 * Requires that a read before a reset shows what is reset: what it hides now, it would hide after the reset.
 *
 * @throws RefusedError
 */
export function requireShown(subject: Subject, saved: RotationOutputs | undefined, shown: Credentials = {}): void {
  const known = knownNames(saved, shown);
  const best = (["password", "restToken", "token", "currentKey"] as const).find((name) => known.includes(name));
  if (best !== undefined && shown[best] !== undefined) return;
  const why =
    "the platform does not show it, so the new one would be lost with saveCredentials: false. Set encryptFor, or remove saveCredentials";
  throw new RefusedError("REKEY_NOT_ENCRYPTED", { secret: secretOf(subject), why });
}

/** Whether applying the form removes credentials from the state, or the file with them, so that they are read first. */
export function removesCopies(saved: RotationOutputs, saving: Saving): boolean {
  return isSavedNowhere(saving) && (hasValues(saved) || saved.encryptedCredentials !== undefined);
}

/** Whether values that `saveCredentials: false` keeps out of the state are in it. */
function hasValues(saved: RotationOutputs): boolean {
  const names: readonly string[] = [...credentialNames, "otherFields", "baseline"];
  return Object.keys(saved).some((name) => names.includes(name));
}

/**
 * Encrypts nothing for the recipients, so that a recipient that cannot be used is found before anything is sent.
 *
 * @throws RefusedError
 */
export async function tryRecipients(subject: Subject, { encryptFor }: Saving, run: Run): Promise<void> {
  if (encryptFor === undefined) return;
  try {
    await run.shared(`recipients ${encryptFor.join()}`, () => encrypt("", encryptFor));
  } catch {
    const why = "nothing can be encrypted for one of encryptFor. Check the recipients";
    throw new RefusedError("REKEY_NOT_ENCRYPTED", { secret: secretOf(subject), why });
  }
}

/**
 * What to save of a result: the only place where credentials are removed from the outputs, and encrypted. New ones that
 * cannot be encrypted are saved instead, because they would be lost; and so are those that are not to be saved and that
 * no read has shown.
 *
 * @param before the outputs before it
 */
export async function toSave(
  subject: Subject,
  before: RotationOutputs | undefined,
  result: SecretResult,
  saving: Saving,
  run: Run,
): Promise<SecretResult> {
  const { outputs: found } = result;
  const isChanged = isOther(before?.saving, saving);
  if (found === before && !isChanged) return result;
  const marks = marksIn(found);
  const [was, now] = [currentIn(before, marks), currentIn(found, marks)];
  const isSame = isDeepStrictEqual(was, now);
  const formOfCopies: Form = isSame ? { saving: before?.saving ?? {}, ...fileIn(before) } : { saving: {} };
  let form: Form = { saving };
  let { failure } = result;
  try {
    form = { saving, ...(await fileFor(subject, before, found, isSame, saving, run)) };
  } catch {
    failure ??= new NotEncryptedError({ secret: secretOf(subject), isSame });
    form = formOfCopies;
  }
  const shown = shownIn(subject, run).map((credentials) => markAll(marks, credentials));
  const isShown = (name: CredentialName) => shown.some((read) => read[name] === now[name]);
  const isOnlyCopy = (name: CredentialName) => found[name] !== undefined || before?.encryptedCredentials !== undefined;
  const isLost = (name: CredentialName) => now[name] !== undefined && isOnlyCopy(name) && !isShown(name);
  const isKept = isSavedNowhere(form.saving) && credentialNames.some(isLost);
  if (isKept) form = formOfCopies;
  // While others are not all shown, the file has the former ones, which stay known.
  const isPart = !isSame && lacksValues(found) && form.saving.encryptFor !== undefined;
  const isHidden = form.saving.saveCredentials === false;
  const outputs = isHidden ? marksOnly(found, marks, isPart ? was : now, form) : withValues(found, marks, now, form);
  const notices: SecretNotice[] = [];
  const isLeft = credentialNames.some((name) => now[name] !== undefined && was[name] === now[name]);
  if (isLeft && before && hasValues(before) && !hasValues(outputs)) notices.push(removedNotice(subject));
  if (isKept) notices.push(keptNotice(subject));
  else if (isPart) notices.push(partNotice(subject));
  else if (isChanged && areValuesWanted(outputs, form.saving)) notices.push(laterNotice(subject));
  return { ...result, outputs, ...(failure && { failure }), notices: [...result.notices, ...notices] };
}

/** The encrypted credentials, and whom they are for. */
type File = Pick<RotationOutputs, "encryptedCredentials" | "encryptedFor">;

/** How credentials are saved, with their file. */
type Form = File & { readonly saving: Saving };

/** The outputs with marks of the credentials instead of their values. */
function marksOnly(found: RotationOutputs, marks: Marks, marked: Marked, form: Form): RotationOutputs {
  const { otherFields, baseline, formerMarks, missingCredentials, ...others } = withoutCredentials(found);
  return inForm({ ...others, ...savedKnowledge(marks, missingIn(found)) }, marks, marked, form);
}

/** The outputs with the values of credentials, and marks of those whose values are not known. */
function withValues(found: RotationOutputs, marks: Marks, now: Marked, form: Form): RotationOutputs {
  const unknown = Object.entries(now).filter(([name]) => found[name as CredentialName] === undefined);
  return inForm(found, marks, Object.fromEntries(unknown), form);
}

function inForm(found: RotationOutputs, { salt }: Marks, marked: Marked, { saving, ...file }: Form): RotationOutputs {
  const { encryptedCredentials, encryptedFor, saving: _saving, currentMarks: _marks, ...others } = found;
  const currentMarks = writeMarked({ salt, marked });
  return {
    ...others,
    ...(currentMarks !== undefined && { currentMarks }),
    ...file,
    ...(Object.keys(saving).length > 0 && { saving }),
  };
}

function fileIn(saved: RotationOutputs | undefined): File {
  const { encryptedCredentials, encryptedFor } = saved ?? {};
  return encryptedCredentials === undefined || encryptedFor === undefined ? {} : { encryptedCredentials, encryptedFor };
}

/**
 * The file to save: the former one while it is the right one, or the only place that has the credentials.
 *
 * @param isSame whether the credentials are those before
 * @throws if they cannot be encrypted
 */
async function fileFor(
  subject: Subject,
  before: RotationOutputs | undefined,
  found: RotationOutputs,
  isSame: boolean,
  saving: Saving,
  run: Run,
): Promise<File> {
  const { encryptFor } = saving;
  if (isSame && before && isEncryptedFor(before, saving)) return fileIn(before);
  if (lacksValues(found)) return isSavedNowhere(saving) ? {} : fileIn(before);
  const credentials = credentialsIn(found);
  if (encryptFor === undefined || Object.keys(credentials).length === 0) return {};
  const { rotatedAt } = found;
  const text = JSON.stringify({
    [subject.kind.idInput]: subject.id,
    rotatedAt,
    ...credentials,
    ...urlsOf(subject, found, saving, run),
  });
  return { encryptedCredentials: await encrypt(text, encryptFor), encryptedFor: encryptFor };
}

/** The URLs with which the credentials are used, as far as they are known. */
function urlsOf({ kind, id }: Subject, found: RotationOutputs, { connection = {} }: Saving, run: Run) {
  const { record = {}, password, restToken } = found;
  if (kind !== databasePassword) return { restUrl: kind.restUrl?.(record, run.options.preset()?.indexHost) };
  const database = { databaseId: id, record };
  const { databaseHost } = run.options;
  return {
    connectionUrl: knownUrl(urlFor, database, { ...connection }, password, databaseHost),
    restUrl: knownUrl(restUrlFor, database, { ...connection }, restToken, databaseHost),
  };
}

/** Whether another form is asked for. The connection is none: URLs are encrypted again with other credentials. */
function isOther(saved: Saving | undefined, saving: Saving): boolean {
  const formOf = ({ saveCredentials, encryptFor }: Saving = {}) => [saveCredentials ?? true, encryptFor ?? []];
  return !isDeepStrictEqual(formOf(saved), formOf(saving));
}

function isEncryptedFor({ encryptedFor }: RotationOutputs, { encryptFor }: Saving): boolean {
  return isDeepStrictEqual(encryptedFor, encryptFor);
}

/** Whether a credential is known by its mark only. */
function lacksValues(saved: RotationOutputs): boolean {
  const values = credentialsIn(saved);
  const current = currentIn(saved);
  return credentialNames.some((name) => current[name] !== undefined && values[name] === undefined);
}
