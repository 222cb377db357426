import { type ApiRequest } from "../../provider/platform/http";
import { FakeRequester } from "../support/fakeRequester";
import { inProcessProvider } from "../support/inProcessProvider";

/** The provider as the host calls it, without sockets, which would take hours for so many responses. */
export class InProcessAdapter {
  /** The body of the response, whose status is 200. */
  answer: (request: ApiRequest) => string = () => "{}";
  /** What was written to standard error. */
  said: string[] = [];
  readonly #requester = new FakeRequester((request) => ({ body: this.answer(request) }));
  readonly sent = this.#requester.sent;
  adapter = this.#start();

  /** Continues with a new host process, which remembers nothing. */
  renew(): void {
    this.adapter = this.#start();
  }

  #start() {
    return inProcessProvider(this.#requester, (line) => this.said.push(line));
  }
}
