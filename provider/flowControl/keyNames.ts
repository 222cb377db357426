import { isUnknown } from "../records/properties";
import { type InputProblem } from "../resource";
import { type Run } from "../run";

/** A key at the beginning of a message. */
export function nameOf(flowControlKey: string): string {
  return `Flow-control key ${JSON.stringify(flowControlKey)}`;
}

/** Refuses a key that the platform does not accept, so that a preview shows it. */
export function keyProblems(flowControlKey: string, run: Run): InputProblem[] {
  const accepted = run.options.settings.preset?.flowControlKey;
  if (accepted === undefined || isUnknown(flowControlKey) || accepted.pattern.test(flowControlKey)) return [];
  const problem = `must contain ${accepted.of} only: the platform accepts no others`;
  return [{ property: "flowControlKey", problem }];
}
