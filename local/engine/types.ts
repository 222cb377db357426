/** What is done to a resource; the names are those of Pulumi's engine. */
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
  /** Path of the input. */
  readonly name: string;
  /** What is saved. */
  readonly before: unknown;
  /** What the program asks for. */
  readonly after: unknown;
}

/** How bad it is: an error makes the operation fail. */
export type Severity = "info" | "warning" | "error";
/** Something that was said during an operation. */
export interface Diagnostic {
  /** How bad it is. */
  readonly severity: Severity;
  /** The resource it belongs to; undefined for the stack as a whole. */
  readonly urn?: string | undefined;
  /** What was said; secrets masked. */
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
  | ({
      /** It begins. */
      readonly kind: "start";
    } & Step)
  | ({
      /** It is done. */
      readonly kind: "done";
    } & DoneStep)
  | ({
      /** It failed; the resource's diagnostic says why. */
      readonly kind: "failed";
    } & EndedStep)
  | ({
      /** Something was said. */
      readonly kind: "diagnostic";
    } & Diagnostic);

export type Listener = (event: EngineEvent) => void;
