import { type Credentials, type DatabaseRecord } from "../records/database";
import { type CredentialName } from "./marks";
import { type RotationReason, type RotationState } from "./planRotation";

/** What a PasswordRotation saves. */
export interface PasswordRotationOutputs extends RotationState, Credentials {
  readonly databaseId: string;
  readonly record?: DatabaseRecord;
  readonly exactIntegers?: Readonly<Record<string, string>>;
  readonly otherFields?: string;
  readonly problems?: readonly string[];
  readonly rotationCount: number;
  readonly rotationReason?: RotationReason;
  /** Mark of the account of the last reset or the adoption. */
  readonly account?: string;
  /** Marks of credentials that are not current: see `Marks`. */
  readonly formerMarks?: string;
  /** Credentials that the database is known to have, and that are still to be read. */
  readonly missingCredentials?: readonly CredentialName[];
  /** Saved by earlier versions instead of marks: the credentials before a reset whose result is still to be read. */
  readonly baseline?: Credentials;
}

/** Outputs that are always secret. */
export const secretPasswordRotationOutputs = [
  "password",
  "restToken",
  "readOnlyRestToken",
  "otherFields",
  "appliedTrigger",
  "attemptedTrigger",
  "account",
  "formerMarks",
  "baseline",
] as const satisfies readonly (keyof PasswordRotationOutputs)[];

/** The names of all outputs. */
export const passwordRotationOutputs = [
  "databaseId",
  "record",
  "exactIntegers",
  "problems",
  "outcome",
  "rotatedAt",
  "adoptedAt",
  "rotationCount",
  "rotationReason",
  "unconfirmedResets",
  "missingCredentials",
  ...secretPasswordRotationOutputs.filter((name) => name !== "baseline"),
] as const satisfies readonly (keyof PasswordRotationOutputs)[];
