import { type ErrorCode, type RekeyError } from "./platform/errors";
import { type Credentials, type DatabaseRecord } from "./records/database";
import { type FlowControlKey } from "./records/flowControl";
import { type Outcome, type RotationReason, type RotationState } from "./rotation/planRotation";

/** What create or update did. */
export interface Applied<Outputs> {
  readonly outputs: Outputs;
  /** Set if it is unknown whether the platform did it: the error message. The outputs are saved nevertheless. */
  readonly unconfirmed?: string;
  /** Set if it failed: the error. The outputs are saved nevertheless, if the error can carry them. */
  readonly failed?: RekeyError;
  /** One line for the run's diagnostics. */
  readonly notice?: string;
  /** A warning at the resource. If it is a dynamic one, the SDK shows it. */
  readonly warning?: string | undefined;
}

/** What diff found. */
export interface Difference {
  readonly changes: boolean;
  /** The inputs that make a new resource necessary. */
  readonly replaces?: readonly string[];
  /** One line for the run's diagnostics that explains the reason. */
  readonly notice?: string;
  /** What may be wrong with the saved outputs. */
  readonly warning?: string;
}

/** An input that cannot be used. */
export interface CheckFailure {
  readonly property: string;
  readonly reason: string;
  /** Default: REKEY_INPUT_INVALID. */
  readonly code?: ErrorCode;
  /** What was sent, and what to do. Default: nothing was sent for the resource. */
  readonly advice?: string;
}

/** What a PasswordRotation saves. */
export interface PasswordRotationOutputs extends RotationState, Credentials {
  readonly databaseId: string;
  readonly record?: DatabaseRecord;
  readonly exactIntegers?: Readonly<Record<string, string>>;
  readonly otherFields?: string;
  readonly problems?: readonly string[];
  readonly rotationCount: number;
  readonly rotationReason?: RotationReason;
  /** Mark of the account of the last confirmed reset or the adoption. */
  readonly account?: string;
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
  ...secretPasswordRotationOutputs,
] as const satisfies readonly (keyof PasswordRotationOutputs)[];

/** The outcome of a database of a fleet: that of a single one, or `pending` before it was reset or adopted. */
export type FleetOutcome = Outcome | "pending";

/**
 * What a fleet saves of one of its databases: the outputs of a single one, without the reason of the last reset, which
 * no output of a fleet shows, and what is left to do.
 */
export interface FleetDatabaseState extends Omit<PasswordRotationOutputs, "outcome" | "rotationReason"> {
  readonly outcome: FleetOutcome;
  /** Why the last `up` did not bring the database to its desired state; undefined if it did. */
  readonly problem?: string;
  /** Whether it was not attempted, because the fleet had stopped. */
  readonly notTried?: true;
}

/** The part of it that is always secret. */
export type FleetDatabaseSecrets = Pick<
  FleetDatabaseState,
  "databaseId" | (typeof secretPasswordRotationOutputs)[number]
>;

/**
 * What a shard of a fleet saves: its databases in the order of their ids, and their secrets separately.
 */
export interface PasswordRotationShardOutputs {
  readonly shard: string;
  readonly rotations: readonly FleetDatabaseState[];
  /**
   * JSON text of a list of `FleetDatabaseSecrets`: an engine passes on one text faster than a thousand.
   */
  readonly secrets: string;
}

/** Outputs that are always secret. */
export const secretPasswordRotationShardOutputs = [
  "secrets",
] as const satisfies readonly (keyof PasswordRotationShardOutputs)[];

/** The names of all outputs. */
export const passwordRotationShardOutputs = [
  "shard",
  "rotations",
  ...secretPasswordRotationShardOutputs,
] as const satisfies readonly (keyof PasswordRotationShardOutputs)[];

/** What a PasswordVerification saves. */
export interface PasswordVerificationOutputs {
  readonly subject: string;
  readonly verified: boolean;
  readonly verifiedAt?: string;
  readonly formerRefused?: boolean;
  /** JSON text of the databases with the credentials that were tried. */
  readonly targets: string;
}

/** Outputs that are always secret. */
export const secretPasswordVerificationOutputs = [
  "targets",
] as const satisfies readonly (keyof PasswordVerificationOutputs)[];

/** The names of all outputs. */
export const passwordVerificationOutputs = [
  "subject",
  "verified",
  "verifiedAt",
  "formerRefused",
  ...secretPasswordVerificationOutputs,
] as const satisfies readonly (keyof PasswordVerificationOutputs)[];

/** What a FlowControlReset saves. */
export interface FlowControlResetOutputs {
  readonly flowControlKey: string;
  readonly before?: FlowControlKey;
  readonly after?: FlowControlKey;
  readonly resetAt: string;
  readonly resetCount: number;
  readonly appliedTrigger: string;
}

/** Outputs that are always secret. */
export const secretFlowControlResetOutputs = [
  "appliedTrigger",
] as const satisfies readonly (keyof FlowControlResetOutputs)[];

/** The names of all outputs. */
export const flowControlResetOutputs = [
  "flowControlKey",
  "before",
  "after",
  "resetAt",
  "resetCount",
  ...secretFlowControlResetOutputs,
] as const satisfies readonly (keyof FlowControlResetOutputs)[];
