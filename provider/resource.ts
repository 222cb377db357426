import { type ErrorCode, RekeyError, StateError, withCode } from "./platform/errors";
import { engineMessage, type Properties, withoutProvider } from "./records/properties";
import { type Run } from "./run";
import { type InputTable } from "./schema";

/** A resource: its inputs and outputs, and how it is checked, compared and changed. Values are plain. */
export interface Resource<Inputs, Outputs> {
  /** The input and output that is the id. */
  readonly idInput: string;
  /** The id of every such resource; `idInput` is then an output only. Default: the input is the id. */
  readonly onlyId?: string;
  /** The names of all outputs. */
  readonly outputs: readonly string[];
  /** The names of outputs that are always secret. */
  readonly secretOutputs: readonly string[];
  /** Inputs that decide whether a change is due. While one is unknown, so is the decision. */
  readonly decidingInputs: readonly string[];
  /** The schema of the inputs. */
  readonly inputs: TableOf;
  /** What is wrong with inputs that the schema accepts. Unknown inputs are named. */
  check?(inputs: Inputs, unknown: ReadonlySet<string>, run: Run): CheckFailure[];
  /** A failure of a check as it is reported. Default: as it is. */
  reported?(failure: CheckFailure, inputs: Inputs): CheckFailure;
  /** What no other resource of the program may have. Only for inputs that can be used. */
  claims?(inputs: Inputs, unknown: ReadonlySet<string>): readonly Claim[];
  diff(saved: Outputs, inputs: Inputs, run: Run): Difference;
  /** What is announced instead of a difference while a deciding input is unknown, if something may happen. */
  noticesOfUnknown?(saved: Outputs, inputs: Inputs, unknown: ReadonlySet<string>, run: Run): readonly Notice[];
  /** What is announced before it is created, also to replace a saved one: what that changes at the platform. */
  noticesOfNew?(inputs: Inputs, unknown: ReadonlySet<string>, run: Run): readonly Notice[];
  /** Creates if nothing is saved, else updates. */
  apply(saved: Outputs | undefined, inputs: Inputs, run: Run): Promise<Result<Outputs>>;
  /** Reads what may have been changed elsewhere. It never fails. Undefined if there is nothing to read. */
  refresh?(saved: Outputs, run: Run): Promise<Result<Outputs>>;
  /** Removes what the resource has set at the platform. Undefined if it leaves everything unchanged. */
  remove?(saved: Outputs, run: Run): Promise<readonly Notice[]>;
  /** The inputs with which an object is imported. Undefined if it cannot be imported. */
  importedInputs?(id: string, run: Run): Inputs | Promise<Inputs>;
  /** The outputs of an import with these inputs. Undefined if `apply` adopts the object, and so sends nothing. */
  importedOutputs?(inputs: Inputs): Outputs;
}

/** What input tables are made of. */
export type Schemas = typeof import("./schema");

/** Returns a table of inputs. */
export type TableOf = (schemas: Schemas) => InputTable;

/** What was done. */
export interface Result<Outputs> {
  /** What to save, also after a failure. */
  readonly outputs: Outputs;
  /** Why not all of it was done. `delivery` is `maybe applied` if it is unknown whether the platform did it. */
  readonly failure?: RekeyError | undefined;
  readonly notices: readonly Notice[];
}

/** One line for the run's diagnostics. */
export interface Notice {
  readonly text: string;
  readonly isWarning?: boolean | undefined;
}

/** What diff found. */
export interface Difference {
  readonly changes: boolean;
  /** The inputs that make a new resource necessary. */
  readonly replaces?: readonly string[];
  /** Whether a secret is reset. */
  readonly resets?: boolean;
  /** The reasons, and what may be wrong with the saved outputs. */
  readonly notices: readonly Notice[];
}

