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

/** Whether the local engine started this process: it gives its children its process id. */
const isLocal = process.env["LOCAL_ENGINE_PID"] === String(process.ppid);

/** Commands of the engine that runs this process, for advice. */
export const engineCommands = isLocal
  ? {
      up: "rekey-local up",
      setConfig: "rekey-local config set",
      exportState: "rekey-local export",
      removeFromState: "take the resource out of an exported state, which `rekey-local import` reads",
    }
  : {
      up: "pulumi up",
      setConfig: "pulumi config set",
      exportState: "pulumi stack export",
      removeFromState: "take the resource out with `pulumi state delete`",
    };
