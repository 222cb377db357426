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

/** How many resources each kind of change touched, as the Automation API counts them. */
export type Changes = Partial<Record<"create" | "update" | "delete" | "replace" | "same", number>>;

/** A changed input of a resource; `before` is undefined when it is new, `after` when it is gone. Secrets are masked. */
export interface PropertyChange {
  readonly name: string;
  readonly before: unknown;
  readonly after: unknown;
}

export type Severity = "info" | "warning" | "error";
export interface Diagnostic {
  readonly severity: Severity;
  /** The resource it belongs to; undefined for the stack as a whole. */
  readonly urn?: string | undefined;
  readonly message: string;
}

interface Step {
  readonly op: StepOp;
  readonly urn: string;
  readonly type: string;
}

interface EndedStep extends Step {
  readonly seconds: number;
  /** The inputs that a create or update changes. */
  readonly changes?: readonly PropertyChange[] | undefined;
}

interface DoneStep extends EndedStep {
  /** What a refresh found. */
  readonly result?: "same" | "update" | "delete" | undefined;
  /** The properties for which it was done, where they are known. */
  readonly keys?: readonly string[] | undefined;
}

/** What an operation tells while it runs. Nothing in it is a secret in plain text. */
export type EngineEvent =
  | ({ readonly kind: "start" } & Step)
  | ({ readonly kind: "done" } & DoneStep)
  | ({ readonly kind: "failed" } & EndedStep)
  | ({ readonly kind: "diagnostic" } & Diagnostic);

export type Listener = (event: EngineEvent) => void;
