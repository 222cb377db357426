/** An invalid request. The server responds with `refusal`. */
export class Refused extends Error {
  override readonly name = "Refused";

  constructor(
    /** The wrong part of the request: a header, a parameter, or a field of the body. */
    readonly field: string,
    readonly problem: string,
    readonly status = 400,
  ) {
    super(`${field}: ${problem}`);
  }

  /** The same error for a part of a larger request. */
  within(whole: string): Refused {
    return new Refused(`${whole}${this.field}`, this.problem, this.status);
  }
}
