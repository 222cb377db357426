import { type Path, type SecretKind } from "../../provider/domain/secretKind";
import { createProviders } from "../../provider/engine/dynamic";
import { FlowControl } from "../../provider/platform/flowControl";
import { type ApiRequest } from "../../provider/platform/http";
import { SecretOperations } from "../../provider/platform/secretOperations";
import { FakeRequester } from "../support/fakeRequester";
import { FakeRun } from "../support/fakeRun";

const settings = {
  resetPasswordPath: "/v2/keyvalue/reset-password/{id}",
  databasePath: "/v2/redis/database/{id}",
  databaseListPath: "/v2/redis/databases",
};
const pathOf = (path: Path = "") => (typeof path === "string" ? path : settings[path.setting]);

/** The provider as the host calls it, without sockets, which would take hours for many responses. */
export class InProcessAdapter {
  /** The body of the response, whose status is 200. */
  answer: (request: ApiRequest) => string = () => "{}";
  /** What was written to standard error. */
  readonly said: string[] = [];
  readonly #requester = new FakeRequester((request) => ({ body: this.answer(request) }));
  readonly sent = this.#requester.sent;
  adapter = this.#start();

  /** Continues with a new host process, which remembers nothing. */
  renew(): void {
    this.adapter = this.#start();
  }

  #start() {
    const requester = this.#requester;
    const parts = {
      operations: (kind: SecretKind) => {
        const paths = { reset: pathOf(kind.paths?.reset), read: pathOf(kind.paths?.read) };
        return new SecretOperations(requester, kind, paths);
      },
      flowControl: new FlowControl(requester, { resetAction: "reset" }),
      secrets: requester.secrets,
    };
    const fake = Object.assign(new FakeRun(), { said: this.said });
    const adapter = createProviders(() => fake.start(parts));
    void adapter.PasswordRotation.configure({ config: { get: () => undefined } as never });
    return adapter;
  }
}
