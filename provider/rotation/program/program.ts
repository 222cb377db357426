import { type SecretKind } from "../../domain/secretKind";
import { isSet } from "../../records/fields";
import { isUnknown, jsonText } from "../../pulumi/values";
import { type FoundSetting } from "../../settings/table";
import { type Admin, readAdmin } from "./admin";
import { canonicalTrigger, saltedMark, type Trigger } from "../memory/marks";
import {
  type AdminInput,
  type Connection,
  type Form,
  type Memory,
  type SavedProgram,
} from "../memory/memory";

/** The inputs of a rotation, in addition to the id. In a preview, any may be unknown. */
export interface RotationInputs extends Trigger {
  readonly rotateEvery?: string | null | undefined;
  readonly rotatedSince?: string | null | undefined;
  readonly initialRotation?: boolean | null | undefined;
  readonly minInterval?: string | null | undefined;
  readonly saveCredentials?: boolean | null | undefined;
  readonly encryptFor?: readonly string[] | null | undefined;
  /** Of a secret of which two can be valid: `retirement`, `none` or a duration. Default: `retirement`. */
  readonly overlap?: string | null | undefined;
  readonly connection?:
    { readonly [K in keyof Connection]: Connection[K] | null } | null | undefined;
  /** Of a queue user: the address of the queue of its region. Default: `rekey:queueUrl`. */
  readonly queueUrl?: string | null | undefined;
  /** Of a Redis user: its administrator. */
  readonly admin?: AdminInput | null | undefined;
}

/** A program's inputs, as all of the rotation reads them. */
export interface Program {
  /** The inputs that are not known yet. What they decide has its default below. */
  readonly unknown: ReadonlySet<string>;
  /** The canonical form of `version` and `triggers`; empty without both. */
  readonly trigger: string;
  readonly rotateEvery?: string | undefined;
  readonly rotatedSince?: string | undefined;
  readonly isAdopted: boolean;
  readonly minInterval?: string | undefined;
  /** For how long what a rotation replaces stays valid. Of a secret of which one can be valid, `none`. */
  readonly overlap: string;
  /** A rotation adds a secret, and the former one is retired afterwards. Otherwise, one request replaces it at once. */
  readonly adds: boolean;
  readonly form: Form;
  readonly connection?: Connection | undefined;
  readonly queueUrl?: string | undefined;
  readonly admin?: Admin | undefined;
}

/** The former one stays valid until a `Retirement` ends it. */
export const untilRetirement = "retirement";
/** The former one is replaced at once. */
export const noOverlap = "none";

/**
 * Reads the inputs once: nothing else asks whether one is null or unknown.
 *
 * @param databaseHost the setting, with which the address of an administrator's database is completed
 */
export function readProgram(
  inputs: RotationInputs,
  { maxValid, paths }: SecretKind,
  databaseHost?: FoundSetting,
): Program {
  const unknown = new Set(
    Object.entries(inputs).flatMap(([name, value]) => (isUnknown(value) ? name : [])),
  );
  const known = <K extends keyof RotationInputs>(name: K) =>
    unknown.has(name) ? undefined : (inputs[name] ?? undefined);
  const isTriggerUnknown = unknown.has("version") || unknown.has("triggers");
  const saveCredentials = known("saveCredentials");
  const encryptFor = [...new Set(known("encryptFor"))].sort();
  const overlap = maxValid ? (known("overlap") ?? untilRetirement) : noOverlap;
  return {
    unknown,
    trigger: isTriggerUnknown ? "" : canonicalTrigger(inputs),
    rotateEvery: known("rotateEvery"),
    rotatedSince: known("rotatedSince"),
    isAdopted: inputs.initialRotation === false,
    minInterval: known("minInterval"),
    overlap,
    // With `none`, a secret that no operation resets is added, and the former one is removed in the same run.
    adds: overlap !== noOverlap || (maxValid !== undefined && paths?.reset === undefined),
    form: {
      ...(saveCredentials === false && { saveCredentials }),
      ...(encryptFor.length > 0 && { encryptFor }),
    },
    connection: connectionIn(known("connection")),
    queueUrl: known("queueUrl"),
    admin: readAdmin(inputs.admin, databaseHost),
  };
}

/** The parts of a connection that a program sets. */
export function connectionIn(given: RotationInputs["connection"]): Connection | undefined {
  const set = Object.entries(given ?? {}).filter(([, value]) => isSet(value));
  return set.length > 0 ? Object.fromEntries(set) : undefined;
}

/** The inputs that are saved. */
export function savedProgram(
  { connection, queueUrl, rotateEvery, admin }: Program,
  { salt }: Pick<Memory, "salt">,
): SavedProgram {
  const mark = admin && saltedMark(salt, jsonText(admin.given));
  return { connection, queueUrl, rotateEvery, admin: mark };
}

/** True if no credentials are to be saved, not even encrypted. */
export function savesNone({ saveCredentials, encryptFor }: Form): boolean {
  return saveCredentials === false && encryptFor === undefined;
}
