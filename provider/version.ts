/** The version of this package. It is read from the package itself, wherever that is installed or linked. */
export function packageVersion(): string {
  return (require("pulumi-rekey/package.json") as { version: string }).version;
}

/**
 * The oldest version of `@pulumi/pulumi` that works: the provider host of older ones never calls `configure`, so the
 * stack's configuration does not reach the provider.
 */
export const oldestPulumi = "3.139.0";

/** Whether a version of `@pulumi/pulumi` is older than that. */
export function isTooOld(pulumiVersion: string): boolean {
  return pulumiVersion.localeCompare(oldestPulumi, "en", { numeric: true }) < 0;
}
