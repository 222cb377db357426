import { RequestError, type RequestFacts } from "./requestError";

/** The platform refused the request: nothing has changed. */
export class RejectedError extends RequestError {
  readonly delivery = "rejected";

  constructor(
    request: RequestFacts,
    happened: string,
    advice: string,
    status: number,
    /** Whether the refusal was written in JSON: the platform's own word, not that of something on the way. */
    readonly inJson: boolean,
  ) {
    super(request, happened, request.consequences.rejected, advice, status);
  }
}
