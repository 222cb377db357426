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
export { type IndexRecord } from "../provider/records/indexRecord";
export { type QueueUserRecord } from "../provider/records/queueUser";
export { type FleetCredentials, type FleetDatabase, type FleetRecord } from "../provider/rotation/fleetOutputs";
export { type ResetReason } from "../provider/rotation/memory";
export { type Outcome } from "../provider/rotation/state";
export { CredentialVerification, type CredentialVerificationArgs } from "./credentialVerification";
export {
  type DataSourceOptions,
  getDatabases,
  getDatabasesOutput,
  type GetDatabasesResult,
  getFlowControlKey,
  type GetFlowControlKeyArgs,
  getFlowControlKeyOutput,
  getFlowControlKeys,
  type GetFlowControlKeysArgs,
  getFlowControlKeysOutput,
  type GetFlowControlKeysResult,
  getGlobalParallelism,
  getGlobalParallelismOutput,
  type InputsOf,
} from "./dataSources";
export {
  FlowControlLimits,
  type FlowControlLimitsArgs,
  FlowControlReset,
  type FlowControlResetArgs,
} from "./flowControl";
export { type OutputsOf, PasswordRotation, type PasswordRotationArgs } from "./passwordRotation";
export {
  type FleetDatabases,
  type FleetMemberArgs,
  PasswordRotationFleet,
  type PasswordRotationFleetArgs,
} from "./passwordRotationFleet";
export { type ConnectionArgs, type Rotation, type RotationArgs, type TriggerArgs } from "./rotation";
export { SigningKeyRotation, type SigningKeyRotationArgs } from "./signingKeyRotation";
export {
  QueueTokenRotation,
  type QueueTokenRotationArgs,
  SearchTokenRotation,
  type SearchTokenRotationArgs,
  VectorTokenRotation,
  type VectorTokenRotationArgs,
} from "./tokenRotations";
