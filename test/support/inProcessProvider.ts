import assert from "node:assert/strict";
import { createProvider } from "../../provider/engine/dynamic";
import { Databases } from "../../provider/platform/databases";
import { FlowControl } from "../../provider/platform/flowControl";
import { type Requester } from "../../provider/platform/http";
import { type RunOptions, RunSession } from "../../provider/engine/session";

/**
 * The provider as a host process that was just started loads it, without sockets.
 *
 * @param requester responds to what it sends
 * @param log gets what it prints
 */
export function inProcessProvider(
  requester: Requester,
  log: (line: string) => void,
  options: Partial<Pick<RunOptions, "maxResets" | "now" | "canRead" | "timer" | "deadlineMs">> = {},
): ReturnType<typeof createProvider> {
  const unused = (): never => assert.fail("there are no fleets or verifications here");
  const session = new RunSession({
    platform: {
      databases: new Databases(requester, "/v2/keyvalue/reset-password/{id}", "/v2/redis/database/{id}"),
      secrets: requester.secrets,
      flowControl: new FlowControl(requester, "reset"),
      queueWithin: unused,
      probe: unused,
    },
    canRead: () => false,
    deadlineMs: () => 60_000,
    maxResets: () => undefined,
    databaseHost: () => undefined,
    account: () => undefined,
    runEnd: new AbortController().signal,
    now: () => new Date(),
    timer: { now: Date.now, sleep: unused },
    log,
    ...options,
  });
  const provider = createProvider(() => session);
  void provider.passwordRotation.configure({ config: { get: () => undefined } as never });
  return provider;
}
