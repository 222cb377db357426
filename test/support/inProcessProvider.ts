import { createProviders } from "../../provider/engine/dynamic";
import { SecretOperations } from "../../provider/platform/secretOperations";
import { FlowControl } from "../../provider/platform/flowControl";
import { type Requester } from "../../provider/platform/http";
import { FakeRun } from "./fakeRun";

const databasePaths = { reset: "/v2/keyvalue/reset-password/{id}", read: "/v2/redis/database/{id}" };

/**
 * The provider as a host process that was just started loads it, without sockets.
 *
 * @param requester responds to what it sends
 * @param log gets what it prints
 * @param fields of the run
 */
export function inProcessProvider(
  requester: Requester,
  log: (line: string) => void,
  fields: Partial<FakeRun> = {},
): ReturnType<typeof createProviders> {
  const parts = {
    operations: (kind: ConstructorParameters<typeof SecretOperations>[1]) =>
      new SecretOperations(requester, kind, kind.paths ?? databasePaths),
    flowControl: new FlowControl(requester, { resetAction: "reset" }),
    secrets: requester.secrets,
  };
  const provider = createProviders(() => Object.assign(new FakeRun(), fields).start(parts, { log }));
  void provider.passwordRotation.configure({ config: { get: () => undefined } as never });
  return provider;
}
