import { LocalStack, OperationError, type OperationResult } from "../../local/index";
import { type Engine, type Result, type State } from "./engine";

export const localEngine: Engine = {
  name: "local engine",
  async open(directory, environment = {}) {
    const stack = await LocalStack.open({ projectDir: directory, passphrase: "test", env: environment });
    return {
      preview: () => settle(stack.preview()),
      up: () => settle(stack.up()),
      refresh: () => settle(stack.refresh()),
      destroy: () => settle(stack.destroy()),
      setConfig: (key, value, secret = false) => stack.setConfig(key, value, { secret }),
      exportState: async () => (await stack.exportStack()) as unknown as State,
    };
  },
};

async function settle(operation: Promise<OperationResult>): Promise<Result> {
  const result = await operation.catch((error: unknown) => {
    if (error instanceof OperationError) return error;
    throw error;
  });
  const { outputs, changes, stdout } = result;
  return { succeeded: result.result === "succeeded", outputs, changes, printed: stdout };
}
