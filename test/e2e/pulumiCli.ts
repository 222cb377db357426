import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { LocalWorkspace, type OutputMap } from "@pulumi/pulumi/automation";
import { realEngineVersion } from "../local/engine/realEngine";
import { type Engine, type Result, type State } from "./engine";

const version = realEngineVersion();

/** The real engine, through Pulumi's Automation API, with its state in the project's folder. */
export const pulumiCli: Engine = {
  name: version === undefined ? "pulumi CLI" : `pulumi CLI ${version}`,
  unavailable: version === undefined ? "no `pulumi` on PATH" : undefined,
  async open(directory, environment = {}) {
    const backend = join(directory, "backend");
    mkdirSync(backend);
    const stack = await LocalWorkspace.createStack(
      { stackName: "dev", workDir: directory },
      {
        envVars: {
          PULUMI_BACKEND_URL: `file://${backend}`,
          PULUMI_CONFIG_PASSPHRASE: "test",
          PULUMI_SKIP_UPDATE_CHECK: "true",
          ...environment,
        },
      },
    );
    return {
      async preview() {
        return settle(async (onOutput) => {
          const { changeSummary } = await stack.preview({ onOutput });
          return { changes: changeSummary, outputs: {} };
        });
      },
      up: () =>
        settle(async (onOutput) => {
          const { summary, outputs } = await stack.up({ onOutput });
          return { changes: summary.resourceChanges ?? {}, outputs };
        }),
      refresh: () =>
        settle(async (onOutput) => {
          const { summary } = await stack.refresh({ onOutput });
          return { changes: summary.resourceChanges ?? {}, outputs: await stack.outputs() };
        }),
      destroy: () =>
        settle(async (onOutput) => {
          const { summary } = await stack.destroy({ onOutput });
          return { changes: summary.resourceChanges ?? {}, outputs: {} };
        }),
      setConfig: (key, value, secret = false) => stack.setConfig(key, { value, secret }),
      // The Automation API exports with all secrets shown; the saved file is as it is kept.
      exportState: async () => {
        const file = join(backend, ".pulumi", "stacks", "program", "dev.json");
        const saved = JSON.parse(readFileSync(file, "utf8")) as { checkpoint: { latest: State["deployment"] } };
        return { deployment: saved.checkpoint.latest };
      },
    };
  },
};

async function settle(
  operate: (onOutput: (text: string) => void) => Promise<{ changes: Result["changes"]; outputs: OutputMap }>,
): Promise<Result> {
  let printed = "";
  try {
    const done = await operate((text) => (printed += text));
    return { succeeded: true, ...done, printed };
  } catch (error) {
    return { succeeded: false, changes: {}, outputs: {}, printed: printed + String(error) };
  }
}
