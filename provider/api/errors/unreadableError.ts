import { RequestError, type RequestFacts } from "./requestError";

/** The platform answered a question in a way that cannot be read. */
export class UnreadableError extends RequestError {
  readonly delivery = "answered";

  constructor(request: RequestFacts, happened: string, status: number) {
    super(request, happened, "Nothing was changed.", "Check rekey:queueUrl.", status);
  }
}
