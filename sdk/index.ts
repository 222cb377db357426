import "../provider/engine/requireNode";
export {
  type Delivery,
  type ErrorCode,
  InputError,
  RekeyError,
  RequestError,
  type RequestFacts,
  SettingsError,
} from "../provider/domain/errors";
export { type DatabaseRecord, type ListedDatabase } from "../provider/records/database";
export { type FlowControlKey, type GlobalParallelism } from "../provider/records/flowControl";
export { type IndexRecord, type QueueUserRecord } from "../provider/records/otherSecrets";
export { type FleetCredentials, type FleetDatabase } from "../provider/rotation/fleet/fleetTypes";
export { type Outcome, type RotationReason } from "../provider/rotation/memory/memory";
export {
  type ConnectionArgs,
  type OverlapArgs,
  type Rotation,
  type RotationArgs,
  type TriggerArgs,
} from "./rotation";
// These export only what is public.
export * from "./aclUserRotation";
export * from "./credentialVerification";
export * from "./dataSources";
export * from "./flowControl";
export * from "./passwordRotation";
export * from "./passwordRotationFleet";
export * from "./retirement";
export * from "./rotationTrigger";
export * from "./signingKeyRotation";
export * from "./tokenRotations";
