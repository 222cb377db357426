import { type CredentialName, type Credentials } from "../records/credentials";
import { type DatabaseRecord } from "../records/database";
import { type Connection } from "./connection";
import { type SecretKind } from "../platform/secretKind";
import { type RotationReason, type RotationState } from "./planRotation";
import { rollOutputs, type Rolls } from "./rolls";
import { sinceOutputs, type SinceState } from "./rotatedSince";

/** How credentials are saved; nothing that is the default. */
export interface Saving {
  readonly saveCredentials?: false;
  /** Recipients of age, sorted, each once. */
  readonly encryptFor?: readonly string[];
  /** Where clients connect, for the URLs that are encrypted. */
  readonly connection?: Connection;
}

/** What a rotation saves, in addition to the id. */
export interface RotationOutputs extends RotationState, Rolls, SinceState, Credentials {
  readonly record?: Readonly<Record<string, unknown>>;
  readonly exactIntegers?: Readonly<Record<string, string>>;
  readonly otherFields?: string;
  readonly restUrl?: string;
  readonly problems?: readonly string[];
  readonly rotationCount: number;
  readonly rotationReason?: RotationReason;
  /** Mark of the account of the last reset or the adoption. */
  readonly account?: string;
  /** Marks of credentials that are not current: see `Marks`. */
  readonly formerMarks?: string;
  /** Marks of current credentials whose values are not saved. */
  readonly currentMarks?: string;
  /** An age file with the current credentials, which is not a secret, and the recipients that it is for. */
  readonly encryptedCredentials?: string;
  readonly encryptedFor?: readonly string[];
  /** How the credentials were to be saved, so that each change is applied once; undefined for the default. */
  readonly saving?: Saving;
  /** Credentials that are known to exist, and that are still to be read. */
  readonly missingCredentials?: readonly CredentialName[];
  /** Saved by earlier versions instead of marks: the credentials before a reset whose result is still to be read. */
  readonly baseline?: Credentials;
}

/** What a PasswordRotation saves. */
export interface PasswordRotationOutputs extends RotationOutputs {
  readonly databaseId: string;
  readonly record?: DatabaseRecord;
}

const secretNames = [
  "otherFields",
  "appliedTrigger",
  "attemptedTrigger",
  "account",
  "formerMarks",
  "currentMarks",
  "saving",
] as const;

/** An output that is always secret. */
export type SecretOutput = CredentialName | (typeof secretNames)[number] | "baseline" | "restUrl";

/** The outputs of a rotation that are always secret. */
export function secretOutputsOf({ table, restUrl }: SecretKind): SecretOutput[] {
  const derived = restUrl ? (["restUrl"] as const) : [];
  return [...Object.values(table.credentials), ...derived, ...secretNames, "baseline"];
}

/** The names of all outputs of a rotation. */
export function outputsOf(kind: SecretKind): string[] {
  return [
    kind.idInput,
    ...(Object.keys(kind.table.fields).length > 0 ? ["record"] : []),
    "exactIntegers",
    "problems",
    "outcome",
    "rotatedAt",
    "adoptedAt",
    "rotationCount",
    "rotationReason",
    "unconfirmedResets",
    "missingCredentials",
    ...sinceOutputs,
    "encryptedCredentials",
    "encryptedFor",
    ...(kind.minInterval === undefined ? [] : rollOutputs),
    ...secretOutputsOf(kind).filter((name) => name !== "baseline" && name !== "saving"),
  ];
}
