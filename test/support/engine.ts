import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { LocalWorkspace, type OutputMap, type UpdateSummary } from "@pulumi/pulumi/automation";
import { LocalStack, type OperationError, type OperationResult } from "../../local/index";
import { engineEnvironment, passphrase, runEngine } from "./engineProcess";
import { projectRoot } from "./host";

/** What a test needs of an engine: the local engine and the `pulumi` CLI both provide it. */
export interface Engine {
  readonly name: string;
  readonly version?: string | undefined;
  /** Whether programs use the native plugin. Default: the dynamic provider. */
  readonly native?: boolean;
  /** Whether the processes that it started still run after it was killed. */
  readonly leavesOrphans?: boolean;
  /** The folder of a stack's state file, in a project's folder. */
  readonly stateFolder: string;
  /** Why this engine cannot run here; undefined if it can. */
  readonly unavailable?: string | undefined;
  /** Its command line, as a user starts it: the executable, and the first arguments. */
  readonly command: readonly [executable: string, ...first: string[]];
  /** Opens a new stack of the project in a folder. @param name default: `dev` */
  open(directory: string, environment?: Readonly<Record<string, string>>, name?: string): Promise<Stack>;
}

export interface Stack {
  readonly preview: () => Promise<Result>;
  /** @param options `refresh`: read all resources before the program runs */
  readonly up: (options?: { readonly refresh?: boolean }) => Promise<Result>;
  readonly refresh: () => Promise<Result>;
  readonly destroy: () => Promise<Result>;
  setConfig(key: string, value: string, secret?: boolean): Promise<void>;
  removeConfig(key: string): Promise<unknown>;
  /** The state as `stack export` gives it. @param showSecrets default: false, which leaves them encrypted */
  exportState(showSecrets?: boolean): Promise<State>;
}

/** The result of an operation, failed or not. */
export interface Result {
  readonly succeeded: boolean;
  readonly outputs: Readonly<Record<string, { value: unknown; secret: boolean }>>;
  /** Resources by what was done to them: create, update, same, replace, delete. */
  readonly changes: Readonly<Record<string, number | undefined>>;
  /** Everything that was printed. */
  readonly printed: string;
}

/** The values of a stack's outputs. */
export function valuesOf({ outputs }: Pick<Result, "outputs">): Record<string, unknown> {
  return Object.fromEntries(Object.entries(outputs).map(([name, { value }]) => [name, value]));
}

/** The result of an operation that must succeed. */
export async function succeeds(operation: Promise<Result>): Promise<Result> {
  const result = await operation;
  assert.equal(result.succeeded, true, result.printed);
  return result;
}

/** The result of an operation that must fail. @param patterns must all match its output */
export async function fails(operation: Promise<Result>, ...patterns: RegExp[]): Promise<Result> {
  const result = await operation;
  assert.equal(result.succeeded, false, result.printed);
  for (const pattern of patterns) assert.match(result.printed, pattern);
  return result;
}

export interface State {
  readonly deployment: {
    readonly resources?: readonly StateResource[];
    readonly pending_operations?: readonly { readonly type: string; readonly resource: StateResource }[];
  };
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

/** A resource's outputs in a state that shows secrets, which it does as JSON texts. */
export function plainOutputs({ outputs = {} }: StateResource): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(outputs).map(([name, value]) => {
      const text = (value as { plaintext?: string } | null)?.plaintext;
      return [name, text === undefined ? value : (JSON.parse(text) as unknown)];
    }),
  );
}

export const localEngine: Engine = {
  name: "local engine",
  stateFolder: ".rekey/stacks/program",
  command: [process.execPath, join(projectRoot, "local/dist/cli/main.js")],
  async open(projectDir, env = {}, name = "dev") {
    const stack = await LocalStack.open({ projectDir, stack: name, passphrase, env });
    return {
      preview: () => settleLocal(stack.preview()),
      up: (options) => settleLocal(stack.up(options)),
      refresh: () => settleLocal(stack.refresh()),
      destroy: () => settleLocal(stack.destroy()),
      setConfig: (key, value, secret = false) => stack.setConfig(key, value, { secret }),
      removeConfig: (key) => stack.removeConfig(key),
      exportState: async (showSecrets = false) => (await stack.exportStack({ showSecrets })) as unknown as State,
    };
  },
};

/** The result of an operation, failed or not; of the local engine as it is built, or of its sources. */
export async function resultOf(operation: Promise<OperationResult>): Promise<OperationResult> {
  return operation.catch((error: unknown) => {
    if ((error as Error).name === "OperationError") return error as OperationError;
    throw error;
  });
}

async function settleLocal(operation: Promise<OperationResult>): Promise<Result> {
  const { result, outputs, changes, stdout } = await resultOf(operation);
  return { succeeded: result === "succeeded", outputs, changes, printed: stdout };
}

const { status, stdout } = spawnSync("pulumi", ["version"], { encoding: "utf8" });
const version = status === 0 ? stdout.trim() : undefined;

/** The real engine, through Pulumi's Automation API, with its state in the project's folder. */
export const pulumiCli: Engine = {
  name: "pulumi CLI",
  version,
  leavesOrphans: true,
  stateFolder: "backend/.pulumi/stacks/program",
  unavailable: version === undefined ? "no `pulumi` on PATH" : undefined,
  command: ["pulumi", "--non-interactive", "--color", "never"],
  async open(directory, environment = {}, name = "dev") {
    mkdirSync(join(directory, "backend"), { recursive: true });
    const stack = await LocalWorkspace.createStack(
      { stackName: name, workDir: directory },
      { envVars: { ...engineEnvironment(directory), ...environment } },
    );
    return {
      preview: () => settle(async (options) => ({ changes: (await stack.preview(options)).changeSummary })),
      up: (given) => settle(async (options) => resultsOf(await stack.up({ ...options, ...given }))),
      refresh: () => settle(async (options) => resultsOf(await stack.refresh(options), await stack.outputs())),
      destroy: () => settle(async (options) => resultsOf(await stack.destroy(options))),
      setConfig: (key, value, secret = false) => stack.setConfig(key, { value, secret }),
      removeConfig: (key) => stack.removeConfig(key),
      // The Automation API's own export always shows the secrets.
      exportState: async (showSecrets = false) => {
        const command = ["stack", "export", "--stack", name, ...(showSecrets ? ["--show-secrets"] : [])];
        const { printed } = await runEngine(pulumiCli, command, directory, environment);
        return JSON.parse(printed.slice(printed.indexOf("{"))) as State;
      },
    };
  },
};

/** The real engine with the native plugin: the same programs get another SDK. */
export const pluginOnCli: Engine = { ...pulumiCli, name: "pulumi CLI with the native plugin", native: true };

function resultsOf(done: { summary: UpdateSummary; outputs?: OutputMap }, outputs = done.outputs) {
  return { changes: done.summary.resourceChanges ?? {}, outputs: outputs ?? {} };
}

async function settle(
  operate: (options: {
    onOutput: (text: string) => void;
  }) => Promise<{ changes: Result["changes"]; outputs?: OutputMap }>,
): Promise<Result> {
  let printed = "";
  try {
    const { changes, outputs = {} } = await operate({ onOutput: (text) => (printed += text) });
    return { succeeded: true, changes, outputs, printed };
  } catch (error) {
    return { succeeded: false, changes: {}, outputs: {}, printed: printed + String(error) };
  }
}
