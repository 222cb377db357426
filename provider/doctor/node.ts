import { type Check, ok, wrong } from "./check";

/** The first version of Node that loads what this package is made of. */
const firstNode = [20, 19] as const;

/** @param version as `process.versions.node` has it: `20.19.0` */
export function checkNode(version: string): Check {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [firstMajor, firstMinor] = firstNode;
  if (major > firstMajor || (major === firstMajor && minor >= firstMinor)) return ok("Node", `Node is ${version}.`);
  return wrong(
    "Node",
    `Node ${version} is too old: pulumi-rekey needs ${firstNode.join(".")} or later. Nothing else was checked.`,
    "Install a newer Node, for the pipeline too, and run `pulumi-rekey doctor` again.",
  );
}
