import { type FlowControlKey } from "../records/flowControl";
import { planFlowControlReset } from "../rotation/planFlowControlReset";
import { markTrigger, type Trigger } from "../rotation/trigger";
import { type Applied, type CheckFailure, type Difference } from "./applied";
import { checkInputs, type InputTable, pathPart, triggers, version } from "./checks";
import { type FlowControlResetOutputs, secretFlowControlResetOutputs } from "./outputs";
import { type Run } from "./run";

export interface FlowControlResetInputs extends Trigger {
  readonly flowControlKey: string;
}

export const secretOutputs = secretFlowControlResetOutputs;

/** Inputs that decide whether there is a reset. */
export const decidingInputs = ["flowControlKey", "version", "triggers"] as const;

const inputTable: InputTable = {
  required: ["flowControlKey"],
  checks: { flowControlKey: pathPart, version, triggers },
};

export function check(inputs: FlowControlResetInputs, unknown: ReadonlySet<string>): CheckFailure[] {
  return checkInputs(inputTable, { ...inputs }, unknown);
}

export function diff(saved: FlowControlResetOutputs, inputs: FlowControlResetInputs): Difference {
  if (saved.flowControlKey !== inputs.flowControlKey) return { changes: true, replaces: ["flowControlKey"] };
  return { changes: planFlowControlReset(saved, inputs).do === "reset" };
}

/** Creates with nothing saved, updates with what is. */
export async function apply(
  saved: FlowControlResetOutputs | undefined,
  inputs: FlowControlResetInputs,
  run: Run,
): Promise<Applied<FlowControlResetOutputs>> {
  if (saved && planFlowControlReset(saved, inputs).do === "keep") return { outputs: saved };
  const { flowControlKey } = inputs;
  const { flowControl } = run.resources.platform;
  const before = await readIfPossible();
  await flowControl.reset(flowControlKey);
  const resetAt = run.resources.now().toISOString();
  const after = await readIfPossible();
  return {
    outputs: {
      flowControlKey,
      ...(before && { before }),
      ...(after && { after }),
      resetAt,
      resetCount: (saved?.resetCount ?? 0) + 1,
      appliedTrigger: markTrigger(inputs),
    },
  };

  /** The two readings only show what the reset did; a reading that fails must not fail the reset. */
  async function readIfPossible(): Promise<FlowControlKey | undefined> {
    try {
      return await flowControl.get(flowControlKey);
    } catch {
      return undefined;
    }
  }
}
