import { RequestError, type RequestFacts } from "./requestError";

/** Nobody knows whether the platform did what it was asked. */
export class UnconfirmedError extends RequestError {
  readonly delivery = "maybe applied";

  constructor(request: RequestFacts, happened: string, advice: string, status?: number, code?: string) {
    super(request, happened, request.consequences["maybe applied"], advice, status, code);
  }
}
