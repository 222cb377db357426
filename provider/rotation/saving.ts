import { isDeepStrictEqual } from "node:util";
import { NotEncryptedError, RefusedError } from "../platform/errors";
import { secretOf, type SecretKind, type Subject } from "../platform/secretKind";
import { credentialNames } from "../records/credentials";
import { isSet } from "../records/fields";
import { unknownValue } from "../records/properties";
import { type CheckFailure, type Schemas } from "../resource";
import { type Run } from "../run";
import { type Connection, connectionNames } from "./connection";
import { encrypt, recipientsProblem } from "./encryption";
import { knownUrl, restUrlFor, urlFor } from "./endpoint";
import { databasePassword } from "./kinds/databasePassword";
import { type Marked, writeMarked } from "./marks";
import { laterNotice, partNotice, removedNotice, type SecretNotice, type SecretResult } from "./notices";
import { type RotationOutputs, type Saving } from "./outputs";
import { credentialsIn, currentIn, isReadable, marksIn, missingIn, savedKnowledge, withoutCredentials } from "./saved";

/** The inputs that say how credentials are saved. None of them is part of a trigger. */
export interface SavingInputs {
  readonly saveCredentials?: boolean | null | undefined;
  readonly encryptFor?: readonly string[] | null | undefined;
  /** Where clients connect, for the URLs that are encrypted; by default the other inputs say it. */
  readonly connection?: Connection | null | undefined;
}

/** What a change of the saved form does: values are removed, encrypted or read, or it waits for a reset. */
export type SavingChange = "removed" | "encrypted" | "read" | "later" | "not encrypted";

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

