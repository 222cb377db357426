import assert from "node:assert/strict";
import { createProviders } from "../../provider/engine/dynamic";
import { SecretOperations } from "../../provider/platform/secretOperations";
import { FlowControl } from "../../provider/platform/flowControl";
import { type Requester } from "../../provider/platform/http";
import { type Platform, Run, type RunOptions } from "../../provider/run";

const databasePaths = { reset: "/v2/keyvalue/reset-password/{id}", read: "/v2/redis/database/{id}" };

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
): ReturnType<typeof createProviders> {
  const unused = (): never => assert.fail("there are no fleets or verifications here");
  const platform: Platform = {
    operations: (kind) => new SecretOperations(requester, kind, kind.paths ?? databasePaths),
    list: unused,
    flowControl: new FlowControl(requester, { name: "reset" }),
    secrets: requester.secrets,
    useQueueToken: unused,
    queueWithin: unused,
    probe: unused,
    within: () => platform,
    permitting: () => platform,
  };
  const run = new Run({
    platform: () => platform,
    canRead: () => false,
    deadlineMs: () => 60_000,
    maxResets: () => undefined,
    databaseHost: () => undefined,
    settingsProblem: () => undefined,
    queueUrl: unused,
    queueToken: () => undefined,
    scheduledResets: () => "on",
    preset: () => undefined,
    place: () => undefined,
    clock: { now: () => new Date(), elapsedMs: Date.now, sleep: unused },
    end: new AbortController().signal,
    log,
    ...options,
  });
  const provider = createProviders(() => run);
  void provider.passwordRotation.configure({ config: { get: () => undefined } as never });
  return provider;
}
