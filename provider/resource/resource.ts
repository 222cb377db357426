import { type ErrorCode, type RekeyError } from "../domain/errors";
import { type Properties } from "../pulumi/values";
import { type Run } from "../run/run";
import { type Settings } from "../settings/settings";
import { type InputTable } from "./schema";

/**
 * A resource: its inputs and outputs, and how it is checked, planned and changed. Both adapters handle it by these
 * members alone. Values are plain; in a preview, inputs may be unknown, or contain something that is.
 */
export interface Resource<Inputs, Outputs> {
  /** The input and output that is the id. */
  readonly idInput: string;
  /** The id of every such resource; `idInput` is then an output only. Default: the input is the id. */
  readonly onlyId?: string;
  /** True if two ids are the same, in another spelling. Default: only if they are equal. */
  readonly isSameId?: (saved: string, given: string) => boolean;
  readonly inputs: TableOf;
  /** The inputs that are always secret. Default: none. */
  readonly secretInputs?: readonly string[];
  /** All outputs by name, and whether each is always secret. */
  readonly outputs: Readonly<Record<string, "plain" | "secret">>;
  /** Problems with inputs that the schema accepts. */
  check?(inputs: Inputs, run: Run): InputProblem[];
  /**
   * The inputs that the engine saves, and that `plan` and `apply` get. Only for inputs without problems. Default: those
   * of the program.
   *
   * @param savedInputs what the engine saved of the last ones; empty for a new resource, and for a replacement
   * @throws RekeyError if it refuses them
   */
  decide?(savedInputs: Partial<Inputs>, inputs: Inputs, run: Run): Inputs;
  /** Claims that no other resource of the program may have. Only for inputs without problems. */
  claims?(inputs: Inputs, settings: Settings): readonly Claim[];
  /** The plan of `apply`. Without a saved state, the resource is new. It sends nothing. */
  plan(saved: Outputs | undefined, inputs: Inputs, run: Run): Planned;
  /**
   * Creates if nothing is saved, else updates.
   *
   * @param run that of a Create or an Update that is not a preview: no other one may send a change
   */
  apply(saved: Outputs | undefined, inputs: Inputs, run: Run): Promise<Result<Outputs>>;
  /** Reads what may have been changed elsewhere, and changes nothing. Default: there is nothing to read. */
  refresh?(saved: Outputs, run: Run): Promise<Result<Outputs>>;
  /** Removes what it has set at the platform. Default: it leaves everything unchanged. */
  remove?(saved: Outputs, run: Run): Promise<readonly Notice[]>;
  /** The permission that `remove` needs. Default: limits. */
  readonly removes?: "resets";
  /** Reads what exists, and changes nothing. Default: it cannot be imported. */
  import?(id: string, run: Run): Promise<Imported<Inputs, Outputs>>;
}

/** A resource as the adapters handle it. */
export type AnyResource = Resource<object, object>;

/** The schemas of which input tables are made. */
export type Schemas = typeof import("./schema");

export type TableOf = (schemas: Schemas) => InputTable;

export interface Planned {
  /** `apply` would do something. */
  readonly changes: boolean;
  /** The inputs for which it is created again, and the saved one deleted at the end of the run. Default: none. */
  readonly replaces?: readonly string[] | undefined;
  /** The outputs that it may change. Others that are inputs, too, have their values. Default: all but the id. */
  readonly changing?: readonly string[] | undefined;
  /** The reasons, and what may be wrong with the saved outputs. */
  readonly notices: readonly Notice[];
}

export interface Result<Outputs> {
  /** The outputs to save, also after a failure. */
  readonly outputs: Outputs;
  /** Why not all of it was done. `delivery` is `maybe applied` if it is unknown whether the platform did it. */
  readonly failure?: RekeyError | undefined;
  /** The failure is that of a part only: the SDK returns the outputs, for those that use the other parts. */
  readonly isPartial?: boolean;
  readonly notices: readonly Notice[];
}

/** The result of an import: the inputs that describe the resource, and its outputs. */
export interface Imported<Inputs, Outputs> extends Omit<Result<Outputs>, "failure"> {
  readonly inputs: Inputs;
}

/** One line for the run's diagnostics. */
export interface Notice {
  readonly text: string;
  readonly isWarning?: boolean | undefined;
}

/** A problem with an input: `must be a string, not a number`. */
export interface InputProblem {
  readonly property: string;
  readonly problem: string;
}

/** Something that only one resource of a program may have. */
export interface Claim {
  /** `database "sessions"` */
  readonly subject: string;
  /** The error if another resource has it, and why that is one. */
  readonly code: ErrorCode;
  readonly why: string;
}

export function secretOutputsOf({ outputs }: AnyResource): string[] {
  return Object.keys(outputs).filter((name) => outputs[name] === "secret");
}

const tables = new WeakMap<TableOf, InputTable>();

/** Problems with inputs, by their schema alone. */
export function schemaProblems(tableOf: TableOf, inputs: Properties): InputProblem[] {
  // Loaded with the first check: loading zod takes about 50 ms, which no other call should wait for.
  const schemas = require("./schema") as Schemas;
  const table = tables.get(tableOf) ?? tableOf(schemas);
  tables.set(tableOf, table);
  return schemas.checkTable(table, inputs);
}
