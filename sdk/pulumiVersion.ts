import { version } from "@pulumi/pulumi/version";
import { runError } from "./runError";
import { isTooOld, oldestPulumi } from "../provider/runtime";

/**
 * Makes sure that Pulumi's provider host passes the stack's configuration on. Otherwise the passwords of another
 * platform could be reset.
 *
 * @throws RekeyError
 */
export function requirePulumi(): void {
  if (!isTooOld(version)) return;
  throw runError(
    "REKEY_PULUMI_TOO_OLD",
    `The program uses @pulumi/pulumi ${version}, but pulumi-rekey needs ${oldestPulumi} or later: older versions do not pass the stack's configuration to the provider. Nothing was sent. Update @pulumi/pulumi in the package.json of the program, then run again.`,
  );
}
