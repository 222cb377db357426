import { type FlowControlKey } from "../records/flowControl";
import { newSalt, canonicalTrigger, type Trigger, triggerMark } from "../rotation/memory/marks";
import { type InputProblem, type Planned, type Resource, type Result } from "../resource/resource";
import { isUnknown } from "../pulumi/values";
import { type Run } from "../run/run";

/** The outputs of a FlowControlReset. */
export interface FlowControlResetOutputs {
  readonly flowControlKey: string;
  readonly before?: FlowControlKey | undefined;
  readonly after?: FlowControlKey | undefined;
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

/** A key at the beginning of a message. */
export function keyTitle(flowControlKey: string): string {
  return `Flow-control key ${JSON.stringify(flowControlKey)}`;
}

/** Refuses a key that the platform does not accept, so that a preview shows it. */
export function keyProblems(flowControlKey: string, run: Run): InputProblem[] {
  const accepted = run.options.settings.preset?.flowControlKey;
  if (
    accepted === undefined ||
    isUnknown(flowControlKey) ||
    accepted.pattern.test(flowControlKey)
  ) {
    return [];
  }
  const problem = `must contain only ${accepted.of}: the platform accepts no others`;
  return [{ property: "flowControlKey", problem }];
}

function plan(
  saved: FlowControlResetOutputs | undefined,
  inputs: FlowControlResetInputs,
  run: Run,
): Planned {
  if (saved && !isUnknown(inputs) && !needsReset(saved, inputs)) {
    return { changes: false, notices: [] };
  }
  const notices = run.settingsWarning("queue");
  if (!saved && inputs.initialReset === false) return { changes: true, notices };
  return {
    changes: true,
    notices: [{ text: announcedReset(inputs, saved === undefined) }, ...notices],
  };
}

/** The announcement of the counters that an `up` resets, and why. */
function announcedReset(inputs: FlowControlResetInputs, isNew: boolean): string {
  const { flowControlKey, version, triggers, initialReset } = inputs;
  const key = isUnknown(flowControlKey)
    ? "a flow-control key"
    : `flow-control key ${JSON.stringify(flowControlKey)}`;
  const deciding = Object.entries(isNew ? { initialReset } : { flowControlKey, version, triggers });
  const unknown = deciding.flatMap(([name, value]) => (isUnknown(value) ? [name] : []));
  if (unknown.length > 0) {
    const areNotKnown = `${unknown.length > 1 ? "are" : "is"} not known yet`;
    return `May reset the counters of ${key}: ${unknown.join(" and ")} ${areNotKnown}.`;
  }
  const why = isNew
    ? "the resource is new. To keep them, set `initialReset: false`. If it was only renamed, use the option `aliases`"
    : "version or triggers have changed";
  return `Resets the counters of ${key}, because ${why}.`;
}

/**
 * True if the trigger of a saved resource has changed. A damaged mark counts as changed: one more reset does no harm.
 */
function needsReset(
  { appliedTrigger }: Pick<FlowControlResetOutputs, "appliedTrigger">,
  desired: Trigger,
): boolean {
  const [salt = ""] = String(appliedTrigger).split(".");
  return canonicalTrigger(desired) !== "" && appliedTrigger !== appliedOf(desired, salt);
}

function appliedOf(desired: Trigger, salt: string): string {
  return `${salt}.${triggerMark({ salt }, canonicalTrigger(desired))}`;
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
  // The reads only show the effect of the reset: one that fails must not fail the reset.
  const read = () => flowControl.get(flowControlKey).catch(() => undefined);
  const before = await read();
  const action = await flowControl.reset(flowControlKey, before?.exists === true);
  const resetAt = run.options.clock.now().toISOString();
  const after = await read();
  const resetCount = (saved?.resetCount ?? 0) + 1;
  return {
    notices: [{ text: `${keyTitle(flowControlKey)} was reset by \`${action}\`.` }],
    outputs: { flowControlKey, before, after, resetAt, resetCount, appliedTrigger },
  };
}
