import { type Credentials, type DatabaseRecord } from "../records/database";
import { type FlowControlKey } from "../records/flowControl";
import { type RotationReason, type RotationState } from "../rotation/planRotation";

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
