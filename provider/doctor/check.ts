import { isOlder } from "../platform/version";
import { type FoundSetting } from "../settings/foundSetting";

/** The result of one check. */
export interface Check {
  /** What was checked: a setting, a package, a connection. */
  readonly subject: string;
  /** `unchecked` if no problem was seen, but there may be one. */
  readonly state: "ok" | "unchecked" | "wrong";
  readonly message: string;
  /** How to fix the problem. */
  readonly fix?: string;
  /** Where a setting comes from. */
  readonly source?: FoundSetting["source"] | "default" | "not set";
}

export function ok(subject: string, message: string): Check {
  return { subject, state: "ok", message };
}

export function unchecked(subject: string, message: string): Check {
  return { subject, state: "unchecked", message };
}

export function wrong(subject: string, message: string, fix: string): Check {
  return { subject, state: "wrong", message, fix };
}

/** The oldest version of Node that can load this package. */
const oldestNode = "20.19";

/** @param version as `process.versions.node` has it: `20.19.0` */
export function checkNode(version: string): Check {
  if (!isOlder(version, oldestNode)) return ok("Node", `Node is ${version}.`);
  return wrong(
    "Node",
    `Node ${version} is too old: pulumi-rekey needs ${oldestNode} or later. Nothing else was checked.`,
    "Install a newer Node, also in the pipeline, and run `pulumi-rekey doctor` again.",
  );
}
