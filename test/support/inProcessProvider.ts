import assert from "node:assert/strict";
import { createProvider } from "../../provider/engine/dynamic";
import { Databases } from "../../provider/platform/databases";
import { FlowControl } from "../../provider/platform/flowControl";
import { type Requester } from "../../provider/platform/http";
import { type Platform, Run, type RunOptions } from "../../provider/run";

/**
 * The provider as a host process that was just started loads it, without sockets.
 *
 * @param requester responds to what it sends
 * @param log gets what it prints
 */
export function inProcessProvider(
  requester: Requester,
  log: (line: string) => void,
  options: Partial<Pick<RunOptions, "maxResets" | "canRead" | "clock" | "deadlineMs">> = {},
): ReturnType<typeof createProvider> {
  const unused = (): never => assert.fail("there are no fleets or verifications here");
  const platform: Platform = {
    databases: new Databases(requester, "/v2/keyvalue/reset-password/{id}", "/v2/redis/database/{id}"),
    flowControl: new FlowControl(requester, "reset"),
    prepareResets: unused,
    secrets: requester.secrets,
    queueWithin: unused,
    probe: unused,
    within: unused,
  };
  const run = new Run({
    platform: () => platform,
    canRead: () => false,
    deadlineMs: () => 60_000,
    maxResets: () => undefined,
    databaseHost: () => undefined,
    account: () => undefined,
    clock: { now: () => new Date(), elapsedMs: Date.now, sleep: unused },
    end: new AbortController().signal,
    log,
    ...options,
  });
  const provider = createProvider(() => run);
  void provider.passwordRotation.configure({ config: { get: () => undefined } as never });
  return provider;
}
