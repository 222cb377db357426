import { type Delivery } from "../delivery";

/**
 * The root of every error that leaves the provider. Its message says what happened, whether the password may have
 * changed, and what to do. It never holds a request, an answer or their headers, which carry secrets.
 */
export abstract class RekeyError extends Error {
  /** What became of the request that failed; `not sent` where it never came to one. */
  abstract readonly delivery: Delivery;

  constructor(message: string) {
    super(message);
    this.name = new.target.name;
  }
}
