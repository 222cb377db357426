export { type MemoryResult, MemoryStack, MemoryStackError } from "./memoryStack";
export {
  type CredentialDelivery,
  type Database,
  type DatabaseRecord,
  type Fault,
  type FlowControlRecord,
  type Platform,
  type PlatformOptions,
  type PlatformRequest,
  type SigningKeys,
  startPlatform,
  type TokenResource,
  type TokenResourceRecord,
} from "./platform/index";