/** What the inputs ask for. While one of them is unknown, in a preview, the saved form stays. */
export function savingOf(inputs: SavingInputs, saved: RotationOutputs | undefined): Saving {
  const { saveCredentials, encryptFor } = inputs;
  if (JSON.stringify([saveCredentials, encryptFor]).includes(unknownValue)) return saved?.saving ?? {};
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

/** What the change does, in notices, for one secret and for several of a fleet. A read has its own words. */
export const savingChanges: Readonly<Record<Exclude<SavingChange, "read">, readonly [one: string, several: string]>> = {
  removed: ["will be removed from the state", "whose credentials will be removed from the state"],
  encrypted: ["will be encrypted for encryptFor", "whose credentials will be encrypted for encryptFor"],
  "not encrypted": ["will no longer be in encryptedCredentials", "whose encryptedCredentials will be removed"],
  later: [
    "are not known, so saveCredentials and encryptFor apply to those of the next reset",
    "whose credentials are not known, so saveCredentials and encryptFor apply to those of the next reset",
  ],
};

/** What a change of the saved form does, although nothing is reset; undefined if there is no change. */
export function savingChange(
  kind: SecretKind,
  saved: RotationOutputs,
  saving: Saving,
  run: Run,
): SavingChange | undefined {
  if (!isOther(saved.saving, saving)) return undefined;
  if (areValuesWanted(saved, saving)) {
    return saved.outcome !== "unknown" && isReadable(kind, saved, run) ? "read" : "later";
  }
  if (saving.saveCredentials === false && hasValues(saved)) return "removed";
  return saving.encryptFor === undefined ? "not encrypted" : "encrypted";
}

/** Whether credentials that are known by marks only are to be saved or encrypted. */
export function areValuesWanted(saved: RotationOutputs, saving: Saving): boolean {
  return lacksValues(saved) && (saving.saveCredentials !== false || !isEncryptedFor(saved, saving));
}

/** Whether credentials are among saved outputs, of a rotation or of a shard of a fleet. */
function hasValues(outputs: object): boolean {
  const { secrets } = outputs as { readonly secrets?: string };
  const parts = secrets === undefined ? [outputs] : (JSON.parse(secrets) as object[]);
  const names: readonly string[] = [...credentialNames, "otherFields", "baseline"];
  return parts.some((part) => Object.keys(part).some((name) => names.includes(name)));
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
 * What to save of a result: the only place where credentials are removed from the outputs, and encrypted. What cannot
 * be encrypted is saved instead, because it would be lost.
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
  const current = currentIn(found, marks);
  const was = currentIn(before, marks);
  const isSame = isDeepStrictEqual({ ...was }, { ...current });
  const values = credentialsIn(found);
  const marksOnly = Object.fromEntries(
    credentialNames.flatMap((name) => (values[name] === undefined ? [[name, current[name]]] : [])),
  );
  const isComplete = !lacksValues(found);
  const { encryptedCredentials, encryptedFor, saving: _saving, currentMarks: _marks, ...others } = found;
  const fileBefore = fileIn(before);
  let file: File = {};
  let isPart = false;
  if (saving.encryptFor === undefined) {
    // Without it, they would be lost.
    if (isSame && !isComplete && !run.options.canRead(subject.kind)) file = fileBefore;
  } else if (isSame && before && isEncryptedFor(before, saving)) {
    file = fileBefore;
  } else if (isComplete) {
    try {
      if (Object.keys(current).length > 0) file = await encryptedFile(subject, found, saving.encryptFor, saving, run);
    } catch {
      const failure = result.failure ?? new NotEncryptedError({ secret: secretOf(subject), isSame });
      if (isSame && isChanged) {
        return { ...(await toSave(subject, before, result, before?.saving ?? {}, run)), failure };
      }
      return { ...result, outputs: others, failure };
    }
  } else {
    file = fileBefore;
    isPart = !isSame;
  }
  const isHidden = saving.saveCredentials === false;
  const marked: Marked = isHidden ? (isPart ? was : current) : marksOnly;
  const currentMarks = writeMarked({ salt: marks.salt, marked });
  const { otherFields, baseline, formerMarks, missingCredentials, ...open } = withoutCredentials(others);
  const outputs: RotationOutputs = {
    ...(isHidden ? { ...open, ...savedKnowledge(marks, missingIn(found)) } : others),
    ...(currentMarks !== undefined && { currentMarks }),
    ...file,
    ...(Object.keys(saving).length > 0 && { saving }),
  };
  const notices: SecretNotice[] = [];
  const isLeft = credentialNames.some((name) => current[name] !== undefined && was[name] === current[name]);
  if (isLeft && before && hasValues(before) && !hasValues(outputs)) notices.push(removedNotice(subject));
  if (isPart) notices.push(partNotice(subject));
  else if (isChanged && areValuesWanted(outputs, saving)) notices.push(laterNotice(subject));
  return { ...result, outputs, notices: [...result.notices, ...notices] };
}

/** The encrypted credentials, and whom they are for. */
type File = Pick<RotationOutputs, "encryptedCredentials" | "encryptedFor">;

function fileIn(saved: RotationOutputs | undefined): File {
  const { encryptedCredentials, encryptedFor } = saved ?? {};
  return encryptedCredentials === undefined || encryptedFor === undefined ? {} : { encryptedCredentials, encryptedFor };
}

async function encryptedFile(
  { kind, id }: Subject,
  found: RotationOutputs,
  encryptedFor: readonly string[],
  { connection = {} }: Saving,
  run: Run,
): Promise<File> {
  const { rotatedAt, password, restToken, record = {} } = found;
  const database = { databaseId: id, record };
  const urls =
    kind === databasePassword
      ? {
          connectionUrl: knownUrl(urlFor, database, { ...connection }, password, run.options.databaseHost),
          restUrl: knownUrl(restUrlFor, database, { ...connection }, restToken, run.options.databaseHost),
        }
      : { restUrl: kind.restUrl?.(record) };
  const text = JSON.stringify({ [kind.idInput]: id, rotatedAt, ...credentialsIn(found), ...urls });
  return { encryptedCredentials: await encrypt(text, encryptedFor), encryptedFor };
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
