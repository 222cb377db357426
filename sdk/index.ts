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
export { type ConnectionArgs, type Rotation, type RotationArgs, type TriggerArgs } from "./rotation";
// These export only what is public.
export * from "./credentialVerification";
export * from "./dataSources";
export * from "./flowControl";
export * from "./passwordRotation";
export * from "./passwordRotationFleet";
export * from "./signingKeyRotation";
export * from "./tokenRotations";
