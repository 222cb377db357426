export { type ConfigValue } from "./config";
export { EngineError, UnsupportedError } from "./errors";
export { type ExportedDeployment } from "./format";
export * from "./results";
export { LocalStack } from "./stack";
export {
  type Changes,
  type Diagnostic,
  type EngineEvent,
  type PropertyChange,
  type Severity,
  type StepOp,
} from "./types";
