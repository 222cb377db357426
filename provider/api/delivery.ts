/**
 * What became of a request:
 * - `not sent`: it cannot have arrived;
 * - `rejected`: it arrived, and the platform refused it;
 * - `maybe applied`: it may have arrived, and nobody knows what the platform did;
 * - `answered`: the platform says that it was done.
 */
export type Delivery = "not sent" | "rejected" | "maybe applied" | "answered";

/** The delivery that an answer tells of. */
export function deliveryOfAnswer(status: number): Exclude<Delivery, "not sent"> {
  if (status >= 200 && status < 300) return "answered";
  if (status >= 300 && status < 500 && status !== 303 && status !== 408) return "rejected";
  return "maybe applied";
}

/**
 * The delivery of a request that got no whole answer. Error codes do not tell it: a reset connection is seen both before
 * the request went out and after it was applied. What tells is whether the request was handed to a connection.
 */
export function deliveryOfSilence(sent: boolean): "not sent" | "maybe applied" {
  return sent ? "maybe applied" : "not sent";
}
