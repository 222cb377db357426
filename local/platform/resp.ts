/**
 * A reply in the Redis protocol (RESP2): a text is a bulk string, and null a missing one. Texts have one character per
 * byte.
 */
export type Reply = string | number | null | { readonly status: string } | ErrorReply | readonly Reply[];

interface ErrorReply {
  readonly error: string;
}

/** An error. Its first word is a code, such as `ERR`. */
export function errorReply(error: string): ErrorReply {
  return { error };
}

/** A reply as it is sent, with one character per byte. */
export function writeReply(reply: Reply): string {
  if (reply === null) return "$-1\r\n";
  if (typeof reply === "number") return `:${reply}\r\n`;
  if (typeof reply === "string") return `$${reply.length}\r\n${reply}\r\n`;
  if ("status" in reply) return `+${reply.status}\r\n`;
  // An error is one line, and may repeat what a client has sent.
  if ("error" in reply) return `-${reply.error.replace(/[\r\n]/g, " ")}\r\n`;
  return `*${reply.length}\r\n${reply.map(writeReply).join("")}`;
}

const mostWords = 16;

/**
 * The first command of a text: an array of strings, `*2\r\n$4\r\nAUTH\r\n$6\r\nsecret\r\n`. Undefined if it is
 * incomplete. Its size is limited to 16 strings of 9,999 bytes.
 */
export function firstCommand(
  text: string,
): { readonly words: string[]; readonly length: number } | "malformed" | undefined {
  let at = 0;
  const number = (mark: "*" | "$"): number | "malformed" | undefined => {
    const line = text.slice(at, at + "$9999\r\n".length);
    const [whole, given, digits] = /^([*$])(\d{1,4})\r\n/.exec(line) ?? [];
    if (whole === undefined) {
      return /^([*$](\d{1,4}\r?)?)?$/.test(line) ? undefined : "malformed";
    }
    at += whole.length;
    return given === mark ? Number(digits) : "malformed";
  };
  const count = number("*");
  if (typeof count !== "number") {
    return count;
  }
  if (count < 1 || count > mostWords) {
    return "malformed";
  }
  const words: string[] = [];
  while (words.length < count) {
    const length = number("$");
    if (typeof length !== "number") {
      return length;
    }
    const [word, end] = [text.slice(at, at + length), text.slice(at + length, at + length + 2)];
    if (!"\r\n".startsWith(end)) {
      return "malformed";
    }
    if (end.length < 2) {
      return undefined;
    }
    words.push(word);
    at += length + 2;
  }
  return { words, length: at };
}
