import { type Credentials } from "../records/database";
import { type DatabaseResponse } from "../records/response";
import {
  type CredentialName,
  credentialNames,
  type Marks,
  readMarks,
  withFormer,
  withPending,
  writeMarks,
} from "./marks";
import { type PasswordRotationOutputs } from "./outputs";
import { isOtherAccount } from "./planRotation";
import { type Run } from "../run";

type Saved = PasswordRotationOutputs;

/** The credentials with some names, as far as they are known. */
export function picked(credentials: Credentials, names: readonly CredentialName[]): Credentials {
  const known = names.filter((name) => credentials[name] !== undefined);
  return Object.fromEntries(known.map((name) => [name, credentials[name]]));
}

/** The saved credentials. */
export function credentialsIn(saved: Saved | undefined): Credentials {
  return picked(saved ?? {}, credentialNames);
}

/** All saved secrets, which no message may show. */
export function secretsIn(saved: Saved | undefined): string[] {
  return [credentialsIn(saved), saved?.baseline ?? {}].flatMap((credentials) => Object.values<string>(credentials));
}

/** The credentials that a database is known to have, by its saved state and by what was shown. */
export function knownNames(saved: Saved | undefined, shown: Credentials = {}): CredentialName[] {
  return credentialNames.filter(
    (name) =>
      (saved?.[name] ?? saved?.baseline?.[name] ?? shown[name]) !== undefined || missingIn(saved).includes(name),
  );
}

/** The credentials that are still to be read. */
export function missingIn(saved: Saved | undefined): readonly CredentialName[] {
  return saved?.missingCredentials ?? (Object.keys(saved?.baseline ?? {}) as CredentialName[]);
}

/** @throws StateError if the saved marks cannot be read */
export function marksIn(saved: Saved | undefined): Marks {
  const marks = readMarks(saved?.formerMarks);
  if (!saved?.baseline) return marks;
  return saved.outcome === "unknown" ? withPending(marks, saved.baseline) : withFormer(marks, saved.baseline);
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
export function withResponse(saved: SavedRecord, response: DatabaseResponse): SavedRecord {
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
export function accountOf(run: Run): Pick<Saved, "account"> {
  const account = run.options.account();
  return account === undefined ? {} : { account };
}

/** Whether a database can be read, and is in this account. The same id may be another database in another one. */
function isReadable({ account }: Pick<Saved, "account">, { options }: Run): boolean {
  return options.canRead() && !isOtherAccount(account, options.account);
}

/** Whether some credentials are still to be read. */
export function isToBeRead(saved: Saved, run: Run): boolean {
  return saved.outcome !== "unknown" && missingIn(saved).length > 0 && isReadable(saved, run);
}

/** Whether a read may show that an unconfirmed reset was applied. */
export function mayBeSettled(saved: Saved | undefined, run: Run): saved is Saved {
  return saved?.outcome === "unknown" && marksIn(saved).pending !== undefined && isReadable(saved, run);
}
