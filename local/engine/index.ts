export { type ConfigValue } from "./config";
export { EngineError, UnsupportedError } from "./errors";
export {
  type OpenOptions,
  OperationError,
  type OperationOptions,
  type OperationResult,
  type OutputMap,
  type OutputValue,
  type RefreshOptions,
  type UpOptions,
} from "./results";
export { LocalStack } from "./stack";
export {
  type Changes,
  type Diagnostic,
  type EngineEvent,
  type ExportedDeployment,
  type Severity,
  type StepOp,
} from "./types";
