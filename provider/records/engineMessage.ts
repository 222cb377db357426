/** Characters of a message, as gRPC encodes it in a trailer. A call with a larger one never returns. */
const maxEncoded = 4_000;

/**
 * A message that gRPC can carry: without malformed Unicode, which it cannot encode, and without its middle if it is too
 * long.
 */
export function engineMessage(message: string, longest = maxEncoded): string {
  let text = message.toWellFormed();
  for (let kept = text.length; encodeURI(text).length > longest; kept = Math.floor(kept * 0.9)) {
    const half = Math.floor(kept / 2);
    text = `${message.slice(0, half)} […] ${message.slice(-half)}`.toWellFormed();
  }
  return text;
}
