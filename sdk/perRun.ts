import * as pulumi from "@pulumi/pulumi";

/**
 * Keeps one value for each run of a Pulumi program. With the Automation API's inline programs and in tests, several
 * runs share a process, and must not see each other's values.
 */
export function perRun<T>(make: () => T): () => T {
  const values = new WeakMap<object, T>();
  const noRun = {};
  return () => {
    const run = pulumi.runtime.getMonitor() ?? noRun;
    const value = values.get(run) ?? make();
    values.set(run, value);
    return value;
  };
}
