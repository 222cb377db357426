export { type CredentialDelivery } from "./databaseRoutes";
export { type DatabaseRecord } from "./databaseRecord";
export { type Database, type SavedDatabase } from "./databases";
export { type Fault } from "./faults";
export { type FlowControlRecord } from "./flowControl";
export { PlatformOptionError, type PlatformOptions } from "./options";
export { type PlatformRequest } from "./requests";
export { type PlatformSeed, readSeed } from "./seed";
export { type Platform, startPlatform } from "./server";
