import { type FlowControlKey } from "../records/flowControl";
import { compareTrigger, isNoTrigger, markTrigger, type Trigger } from "../rotation/trigger";
import { type Difference, type Resource, type Result } from "../resource";
import { type Run } from "../run";
import { checkKey } from "./keyNames";

/** What a FlowControlReset saves. */
export interface FlowControlResetOutputs {
  readonly flowControlKey: string;
  readonly before?: FlowControlKey;
  readonly after?: FlowControlKey;
  readonly resetAt: string;
  readonly resetCount: number;
  readonly appliedTrigger: string;
}

/** Outputs that are always secret. */
export const secretFlowControlResetOutputs = [
  "appliedTrigger",
] as const satisfies readonly (keyof FlowControlResetOutputs)[];

/** The names of all outputs. */
export const flowControlResetOutputs = [
  "flowControlKey",
  "before",
  "after",
  "resetAt",
  "resetCount",
  ...secretFlowControlResetOutputs,
] as const satisfies readonly (keyof FlowControlResetOutputs)[];

export interface FlowControlResetInputs extends Trigger {
  readonly flowControlKey: string;
}

export const flowControlReset: Resource<FlowControlResetInputs, FlowControlResetOutputs> = {
  idInput: "flowControlKey",
  outputs: flowControlResetOutputs,
  secretOutputs: secretFlowControlResetOutputs,
  decidingInputs: ["flowControlKey", "version", "triggers"],
  inputs: ({ pathPart, trigger }) => ({
    required: ["flowControlKey"],
    schemas: { flowControlKey: pathPart, ...trigger },
  }),
  check: ({ flowControlKey }, unknown, run) => checkKey(flowControlKey, unknown, run),
  diff,
  noticesOfNew: (_inputs, _unknown, run) => run.settingsWarning("queue"),
  apply,
};

function diff(saved: FlowControlResetOutputs, inputs: FlowControlResetInputs, run: Run): Difference {
  if (saved.flowControlKey !== inputs.flowControlKey) {
    return { changes: true, replaces: ["flowControlKey"], notices: [] };
  }
  const changes = needsReset(saved, inputs);
  return { changes, notices: changes ? run.settingsWarning("queue") : [] };
}

/**
 * Whether the trigger of a saved resource has changed. An unreadable mark counts as changed, because resetting counters
 * once more does no harm.
 */
export function needsReset(saved: Pick<FlowControlResetOutputs, "appliedTrigger">, desired: Trigger): boolean {
  return !isNoTrigger(desired) && compareTrigger(saved.appliedTrigger, desired) !== "same";
}

async function apply(
  saved: FlowControlResetOutputs | undefined,
  inputs: FlowControlResetInputs,
  run: Run,
): Promise<Result<FlowControlResetOutputs>> {
  if (saved && !needsReset(saved, inputs)) return { outputs: saved, notices: [] };
  const { flowControlKey } = inputs;
  const { flowControl } = run.platform;
  const before = await readIfPossible();
  const action = await flowControl.reset(flowControlKey, before?.exists === true);
  const resetAt = run.options.clock.now().toISOString();
  const after = await readIfPossible();
  const noEffect = action === "resetRate" && before && after ? whyNoEffect(before, after) : "";
  return {
    notices: [
      { text: `Flow-control key ${JSON.stringify(flowControlKey)} was reset by ${describeAction(action)}.${noEffect}` },
    ],
    outputs: {
      flowControlKey,
      ...(before && { before }),
      ...(after && { after }),
      resetAt,
      resetCount: (saved?.resetCount ?? 0) + 1,
      appliedTrigger: markTrigger(inputs),
    },
  };

  /** The reads only show the effect of the reset: a read that fails must not fail the reset. */
  async function readIfPossible(): Promise<FlowControlKey | undefined> {
    try {
      return await flowControl.get(flowControlKey);
    } catch {
      return undefined;
    }
  }
}

/** The action that reset a key, and which counters it clears. */
function describeAction(action: string): string {
  const cleared: Readonly<Record<string, string>> = {
    reset: "which clears the parallelism counter and the rate counter",
    resetRate: "which clears only the rate counter",
  };
  return `\`${action}\`, ${cleared[action] ?? "the value of rekey:flowControlResetAction"}`;
}

/** What to do if a reset released nothing, because it clears the rate counter only. */
function whyNoEffect(before: FlowControlKey, after: FlowControlKey): string {
  const { waitListSize, parallelismCount, parallelismMax = Infinity } = after;
  const isFull = [before, after].every((key) => key.parallelismCount >= parallelismMax);
  if (!isFull || waitListSize === 0 || waitListSize < before.waitListSize) return "";
  return ` ${waitListSize} messages still wait, because ${parallelismCount} of at most ${parallelismMax} run. Wait until messages end, or pin a higher parallelism with FlowControlLimits.`;
}
