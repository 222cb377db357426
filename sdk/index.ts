export {
  type ErrorCode,
  InputError,
  RekeyError,
  RequestError,
  type RequestFacts,
  SettingsError,
} from "../provider/platform/errors";
export { type Delivery } from "../provider/platform/retry";
export { type DatabaseRecord, type ListedDatabase } from "../provider/records/database";
export { type FlowControlKey, type GlobalParallelism } from "../provider/records/flowControl";
export { type FleetCredentials, type FleetDatabase, type FleetRecord } from "../provider/rotation/fleetOutputs";
export { type ResetReason } from "../provider/rotation/memory";
export { type Outcome } from "../provider/rotation/memory";
export { type ConnectionArgs } from "./connection";
export { getDatabases, getDatabasesOutput, type GetDatabasesResult } from "./databases";
export { type DataSourceOptions, type InputsOf } from "./dataSource";
export { FlowControlLimits, type FlowControlLimitsArgs } from "./flowControlLimits";
export { FlowControlReset, type FlowControlResetArgs } from "./flowControlReset";
export {
  getFlowControlKey,
  type GetFlowControlKeyArgs,
  getFlowControlKeyOutput,
  getFlowControlKeys,
  type GetFlowControlKeysArgs,
  getFlowControlKeysOutput,
  type GetFlowControlKeysResult,
  getGlobalParallelism,
  getGlobalParallelismOutput,
} from "./flowControlReads";
export { type IndexRecord } from "../provider/records/indexRecord";
export { type QueueUserRecord } from "../provider/records/queueUser";
export { QueueTokenRotation, type QueueTokenRotationArgs } from "./queueTokenRotation";
export { type Rotation, type RotationArgs } from "./rotation";
export { SigningKeyRotation, type SigningKeyRotationArgs } from "./signingKeyRotation";
export {
  SearchTokenRotation,
  type SearchTokenRotationArgs,
  VectorTokenRotation,
  type VectorTokenRotationArgs,
} from "./indexTokenRotation";
export { type OutputsOf, PasswordRotation, type PasswordRotationArgs } from "./passwordRotation";
export {
  type FleetDatabases,
  type FleetMemberArgs,
  PasswordRotationFleet,
  type PasswordRotationFleetArgs,
} from "./passwordRotationFleet";
export { CredentialVerification, type CredentialVerificationArgs } from "./credentialVerification";
export { type TriggerArgs } from "./trigger";
