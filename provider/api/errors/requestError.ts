import { type Delivery } from "../delivery";
import { RekeyError } from "./rekeyError";

/** The request that an error tells of, in words that may be shown. */
export interface RequestFacts {
  /** What it was to do: `reset the password of database "x"`. */
  readonly purpose: string;
  readonly method: string;
  /** Address without credentials or query. */
  readonly url: string;
  /** What may have changed at the platform, for each kind of delivery. */
  readonly consequences: Readonly<Record<Exclude<Delivery, "answered">, string>>;
}

/** A request that was not answered as it should have been. */
export abstract class RequestError extends RekeyError {
  readonly method: string;
  readonly url: string;

  constructor(
    request: RequestFacts,
    /** What was seen, in words that may be shown. */
    readonly happened: string,
    consequence: string,
    /** What to do next. */
    readonly advice: string,
    /** Status of the answer, where there was one. */
    readonly status?: number,
    /** Code of the failure, where there was no answer. */
    readonly code?: string,
  ) {
    super(`Could not ${request.purpose}: ${happened} (${request.method} ${request.url}). ${consequence} ${advice}`);
    this.method = request.method;
    this.url = request.url;
  }
}
