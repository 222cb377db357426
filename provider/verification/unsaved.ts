import { RequestError } from "../platform/errors";
import { type Credential, nameOf } from "../platform/credential";
import { type Subject } from "../platform/secretKind";
import { type CredentialName, type Credentials } from "../records/credentials";
import { firstOf, markAll, readMarked, writeMarked } from "../rotation/marks";
import { type Run } from "../run";

/** A credential that is not saved: its mark, with which one that was read is recognized. */
export interface UnsavedCredential {
  readonly username?: string;
  readonly mark: string;
}

/** A credential that was read, or why it could not be. */
type Read = { readonly credential: Credential } | { readonly reason: string; readonly advice: string };

/** The credential of this name that is known by its mark only; undefined if there is none. */
export function unsavedIn(
  currentMarks: string | undefined,
  name: CredentialName,
): Pick<UnsavedCredential, "mark"> | undefined {
  if (currentMarks === undefined) return undefined;
  const { salt, marked } = readMarked(currentMarks);
  const mark = writeMarked({ salt, marked: { [name]: marked[name] } });
  return mark === undefined ? undefined : { mark };
}

/** A credential in messages, also one that is not saved. */
export function nameIn(credential: Credential | UnsavedCredential): string {
  if (!("mark" in credential)) return nameOf(credential);
  return nameOf(like(credential, { password: "", restToken: "", token: "" }) as Credential);
}

/** The credential of the same name and user among others; undefined if there is none. */
export function like({ username, mark }: UnsavedCredential, credentials: Credentials): Credential | undefined {
  const name = firstOf(readMarked(mark).marked);
  const value = name && credentials[name];
  if (value === undefined) return undefined;
  return { ...(username !== undefined && { username }), [name as "token"]: value };
}

/** Whether the mark is that of a credential. */
export function isMarkOf({ mark }: UnsavedCredential, credential: Credential): boolean {
  const { salt, marked } = readMarked(mark);
  const { username: _user, ...values } = credential as Credential & { readonly username?: string };
  return Object.entries(markAll({ salt }, values)).some(([name, one]) => marked[name as CredentialName] === one);
}

/** Reads a credential that is not saved. */
export async function readUnsaved(
  { kind, id }: Subject,
  unsaved: UnsavedCredential,
  deadlineMs: number,
  run: Run,
): Promise<Read> {
  const notSaved = `the new ${nameIn(unsaved)} is not saved`;
  if (!run.options.canRead(kind)) {
    const advice = "Set rekey:databasePath, or remove saveCredentials or this verification.";
    return { reason: `${notSaved}, and this platform cannot be read`, advice };
  }
  try {
    const { credentials } = await run.platform.operations(kind).read(id, { deadlineMs });
    const credential = like(unsaved, credentials);
    if (!credential) return { reason: `${notSaved}, and the platform does not show it`, advice: whatToDo };
    if (isMarkOf(unsaved, credential)) return { credential };
    return { reason: `${notSaved}, and the platform shows another one`, advice: "Run `pulumi refresh`, then `up`." };
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    return { reason: `${notSaved}, and could not be read: ${error.happened}`, advice: error.advice };
  }
}

const whatToDo = "Remove saveCredentials or this verification.";
