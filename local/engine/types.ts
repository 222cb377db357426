/** A step on a resource, with the name of Pulumi's engine. */
export type StepOp =
  | "same"
  | "create"
  | "update"
  | "delete"
  | "replace"
  | "create-replacement"
  | "delete-replaced"
  | "refresh"
  | "remove-pending-replace";

/** Number of resources by kind of change, as in the Automation API. */
export type Changes = Partial<Record<"create" | "update" | "delete" | "replace" | "same", number>>;

/** A changed input of a resource. Secrets are masked. */
export interface PropertyChange {
  /** Name of the input. */
  readonly name: string;
  /** The saved value; undefined if the input is new. */
  readonly before: unknown;
  /** The desired value; undefined if the input was removed. */
  readonly after: unknown;
}

/** An error fails the operation. */
export type Severity = "info" | "warning" | "error";
/** A message of an operation. */
export interface Diagnostic {
  /** Severity of the message. */
  readonly severity: Severity;
  /** URN of the resource; undefined for the whole stack. */
  readonly urn?: string | undefined;
  /** The text, with secrets masked. */
  readonly message: string;
}

interface Step {
  readonly op: StepOp;
  readonly urn: string;
  readonly type: string;
}

interface EndedStep extends Step {
  readonly seconds: number;
  /** The inputs that are changed by a create or update. */
  readonly changes?: readonly PropertyChange[] | undefined;
}

interface DoneStep extends EndedStep {
  /** The result of a refresh. */
  readonly result?: "same" | "update" | "delete" | undefined;
  /** The properties that caused the step, if they are known. */
  readonly keys?: readonly string[] | undefined;
}

/** An event of a running operation. It contains no secrets in plain text. */
export type EngineEvent =
  | ({
      /** A step starts. */
      readonly kind: "start";
    } & Step)
  | ({
      /** A step has succeeded. */
      readonly kind: "done";
    } & DoneStep)
  | ({
      /** A step has failed. The reason is in a diagnostic of the resource. */
      readonly kind: "failed";
    } & EndedStep)
  | ({
      /** A message. */
      readonly kind: "diagnostic";
    } & Diagnostic);

export type Listener = (event: EngineEvent) => void;
