import { type PropertyMap } from "./values";

/** A resource as the state keeps it. The names are those of `pulumi stack export`. */
export interface ResourceState {
  urn: string;
  custom: boolean;
  /** Replaced, and waiting to be deleted. */
  delete?: boolean | undefined;
  id?: string | undefined;
  type: string;
  inputs: PropertyMap;
  outputs: PropertyMap;
  parent?: string | undefined;
  protect?: boolean | undefined;
  external?: boolean | undefined;
  dependencies?: string[] | undefined;
  initErrors?: string[] | undefined;
  provider?: string | undefined;
  propertyDependencies?: Record<string, string[]> | undefined;
  /** Deleted to be created anew, which has not happened yet. */
  pendingReplacement?: boolean | undefined;
  additionalSecretOutputs?: string[] | undefined;
  customTimeouts?: { create?: number; update?: number; delete?: number; read?: number } | undefined;
  retainOnDelete?: boolean | undefined;
  created?: string | undefined;
  modified?: string | undefined;
  ignoreChanges?: string[] | undefined;
  replaceOnChanges?: string[] | undefined;
}

/** What a program wants a resource to be. */
export interface Goal {
  readonly type: string;
  readonly name: string;
  readonly custom: boolean;
  readonly inputs: PropertyMap;
  readonly parent: string | undefined;
  readonly protect: boolean | undefined;
  readonly dependencies: string[];
  readonly propertyDependencies: Record<string, string[]>;
  readonly deleteBeforeReplace: boolean | undefined;
  readonly ignoreChanges: string[];
  readonly replaceOnChanges: string[];
  readonly additionalSecretOutputs: string[];
  readonly retainOnDelete: boolean | undefined;
  readonly aliases: readonly Alias[];
  readonly customTimeouts: ResourceState["customTimeouts"];
}

/** Another identity that a resource had before. */
export interface Alias {
  readonly urn?: string;
  readonly name?: string;
  readonly type?: string;
  readonly stack?: string;
  readonly project?: string;
  readonly parent?: string;
  readonly noParent?: boolean;
}

export type OperationType = "creating" | "updating" | "deleting";
/** What was being done when the last operation ended, and nobody knows whether it was. */
export interface PendingOperation {
  readonly resource: ResourceState;
  readonly type: OperationType;
}

/** All that a stack's state holds. */
export interface Deployment {
  readonly resources: ResourceState[];
  readonly pending: PendingOperation[];
}

/** The format of `pulumi stack export`; what we don't read is kept as it is. */
export interface ExportedDeployment {
  version: number;
  deployment: {
    manifest?: unknown;
    secrets_providers?: { type: string; state?: { salt?: string } };
    resources?: Record<string, unknown>[];
    pending_operations?: { resource: Record<string, unknown>; type: string }[];
    metadata?: unknown;
  };
}

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

export type Severity = "info" | "warning" | "error";
export interface Diagnostic {
  readonly severity: Severity;
  /** The resource it belongs to; undefined for the stack as a whole. */
  readonly urn?: string | undefined;
  readonly message: string;
}

/** What an operation tells while it runs. Nothing in it is a secret in plain text. */
export type EngineEvent =
  | { readonly kind: "start"; readonly op: StepOp; readonly urn: string; readonly type: string }
  | {
      readonly kind: "done";
      readonly op: StepOp;
      /** What a refresh found. */
      readonly result?: "same" | "update" | "delete" | undefined;
      readonly urn: string;
      readonly type: string;
      readonly seconds: number;
      readonly keys?: readonly string[] | undefined;
    }
  | {
      readonly kind: "failed";
      readonly op: StepOp;
      readonly urn: string;
      readonly type: string;
      readonly seconds: number;
    }
  | ({ readonly kind: "diagnostic" } & Diagnostic);

export type Listener = (event: EngineEvent) => void;

export const stackType = "pulumi:pulumi:Stack";
export const providerType = "pulumi:providers:pulumi-nodejs";
