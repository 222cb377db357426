export { type CredentialDelivery } from "./databaseRoutes";
export { type DatabaseRecord } from "./databaseRecord";
export { type Database, type SavedDatabase } from "./databases";
export { type Fault } from "./fault";
export { type FlowControlRecord } from "./flowControl";
export { PlatformOptionError, type PlatformOptions, type PlatformSeed } from "./options";
export { type PlatformRequest } from "./requests";
export { readSeed } from "./seed";
export { type Platform, startPlatform } from "./server";
