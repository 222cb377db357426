import { RequestError, type RequestFacts } from "./requestError";

/** The request cannot have arrived: nothing has changed. */
export class NotSentError extends RequestError {
  readonly delivery = "not sent";

  constructor(request: RequestFacts, happened: string, advice: string, code?: string) {
    super(request, happened, request.consequences["not sent"], advice, undefined, code);
  }
}
