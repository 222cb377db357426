import { type CheckFailure } from "../resource";
import { type Run } from "../run";

/** Refuses a key that the platform does not accept, so that a preview shows it. */
export function checkKey(flowControlKey: string, unknown: ReadonlySet<string>, run: Run): CheckFailure[] {
  const accepted = run.options.preset()?.flowControlKey;
  if (accepted === undefined || unknown.has("flowControlKey") || accepted.pattern.test(flowControlKey)) return [];
  const reason = `flowControlKey must contain ${accepted.of} only: the platform accepts no others`;
  return [{ property: "flowControlKey", reason }];
}
