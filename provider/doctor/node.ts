import { type Check, ok, wrong } from "./check";

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
