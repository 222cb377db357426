import { type FlowControlKey } from "../records/flowControl";
import { newSalt } from "../rotation/memory";
import { isNoTrigger, type Trigger, triggerMark } from "../rotation/trigger";
import { type Notice, type Planned, type Resource, type Result } from "../resource";
import { isUnknown } from "../records/properties";
import { type Run } from "../run";
import { keyProblems, nameOf } from "./keyNames";

/** What a FlowControlReset saves. */
export interface FlowControlResetOutputs {
  readonly flowControlKey: string;
  readonly before?: FlowControlKey;
  readonly after?: FlowControlKey;
  /** Time of the last reset (ISO 8601, UTC); undefined if there was none. */
  readonly resetAt?: string;
  readonly resetCount: number;
  /** Salt and mark of the trigger of the last reset. */
  readonly appliedTrigger: string;
}

export interface FlowControlResetInputs extends Trigger {
  readonly flowControlKey: string;
  readonly initialReset?: boolean | null | undefined;
}

export const flowControlReset: Resource<FlowControlResetInputs, FlowControlResetOutputs> = {
  idInput: "flowControlKey",
  outputs: {
    flowControlKey: "plain",
    before: "plain",
    after: "plain",
    resetAt: "plain",
    resetCount: "plain",
    appliedTrigger: "secret",
  },
  inputs: ({ pathPart, trigger, flag }) => ({
    required: ["flowControlKey"],
    schemas: { flowControlKey: pathPart, ...trigger, initialReset: flag },
  }),
  check: ({ flowControlKey }, run) => keyProblems(flowControlKey, run),
  plan,
  apply,
};

function plan(saved: FlowControlResetOutputs | undefined, inputs: FlowControlResetInputs, run: Run): Planned {
  const planned = announced(saved, inputs);
  return planned.changes ? { ...planned, notices: [...planned.notices, ...run.settingsWarning("queue")] } : planned;
}

function announced(saved: FlowControlResetOutputs | undefined, inputs: FlowControlResetInputs): Planned {
  const { flowControlKey, version, triggers, initialReset } = inputs;
  const key = isUnknown(flowControlKey) ? "A flow-control key" : nameOf(flowControlKey);
  const names = Object.entries({ flowControlKey, version, triggers, ...(saved ? {} : { initialReset }) })
    .filter(([, value]) => isUnknown(value))
    .map(([name]) => name);
  const say = (text: string): readonly Notice[] => [{ text: `${key}: ${text}` }];
  if (saved === undefined && initialReset === false) return { changes: true, notices: [] };
  if (names.length > 0 && (saved !== undefined || isUnknown(initialReset))) {
    const are = names.length > 1 ? "are" : "is";
    return { changes: true, notices: say(`its counters may be reset: ${names.join(" and ")} ${are} not known yet.`) };
  }
  if (saved === undefined) {
    const text =
      "its counters will be reset, because the resource is new. To keep them, set `initialReset: false`. If it was only renamed, use the option `aliases`.";
    return { changes: true, notices: say(text) };
  }
  if (!needsReset(saved, inputs)) return { changes: false, notices: [] };
  return { changes: true, notices: say("its counters will be reset, because version or triggers have changed.") };
}

/**
 * Whether the trigger of a saved resource has changed. A damaged mark counts as changed: one more reset does no harm.
 */
function needsReset({ appliedTrigger }: Pick<FlowControlResetOutputs, "appliedTrigger">, desired: Trigger): boolean {
  const [salt = ""] = String(appliedTrigger).split(".");
  return !isNoTrigger(desired) && appliedTrigger !== appliedOf(desired, salt);
}

function appliedOf(desired: Trigger, salt: string): string {
  return `${salt}.${triggerMark({ salt }, desired)}`;
}

async function apply(
  saved: FlowControlResetOutputs | undefined,
  inputs: FlowControlResetInputs,
  run: Run,
): Promise<Result<FlowControlResetOutputs>> {
  if (saved && !needsReset(saved, inputs)) return { outputs: saved, notices: [] };
  const { flowControlKey, initialReset } = inputs;
  const { flowControl } = run.platform;
  const appliedTrigger = appliedOf(inputs, newSalt());
  if (!saved && initialReset === false) {
    return { outputs: { flowControlKey, resetCount: 0, appliedTrigger }, notices: [] };
  }
  const before = await readIfPossible();
  const action = await flowControl.reset(flowControlKey, before?.exists === true);
  const resetAt = run.options.clock.now().toISOString();
  const after = await readIfPossible();
  const noEffect = action === "resetRate" && before && after ? whyNoEffect(before, after) : "";
  return {
    notices: [{ text: `${nameOf(flowControlKey)} was reset by ${describeAction(action)}.${noEffect}` }],
    outputs: {
      flowControlKey,
      ...(before && { before }),
      ...(after && { after }),
      resetAt,
      resetCount: (saved?.resetCount ?? 0) + 1,
      appliedTrigger,
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
