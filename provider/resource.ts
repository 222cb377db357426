import { type ErrorCode, type RekeyError, StateError, withCode } from "./platform/errors";
import { isUnknown, type Properties, unknownValue, withoutProvider } from "./records/properties";
import { type Run } from "./run";
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
  /** The schema of the inputs. */
  readonly inputs: TableOf;
  /** All outputs by name, and whether each is always secret. */
  readonly outputs: Readonly<Record<string, "plain" | "secret">>;
  /** What is wrong with inputs that the schema accepts. */
  check?(inputs: Inputs, run: Run): InputProblem[];
  /** What no other resource of the program may have. Only for inputs without problems. */
  claims?(inputs: Inputs): readonly Claim[];
  /** What `apply` would do. Without a saved state, the resource is new. It sends nothing. */
  plan(saved: Outputs | undefined, inputs: Inputs, run: Run): Planned;
  /**
   * Creates if nothing is saved, else updates.
   *
   * @param run that of a Create or an Update that is not a preview: no other one may send a change
   */
  apply(saved: Outputs | undefined, inputs: Inputs, run: Run): Promise<Result<Outputs>>;
  /**
   * Reads what may have been changed elsewhere. It changes nothing and never fails. Default: there is nothing to read.
   */
  refresh?(saved: Outputs, run: Run): Promise<Result<Outputs>>;
  /** Removes what it has set at the platform. Default: it leaves everything unchanged. */
  remove?(saved: Outputs, run: Run): Promise<readonly Notice[]>;
  /** Adopts what exists, for an import, and changes nothing. Default: it cannot be imported. */
  adopt?(id: string, run: Run): Promise<Adopted<Inputs, Outputs>>;
}

/** A resource as the adapters handle it. */
export type AnyResource = Resource<object, object>;

/** What input tables are made of. */
export type Schemas = typeof import("./schema");

/** Returns a table of inputs. */
export type TableOf = (schemas: Schemas) => InputTable;

/** What a change would do. */
export interface Planned {
  /** Whether it would do anything. */
  readonly changes: boolean;
  /** The outputs that it may change. Default: all but the id. */
  readonly changing?: readonly string[] | undefined;
  /** The reasons, and what may be wrong with the saved outputs. */
  readonly notices: readonly Notice[];
}

/** What was done. */
export interface Result<Outputs> {
  /** What to save, also after a failure. */
  readonly outputs: Outputs;
  /** Why not all of it was done. `delivery` is `maybe applied` if it is unknown whether the platform did it. */
  readonly failure?: RekeyError | undefined;
  /**
   * Whether the failure is that of a part only: the SDK then returns the outputs, for those that use the other parts.
   */
  readonly isPartial?: boolean;
  readonly notices: readonly Notice[];
}

/** What was imported: the inputs that describe it, and its outputs. */
export interface Adopted<Inputs, Outputs> extends Omit<Result<Outputs>, "failure"> {
  readonly inputs: Inputs;
}

/** One line for the run's diagnostics. */
export interface Notice {
  readonly text: string;
  readonly isWarning?: boolean | undefined;
}

/** What is wrong with an input: `must be a string, not a number`. */
export interface InputProblem {
  readonly property: string;
  readonly problem: string;
}

/** What only one resource of a program may have. */
export interface Claim {
  /** `database "sessions"` */
  readonly subject: string;
  /** The error if another resource has it, and why that is one. */
  readonly code: ErrorCode;
  readonly why: string;
}

/** What the engine saved of a resource. */
export interface Saved {
  readonly id: string;
  readonly outputs: Properties;
}

/** Problems of one resource that are reported: a fleet may have a thousand. */
const maxProblems = 5;

const tables = new WeakMap<TableOf, InputTable>();

/** What is wrong with inputs, by their schema alone. */
export function schemaProblems(tableOf: TableOf, inputs: Properties): InputProblem[] {
  // Loaded with the first check: loading zod takes about 50 ms, which no other call should wait for.
  const schemas = require("./schema") as Schemas;
  const table = tables.get(tableOf) ?? tableOf(schemas);
  tables.set(tableOf, table);
  return schemas.checkTable(table, inputs);
}

/**
 * What is wrong with the inputs of a resource, as messages.
 *
 * @param urn the resource's URN, to refuse a second resource for the same secret or key; the SDK refuses it itself
 */
