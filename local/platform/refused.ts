/** A request that is refused, deep inside of what reads it. The server answers it as `refusal` does. */
export class Refused extends Error {
  override readonly name = "Refused";

  constructor(
    /** What of the request is wrong: a header, a parameter, a field of the body. */
    readonly field: string,
    readonly problem: string,
    readonly status = 400,
  ) {
    super(`${field}: ${problem}`);
  }

  /** The same, of a part of a larger request. */
  within(whole: string): Refused {
    return new Refused(`${whole}${this.field}`, this.problem, this.status);
  }
}
