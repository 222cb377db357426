import { type Credentials, type DatabaseRecord } from "../records/database";
import { type FlowControlKey } from "../records/flowControl";
import { type Outcome, type RotationReason, type RotationState } from "../rotation/planRotation";

/** What create or update did. */
export interface Applied<Outputs> {
  readonly outputs: Outputs;
  /** Set where nobody knows whether the platform did it: what to tell the user. The outputs are saved all the same. */
  readonly unconfirmed?: string;
  /** One line for the run's diagnostics. */
  readonly notice?: string;
}

/** What diff found. */
export interface Difference {
  readonly changes: boolean;
  /** The inputs that make a new resource necessary. */
  readonly replaces?: readonly string[];
  /** One line for the run's diagnostics: the host has no other way to say why. */
  readonly notice?: string;
}

/** An input that cannot be used. */
export interface CheckFailure {
  readonly property: string;
  readonly reason: string;
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
}

/** Outputs that are secret whatever they hold. */
export const secretPasswordRotationOutputs = [
  "password",
  "restToken",
  "readOnlyRestToken",
  "otherFields",
  "appliedTrigger",
  "attemptedTrigger",
] as const satisfies readonly (keyof PasswordRotationOutputs)[];

/** How a database of a fleet stands: as a single one does, or `pending`: so far it was neither reset nor adopted. */
export type FleetOutcome = Outcome | "pending";

/**
 * What a fleet knows of one of its databases: what a single one saves, but for the reason of the last reset, which no
 * output of a fleet shows; and what is still to be done about it.
 */
export interface FleetDatabaseState extends Omit<PasswordRotationOutputs, "outcome" | "rotationReason"> {
  readonly outcome: FleetOutcome;
  /** Why the last `up` did not bring the database to what is wanted; missing where it did. */
  readonly problem?: string;
  /** Whether it was not even tried, because the fleet stopped before. */
  readonly notTried?: true;
}

/** The part of it that is secret whatever it holds. */
export type FleetDatabaseSecrets = Pick<
  FleetDatabaseState,
  "databaseId" | (typeof secretPasswordRotationOutputs)[number]
>;

/**
 * What a shard of a fleet saves: its databases in the order of their ids, and apart from that what is secret of them.
 */
export interface PasswordRotationShardOutputs {
  readonly shard: string;
  readonly rotations: readonly FleetDatabaseState[];
  /**
   * JSON text of a list of `FleetDatabaseSecrets`: nobody sees it, and an engine passes on one text faster than a
   * thousand.
   */
  readonly secrets: string;
}

/** Outputs that are secret whatever they hold. */
export const secretPasswordRotationShardOutputs = [
  "secrets",
] as const satisfies readonly (keyof PasswordRotationShardOutputs)[];

/** What a FlowControlReset saves. */
export interface FlowControlResetOutputs {
  readonly flowControlKey: string;
  readonly before?: FlowControlKey;
  readonly after?: FlowControlKey;
  readonly resetAt: string;
  readonly resetCount: number;
  readonly appliedTrigger: string;
}

/** Outputs that are secret whatever they hold. */
export const secretFlowControlResetOutputs = [
  "appliedTrigger",
] as const satisfies readonly (keyof FlowControlResetOutputs)[];
