import * as pulumi from "@pulumi/pulumi";
import { version } from "@pulumi/pulumi/version";
import { isTooOld, oldestPulumi } from "../provider/version";

/**
 * Makes sure that Pulumi's provider host will pass the stack's configuration on: without it, the passwords of another
 * platform could be reset.
 *
 * @throws RunError that names the version that is needed.
 */
export function requirePulumi(): void {
  if (!isTooOld(version)) return;
  throw new pulumi.RunError(
    `The program uses @pulumi/pulumi ${version}, and pulumi-rekey needs ${oldestPulumi} or later: older versions do not pass the stack's configuration to the provider. Nothing was sent. Update @pulumi/pulumi in the package.json of the program, then run again.`,
  );
}
