import { isDeepStrictEqual } from "node:util";
import { isSet } from "../records/fields";
import { isUnknown } from "../pulumi/values";
import { type Trigger } from "./marks";
import { type Connection, type Form, type Memory } from "./state";
import { type AdminInput } from "./userMemory";

/** The inputs of a rotation, in addition to the id. In a preview, any may be unknown. */
export interface Desired extends Trigger {
  readonly rotateEvery?: string | null | undefined;
  readonly rotatedSince?: string | null | undefined;
  readonly initialRotation?: boolean | null | undefined;
  readonly minInterval?: string | null | undefined;
  readonly saveCredentials?: boolean | null | undefined;
  readonly encryptFor?: readonly string[] | null | undefined;
  /** Of a kind that overlaps: `verified`, `none` or a duration. Default: `verified`. */
  readonly overlap?: string | null | undefined;
  /** Of a queue user: the address of the queue of its region. Default: `rekey:queueUrl`. */
  readonly queueUrl?: string | null | undefined;
  readonly connection?:
    { readonly [K in keyof Connection]: Connection[K] | null } | null | undefined;
  /** Of a Redis user: its administrator. */
  readonly admin?: AdminInput | null | undefined;
}

/** The inputs that are saved for a refresh, which has no inputs: addresses, and the schedule. */
export function programOf({
  connection,
  queueUrl,
  rotateEvery,
}: Desired): Pick<Memory, "connection" | "queueUrl" | "rotateEvery"> {
  const given = Object.entries(connection ?? {}).filter(([, value]) => isSet(value));
  return {
    connection: given.length > 0 ? Object.fromEntries(given) : undefined,
    queueUrl: queueUrl ?? undefined,
    rotateEvery: rotateEvery ?? undefined,
  };
}

/** The form in which the program wants credentials to be saved. */
export function formOf({ saveCredentials, encryptFor }: Desired): Form {
  const recipients = [...new Set(encryptFor ?? [])].sort();
  return {
    ...(saveCredentials === false && { saveCredentials }),
    ...(recipients.length > 0 && { encryptFor: recipients }),
  };
}

/** Whether the program wants another form than that of the saved credentials, as far as it is known. */
export function isFormChanged(desired: Desired, { form }: Memory): boolean {
  if (form === undefined || isUnknown([desired.saveCredentials, desired.encryptFor])) return false;
  return !isDeepStrictEqual(formOf(desired), form);
}

/** Whether no credentials are to be saved, not even encrypted. */
export function savesNone({ saveCredentials, encryptFor }: Form): boolean {
  return saveCredentials === false && encryptFor === undefined;
}