export function checkResource(resource: AnyResource, inputs: Properties, run: Run, urn?: string): string[] {
  let problems = schemaProblems(resource.inputs, inputs);
  if (problems.length === 0) problems = resource.check?.(inputs, run) ?? [];
  if (problems.length > 0) {
    return problems.slice(0, maxProblems).map(({ property, problem }) => {
      return withCode(
        `${property} ${problem}. Nothing was sent for it. Correct the program, then run again.`,
        "REKEY_INPUT_INVALID",
      );
    });
  }
  if (urn === undefined) return [];
  return (resource.claims?.(inputs) ?? []).slice(0, maxProblems).flatMap(({ subject, code, why }) => {
    const other = run.claim(subject, urn);
    if (other === undefined) return [];
    return [withCode(`${subject} already belongs to ${other}: ${why} Nothing was sent for it.`, code)];
  });
}

/** The names of the outputs that are always secret. */
export function secretOutputsOf({ outputs }: AnyResource): string[] {
  return Object.keys(outputs).filter((name) => outputs[name] === "secret");
}

/** The id of a resource with these inputs. */
export function idOf({ onlyId, idInput }: AnyResource, inputs: Properties): string {
  return onlyId ?? String(inputs[idInput]);
}

/** @throws StateError if the saved outputs are those of another resource */
export function planResource(
  resource: AnyResource,
  saved: Saved | undefined,
  inputs: Properties,
  run: Run,
): Planned & { readonly replaces: string[] } {
  if (saved) requireSound(resource, saved);
  const isReplaced = saved !== undefined && idOf(resource, inputs) !== saved.id;
  const planned = resource.plan(isReplaced ? undefined : saved?.outputs, inputs, run);
  return isReplaced
    ? { ...planned, changes: true, changing: undefined, replaces: [resource.idInput] }
    : { ...planned, replaces: [] };
}

/**
 * Creates if nothing is saved, else updates.
 *
 * @throws StateError if the saved outputs are those of another resource
 */
export async function applyResource(
  resource: AnyResource,
  saved: Saved | undefined,
  inputs: Properties,
  run: Run,
): Promise<Result<Properties>> {
  if (saved) requireSound(resource, saved);
  try {
    const result = (await resource.apply(saved?.outputs, inputs, run)) as Result<Properties>;
    redact(result.failure, run);
    return result;
  } catch (error) {
    redact(error, run);
    throw error;
  }
}

/** Removes the secrets that became known since an error was made. */
function redact(error: unknown, run: Run): void {
  if (error instanceof Error) error.message = run.shown(error.message);
}

/** Reads what may have been changed elsewhere. Damaged outputs stay, with a warning. */
export async function refreshResource(resource: AnyResource, saved: Saved, run: Run): Promise<Result<Properties>> {
  const { __provider } = saved.outputs;
  const damage = damageOf(resource, saved);
  if (damage) return { outputs: saved.outputs, notices: [{ text: damage.text, isWarning: true }] };
  if (!resource.refresh) return { outputs: saved.outputs, notices: [] };
  const refreshed = (await resource.refresh(withoutProvider(saved.outputs), run)) as Result<Properties>;
  return { ...refreshed, outputs: { ...refreshed.outputs, ...(__provider !== undefined && { __provider }) } };
}

/** The outputs of a change in a preview: what it may change is unknown. */
export function plannedOutputs(
  resource: AnyResource,
  saved: Properties | undefined,
  inputs: Properties,
  { changing }: Planned,
): Properties {
  const all = Object.keys(resource.outputs);
  const names = saved && changing ? changing : all;
  const unknown = Object.fromEntries(names.map((name) => [name, unknownValue]));
  const id = resource.onlyId ?? inputs[resource.idInput];
  return { ...saved, ...unknown, [resource.idInput]: id };
}

function requireSound(resource: AnyResource, saved: Saved): void {
  const damage = damageOf(resource, saved);
  if (damage) throw damage;
}

/**
 * A saved id that differs from the resource's own is damaged: replacing the resource would be an unrequested reset. An
 * engine that gave up on an error hook has saved no outputs at all.
 */
function damageOf({ idInput }: AnyResource, { id, outputs }: Saved): StateError | undefined {
  if (outputs[idInput] === id || isUnknown(id)) return undefined;
  return new StateError({
    output: idInput,
    reason: `is not ${JSON.stringify(id)}, the id of the resource`,
    advice:
      "Restore it from an earlier export of the state, or take the resource out of the state: creating it again resets the secret once more.",
  });
}
