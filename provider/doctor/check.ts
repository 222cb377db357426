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
const oldestNode = [20, 19] as const;

/** @param version as `process.versions.node` has it: `20.19.0` */
export function checkNode(version: string): Check {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [oldestMajor, oldestMinor] = oldestNode;
  if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) return ok("Node", `Node is ${version}.`);
  return wrong(
    "Node",
    `Node ${version} is too old: pulumi-rekey needs ${oldestNode.join(".")} or later. Nothing else was checked.`,
    "Install a newer Node, also in the pipeline, and run `pulumi-rekey doctor` again.",
  );
}
