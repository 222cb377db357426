import { type CredentialName, credentialNames, type Credentials, valuesOf } from "../records/credentials";
import { type SecretResponse } from "../records/response";
import { keyOf, type SecretKind, type Subject } from "../platform/secretKind";
import { markAll, type Marked, type Marks, readMarked, readMarks, withFormer, withPending, writeMarks } from "./marks";
import { type RotationOutputs } from "./outputs";
import { type Run } from "../run";

type Saved = RotationOutputs;

/** The credentials with some names, as far as they are known. Those that are not text are damaged. */
export function picked(credentials: Credentials, names: readonly CredentialName[]): Credentials {
  const known = names.filter((name) => typeof credentials[name] === "string");
  return Object.fromEntries(known.map((name) => [name, credentials[name]]));
}

/** The saved credentials. */
export function credentialsIn(saved: Saved | undefined): Credentials {
  return picked(saved ?? {}, credentialNames);
}

/**
 * Marks of the current credentials, of which the values may be saved, or only the marks.
 *
 * @throws StateError if the saved marks cannot be read
 */
export function currentIn(saved: Saved | undefined, marks = marksIn(saved)): Marked {
  const { currentMarks } = saved ?? {};
  const marked = currentMarks === undefined ? {} : readMarked(currentMarks).marked;
  return { ...marked, ...markAll(marks, credentialsIn(saved)) };
}

/** The saved outputs for the current credentials: values, and marks of those whose values are not saved. */
export function keptCredentials(saved: Saved): Pick<Saved, CredentialName | "currentMarks"> {
  const { currentMarks } = saved;
  return { ...credentialsIn(saved), ...(currentMarks !== undefined && { currentMarks }) };
}

/**
 * The credentials that resets of this run have replaced, as far as they are known. If credentials are not saved, no
 * later run can show that they are refused.
 */
export function replacedIn(subject: Subject, run: Run): Credentials[] {
  return run.shared(`replaced ${keyOf(subject)}`, (): Credentials[] => []);
}

/** What reads of this run have shown of a secret: a value among them can be read again, so it need not be saved. */
export function shownIn(subject: Subject, run: Run): Credentials[] {
  return run.shared(`shown ${keyOf(subject)}`, (): Credentials[] => []);
}

/** Credentials of a response and of a later read, whose credentials count alone if one of them differs. */
export function together(returned: Credentials, read: Credentials): Credentials {
  const isSame = (name: CredentialName) => (returned[name] ?? read[name]) === (read[name] ?? returned[name]);
  return credentialNames.every(isSame) ? { ...returned, ...read } : read;
}

/** The outputs without the credentials and their marks. */
export function withoutCredentials(saved: Saved): Saved {
  const names: readonly string[] = [...credentialNames, "currentMarks"];
  return Object.fromEntries(Object.entries(saved).filter(([name]) => !names.includes(name))) as unknown as Saved;
}

/** All saved secrets, which no message may show. */
export function secretsIn(saved: Saved | undefined): string[] {
  return [...valuesOf(credentialsIn(saved)), ...valuesOf(saved?.baseline)];
}

/** The credentials that are known to exist, by the saved state and by what was shown. */
export function knownNames(saved: Saved | undefined, shown: Credentials = {}): CredentialName[] {
  const current = currentIn(saved);
  return credentialNames.filter(
    (name) =>
      (current[name] ?? saved?.baseline?.[name] ?? shown[name]) !== undefined || missingIn(saved).includes(name),
  );
}

/** The credentials that are still to be read. */
export function missingIn(saved: Saved | undefined): readonly CredentialName[] {
  return saved?.missingCredentials ?? (Object.keys(saved?.baseline ?? {}) as CredentialName[]);
}

/** @throws StateError if the saved marks cannot be read */
export function marksIn(saved: Saved | undefined): Marks {
  const { formerMarks, currentMarks, baseline } = saved ?? {};
  const marks = readMarks(formerMarks, currentMarks === undefined ? undefined : readMarked(currentMarks).salt);
  if (!baseline) return marks;
  const before = markAll(marks, baseline);
  return saved?.outcome === "unknown" ? withPending(marks, before) : withFormer(marks, before);
}

/** The outputs for what is known beyond the credentials; nothing that is empty. */
export function savedKnowledge(marks: Marks, missing: readonly CredentialName[]) {
  const formerMarks = writeMarks(marks);
  return {
    ...(formerMarks !== undefined && { formerMarks }),
    ...(missing.length > 0 && { missingCredentials: missing }),
  };
}

/** A record, and what could be read of the responses that it is from. */
export interface SavedRecord extends Pick<Saved, "record" | "otherFields"> {
  readonly exactIntegers: Readonly<Record<string, string>>;
  readonly problems: readonly string[];
}

export function recordIn(saved: Saved | undefined): SavedRecord {
  const { record, exactIntegers = {} } = saved ?? {};
  return { ...(record && { record }), exactIntegers, problems: [] };
}

/** Adds a response to a record: a field that the response leaves out stays. */
export function withResponse(saved: SavedRecord, response: SecretResponse): SavedRecord {
  const { record, otherFields, problems } = response;
  const exact = Object.entries(saved.exactIntegers).filter(([name]) => !Object.hasOwn(record, name));
  return {
    record: { ...saved.record, ...record },
    exactIntegers: { ...Object.fromEntries(exact), ...response.exactIntegers },
    ...(otherFields !== undefined && { otherFields }),
    problems,
  };
}

/** The mark of the account, which is saved with what was done in it. */
export function accountOf({ service }: SecretKind, { options }: Run): Pick<Saved, "account"> {
  const account = options.account(service);
  return account === undefined ? {} : { account };
}

/**
 * Whether the saved mark of the account is that of another one. A state of an earlier version has none, and a newer
 * version may have another form: neither is known to be of another account.
 */
export function isElsewhere(kind: SecretKind, saved: Pick<Saved, "account"> | undefined, { options }: Run): boolean {
  const { account } = saved ?? {};
  if (typeof account !== "string" || !account.startsWith("1:")) return false;
  const current = options.account(kind.service);
  return current !== undefined && current !== account;
}

/** The settings that say which account a secret is in, for messages. */
export function accountSettings({ service }: SecretKind): string {
  return service === "queue" ? "queueUrl" : "baseUrl or username";
}

/** Whether a secret can be read, and is in this account. The same id may be another one in another account. */
export function isReadable(kind: SecretKind, saved: Saved, run: Run): boolean {
  return run.options.canRead(kind) && !isElsewhere(kind, saved, run);
}

/** Whether some credentials are still to be read. */
export function isToBeRead(kind: SecretKind, saved: Saved, run: Run): boolean {
  return saved.outcome !== "unknown" && missingIn(saved).length > 0 && isReadable(kind, saved, run);
}

/** Whether a read may show that an unconfirmed reset was applied. */
export function mayBeSettled(kind: SecretKind, saved: Saved | undefined, run: Run): saved is Saved {
  return saved?.outcome === "unknown" && marksIn(saved).pending !== undefined && isReadable(kind, saved, run);
}