/** An input that cannot be used. */
export interface CheckFailure {
  readonly property: string;
  readonly reason: string;
  /** Default: REKEY_INPUT_INVALID. */
  readonly code?: ErrorCode;
  /** What was sent, and what to do. Default: nothing was sent for the resource. */
  readonly advice?: string;
}

/** What only one resource of a program may have. */
export interface Claim {
  /** `database "sessions"` */
  readonly subject: string;
  /** The claimant's URN, if it is not the resource itself. */
  readonly owner?: string | undefined;
  /** URNs of other resources of the program that claim it, as far as the program knows them. */
  readonly otherOwners?: readonly string[] | undefined;
  /** The failure if another resource has it. */
  readonly refusedFor: (other: string) => CheckFailure;
}

/** A resource as the adapters handle it. */
export type AnyResource = Resource<object, object>;

/** What the engine saved of a resource. */
export interface SavedResource {
  readonly id: string;
  readonly outputs: Properties;
}

/** Inputs that the SDK sets: the URN, those of others with the same claim, and where clients connect. */
export const hiddenInputs = ["owner", "otherOwners", "connection"];

/** Failures of one resource that are reported: a fleet may have a thousand. */
const maxFailures = 5;

const tables = new WeakMap<TableOf, InputTable>();

/** What is wrong with inputs, by their schema: the names, and what is wrong with each. */
export function inputProblems(tableOf: TableOf, inputs: Properties, unknown: ReadonlySet<string>) {
  // Loaded with the first check: loading zod takes about 50 ms, which no other call should wait for.
  const schemas = require("./schema") as Schemas;
  const table = tables.get(tableOf) ?? tableOf(schemas);
  tables.set(tableOf, table);
  return schemas.checkTable(table, inputs, unknown);
}

/** As `inputProblems`, as failures of a check. */
export function checkInputs(tableOf: TableOf, inputs: Properties, unknown: ReadonlySet<string>): CheckFailure[] {
  return inputProblems(tableOf, inputs, unknown).map(({ property, problem }) => {
    return { property, reason: `${property} ${problem}` };
  });
}

/**
 * What is wrong with the inputs of a resource.
 *
 * @param urn the resource's URN, if the engine passes it; otherwise the SDK passes it in a hidden input
 */
export function checkFailures(
  resource: AnyResource,
  given: Properties,
  unknown: ReadonlySet<string>,
  run: Run,
  urn?: string,
): CheckFailure[] {
  const hidden = resource.claims && urn === undefined ? hiddenInputs : [];
  const inputs = Object.fromEntries(Object.entries(given).filter(([name]) => !hidden.includes(name)));
  const owner = urn ?? (unknown.has("owner") ? undefined : given["owner"]);
  const checks = [
    () => checkInputs(resource.inputs, inputs, unknown),
    () => resource.check?.(inputs, unknown, run) ?? [],
    () => checkClaims(resource.claims?.(given, unknown) ?? [], owner, run),
  ];
  // Each check needs inputs that passed the one before.
  let failures: CheckFailure[] = [];
  for (const check of checks) if (failures.length === 0) failures = check();
  return failures.map((one) => resource.reported?.(one, inputs) ?? one);
}

/** The failures of claims that other resources have. */
export function checkClaims(claims: readonly Claim[], owner: unknown, run: Run): CheckFailure[] {
  return claims.flatMap((claim) => {
    const claimant = claim.owner ?? owner;
    if (typeof claimant !== "string") return [];
    const other = run.claim(claim.subject, claimant, claim.otherOwners);
    return other === undefined ? [] : [claim.refusedFor(other)];
  });
}

/** The id of a resource with these inputs. */
export function idOf({ onlyId, idInput }: AnyResource, inputs: Properties): string {
  return onlyId ?? String(inputs[idInput]);
}

/** @throws StateError if the saved outputs are those of another resource */
export function diffResource(
  resource: AnyResource,
  saved: SavedResource,
  inputs: Properties,
  unknown: ReadonlySet<string>,
  run: Run,
): Difference {
  requireSound(resource, saved);
  if (!resource.decidingInputs.some((name) => unknown.has(name))) return resource.diff(saved.outputs, inputs, run);
  return { changes: true, notices: resource.noticesOfUnknown?.(saved.outputs, inputs, unknown, run) ?? [] };
}

