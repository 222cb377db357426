export { type DatabaseRecord } from "./databaseRecord";
export { type Fault } from "./fault";
export { type FlowControlRecord } from "./flowControl";
export { type CredentialDelivery, PlatformOptionError, type PlatformOptions, type PlatformSeed } from "./options";
export { type Platform, type SigningKeys } from "./platform";
export { type PlatformRequest } from "./requests";
export { readSeed } from "./seed";
export { startPlatform } from "./server";
export { type Database, type TokenResource, type TokenResourceRecord } from "./stores";
