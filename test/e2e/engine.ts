/** What a test needs of an engine. The local engine and the `pulumi` CLI both give it, so each spec is written once. */
export interface Engine {
  readonly name: string;
  /** Why this engine cannot run here; undefined where it can. */
  readonly unavailable?: string | undefined;
  /** Opens a new stack of the project in a folder. */
  open(directory: string, environment?: Record<string, string>): Promise<Stack>;
}

export interface Stack {
  preview(): Promise<Result>;
  up(): Promise<Result>;
  refresh(): Promise<Result>;
  destroy(): Promise<Result>;
  setConfig(key: string, value: string, secret?: boolean): Promise<void>;
  /** The state as `stack export` gives it, secrets encrypted. */
  exportState(): Promise<State>;
}

/** What came of an operation, failed or not. */
export interface Result {
  readonly succeeded: boolean;
  readonly outputs: Readonly<Record<string, { value: unknown; secret: boolean }>>;
  /** Resources by what was done to them: create, update, same, replace, delete. */
  readonly changes: Readonly<Record<string, number | undefined>>;
  /** Everything that was printed. */
  readonly printed: string;
}

export interface State {
  readonly deployment: { readonly resources?: readonly StateResource[] };
}

export interface StateResource {
  readonly urn: string;
  readonly id?: string;
  readonly inputs?: Record<string, unknown>;
  readonly outputs?: Record<string, unknown>;
  readonly initErrors?: readonly string[];
}

/** The resource of that name in a state. */
export function resourceNamed(state: State, name: string): StateResource | undefined {
  return state.deployment.resources?.find(({ urn }) => urn.endsWith(`::${name}`));
}
