import type * as dynamicAdapter from "../../provider/dynamic";
import { type ApiResponse, type ApiRequest, HttpRequester } from "../../provider/api/requester";

type Resource = "passwordRotation" | "flowControlReset";
type Adapter = Pick<typeof dynamicAdapter, Resource>;

const settings: Readonly<Record<string, string>> = {
  "rekey:baseUrl": "https://platform.test",
  "rekey:queueUrl": "https://queue.test",
  "rekey:username": "admin",
  "rekey:password": "management-password",
  "rekey:queueToken": "queue-token",
};

/** The provider as the host calls it, without sockets, which would take hours for so many responses. */
export class InProcessAdapter {
  readonly sent: ApiRequest[] = [];
  /** The body of the response, whose status is 200. */
  answer: (request: ApiRequest) => string = () => "{}";
  /** What was written to standard error. */
  said: string[] = [];
  #adapter: Adapter | undefined;
  readonly #send = Object.getOwnPropertyDescriptor(HttpRequester.prototype, "send") as PropertyDescriptor;
  readonly #error = console.error;

  constructor(private readonly configuration: Readonly<Record<string, string>> = settings) {}

  /** The provider as a new host process has it: one that remembers nothing. */
  renew(): Adapter {
    const path = require.resolve("../../provider/dynamic");
    delete require.cache[path];
    this.#adapter = require(path) as Adapter;
    const config = { get: (key: string) => this.configuration[key] } as never;
    void this.#adapter.passwordRotation.configure?.({ config });
    return this.#adapter;
  }

  get adapter(): Adapter {
    return this.#adapter ?? this.renew();
  }

  /** Takes the place of the network and of standard error. */
  start(): void {
    const { sent } = this;
    const answer = (request: ApiRequest): string => this.answer(request);
    HttpRequester.prototype.send = async (request): Promise<ApiResponse> => {
      sent.push(request);
      const { method, purpose, consequences, path } = request;
      const facts = { method, purpose, consequences, url: `https://platform.test${path}` };
      return { status: 200, body: answer(request), facts };
    };
    console.error = (...words: unknown[]) => void this.said.push(words.join(" "));
  }

  stop(): void {
    Object.defineProperty(HttpRequester.prototype, "send", this.#send);
    console.error = this.#error;
  }
}
