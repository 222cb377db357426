import * as pulumi from "@pulumi/pulumi";

/**
 * Keeps one value for each run of a Pulumi program. Several runs, of different stacks too, share a process where the
 * Automation API runs programs inline, and in tests; what one has said must not reach the others.
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