/**
 * Creates if nothing is saved, else updates.
 *
 * @throws StateError if the saved outputs are those of another resource
 */
export async function applyResource(
  resource: AnyResource,
  saved: SavedResource | undefined,
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

/**
 * Reads what may have been changed elsewhere. Damaged outputs stay, with a warning.
 *
 * @returns undefined if the saved outputs stay unchanged, because there is nothing to read
 */
export async function refreshResource(
  resource: AnyResource,
  saved: SavedResource,
  run: Run,
): Promise<Result<Properties> | undefined> {
  const { outputs } = saved;
  const damage = damageOf(resource, saved);
  if (damage) return { outputs, notices: [{ text: damage.text, isWarning: true }] };
  if (!resource.refresh) return undefined;
  const { __provider } = outputs;
  const refreshed = (await resource.refresh(withoutProvider(outputs), run)) as Result<Properties>;
  return { ...refreshed, outputs: __provider === undefined ? refreshed.outputs : { ...refreshed.outputs, __provider } };
}

function requireSound(resource: AnyResource, saved: SavedResource): void {
  const damage = damageOf(resource, saved);
  if (damage) throw damage;
}

/**
 * A saved id that differs from the resource's own is damaged: replacing the resource would be an unrequested reset. An
 * engine that gave up on an error hook has saved no outputs at all.
 */
function damageOf({ idInput }: AnyResource, { id, outputs }: SavedResource): StateError | undefined {
  if (outputs[idInput] === id) return undefined;
  return new StateError({
    output: idInput,
    reason: `is not ${JSON.stringify(id)}, the id of the resource`,
    advice:
      "Restore it from an earlier export of the state, or take the resource out of the state: creating it again resets the password once more.",
  });
}

/** The messages of failed checks; of many, the first ones. */
export function messagesOf(failures: readonly CheckFailure[]): string[] {
  return failures.slice(0, maxFailures).map(({ reason, code = "REKEY_INPUT_INVALID", advice = nothingSent }) => {
    return withCode(`${reason}. ${advice}`, code);
  });
}

const nothingSent = "Nothing was sent for it. Correct the program, then run again.";

/** An error whose message is already complete. */
export class ReportedError extends Error {}

/** An error with which the engine saves the properties nevertheless. */
export class InitError extends ReportedError {
  readonly reasons: readonly string[];

  constructor(
    message: string,
    readonly id: string,
    readonly properties: Properties,
  ) {
    super(engineMessage(message));
    this.reasons = [this.message];
  }
}

/**
 * Bytes of properties in an init error, as JSON: half of what was seen to pass. With more than 12 MiB the engine closes
 * its connection to the provider, and so loses the responses to all changes in flight. A record has at most 1 MiB.
 */
export const maxInitErrorBytes = 6 * 1024 * 1024;

/** The error of a failed change whose outputs are saved, unless they are too large: then nothing is saved. */
export function changeError(failure: RekeyError, id: string, outputs: Properties): Error {
  const fits = Buffer.byteLength(JSON.stringify(outputs)) <= maxInitErrorBytes;
  return fits ? new InitError(failure.message, id, outputs) : failure;
}

/** Runs a call so that any failure reaches the engine as an error that it can show. */
export async function withEngineErrors<T>(call: () => T | Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (!(error instanceof Error)) throw new Error(internalError(String(error)));
    const expected = error instanceof RekeyError || error instanceof ReportedError;
    error.message = engineMessage(expected ? error.message : internalError(error.message));
    throw error;
  }
}

function internalError(message: string): string {
  return withCode(`pulumi-rekey failed unexpectedly: ${message}. This is a bug: please report it.`, "REKEY_INTERNAL");
}
