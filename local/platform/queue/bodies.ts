import { bodyLimit } from "hono/body-limit";
import { refusal } from "../answers";
import { Refused } from "../refused";

/** Bytes of a request to the queue, and of the answer to a batch (interface, section 8). */
export const mostBytes = 100 * 1024 * 1024;

/** Refuses requests with larger bodies. */
export const limitBody = bodyLimit({
  maxSize: mostBytes,
  onError: () => refusal(413, "body", `must not be larger than ${mostBytes} bytes`),
});

export function parsedBody(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Refused("body", `is no JSON: ${(error as Error).message}`);
  }
}
