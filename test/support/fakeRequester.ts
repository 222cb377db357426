import { type ApiResponse, type ApiRequest, factsOf, type Requester } from "../../provider/platform/http";
import { KnownSecrets } from "../../provider/platform/redact";

/** A requester that sends nothing: it records requests, and returns given responses. */
export class FakeRequester implements Requester {
  readonly secrets = new KnownSecrets([]);
  readonly sent: ApiRequest[] = [];

  constructor(
    private readonly answer: (request: ApiRequest) => { status?: number; body?: string; isReused?: boolean } | Error,
  ) {}

  async send(request: ApiRequest): Promise<ApiResponse> {
    this.sent.push(request);
    const answer = this.answer(request);
    if (answer instanceof Error) throw answer;
    const facts = factsOf(request, "https://platform.test");
    const { status = 200, body = "", isReused = false } = answer;
    return { status, body, facts, service: "management", connection: { isReused, isRecognized: false } };
  }
}
