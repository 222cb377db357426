import { compareTrigger, isNoTrigger, type Trigger } from "./trigger";

export type FlowControlResetPlan = { readonly do: "reset" } | { readonly do: "keep" };

/**
 * Whether the counters are to be reset: when the resource is new, and when its trigger has changed. A mark that cannot be
 * read counts as changed, because resetting counters once more destroys nothing.
 */
export function planFlowControlReset(
  saved: { readonly appliedTrigger?: string | undefined } | undefined,
  wanted: Trigger,
): FlowControlResetPlan {
  if (saved && (isNoTrigger(wanted) || compareTrigger(saved.appliedTrigger, wanted) === "same")) return { do: "keep" };
  return { do: "reset" };
}
