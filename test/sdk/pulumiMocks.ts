import assert from "node:assert/strict";
import { createRequire } from "node:module";
import * as pulumi from "@pulumi/pulumi";

/** What the provider host of the installed SDK does with a provider's text. */
export const evaluate = createRequire(require.resolve("@pulumi/pulumi/package.json"))("require-from-string") as (
  text: string,
) => { handler(): unknown };

/** A registration that a program requested. */
export interface Registration {
  readonly type: string;
  readonly name: string;
  readonly inputs: Readonly<Record<string, unknown>>;
  readonly additionalSecretOutputs: readonly string[];
  readonly retainOnDelete: boolean | undefined;
  readonly protect: boolean;
}

export interface MockOptions {
  readonly preview?: boolean;
  /** Default: `stack`. */
  readonly stack?: string;
  /** The outputs of a resource, in addition to its inputs. */
  readonly outputs?: (type: string, inputs: Record<string, unknown>) => object | Promise<object>;
}

interface Request {
  getType(): string;
  getName(): string;
  getObject(): { toJavaScript(): Record<string, unknown> };
  getAdditionalsecretoutputsList(): string[];
  hasRetainondelete(): boolean;
  getRetainondelete(): boolean;
  getProtect(): boolean;
}
interface Monitor {
  mocks?: unknown;
  registerResource(request: Request, callback: unknown): unknown;
}

/**
 * Makes this process a Pulumi program with an engine in memory, with which data sources read from the platform.
 *
 * @returns the registrations from then on
 */
export async function startMocks({ preview = false, stack = "stack", outputs }: MockOptions = {}): Promise<
  Registration[]
> {
  const registered: Registration[] = [];
  await pulumi.runtime.setMocks(
    {
      call: () => assert.fail("no data source asks it"),
      newResource: async ({ type, name, inputs }) => ({
        id: `${name}-id`,
        state: { ...(inputs as object), ...(await outputs?.(type, inputs as Record<string, unknown>)) },
      }),
    },
    "project",
    stack,
    preview,
    "organization",
  );
  const monitor = pulumi.runtime.getMonitor() as unknown as Monitor;
  const mocked = Object.assign(Object.create(Object.getPrototypeOf(monitor) as object) as Monitor, monitor);
  // As an own property, data sources would ask it instead of sending real requests.
  delete monitor.mocks;
  Object.setPrototypeOf(monitor, mocked);
  monitor.registerResource = (request, callback) => {
    registered.push({
      type: request.getType(),
      name: request.getName(),
      inputs: request.getObject().toJavaScript(),
      additionalSecretOutputs: request.getAdditionalsecretoutputsList(),
      protect: request.getProtect(),
      retainOnDelete: request.hasRetainondelete() ? request.getRetainondelete() : undefined,
    });
    return mocked.registerResource(request, callback);
  };
  return registered;
}

/** The value of an output once it is known; never resolves if it stays unknown. */
export function valueOf<T>(output: pulumi.Output<T>): Promise<pulumi.Unwrap<T>> {
  return new Promise((resolve) => void pulumi.output(output).apply(resolve));
}

/** The errors that a program's run would report. */
export async function errorsOf(make: () => unknown): Promise<string[]> {
  const errors = new Set<string>();
  const listeners = process.listeners("unhandledRejection");
  process.removeAllListeners("unhandledRejection");
  process.on("unhandledRejection", (error) => errors.add(String(error)));
  try {
    try {
      make();
    } catch (error) {
      errors.add(String(error));
    }
    for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
    return [...errors];
  } finally {
    process.removeAllListeners("unhandledRejection");
    for (const listener of listeners) process.on("unhandledRejection", listener);
  }
}
