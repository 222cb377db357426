import { wireNamesOfCredentials } from "../records/fields";
import { type KnownSecrets } from "./redact";

/** Shown in place of a server's text that contains a secret. */
export const leftOut = "[message not shown: it may contain a secret]";
/** Shown in place of a secret, or of what is not a plain word. */
const hidden = "…";

/** Characters of the longest text of a server that is shown. */
const maxShownChars = 300;
/** Letters, also a name of a field: `database_id`, `readOnly`. Capitals in other places may be those of base64. */
const word = /^(?=.{1,20}$)(?:[\p{Lo}\p{Lu}]*\p{Ll}*(?:\p{Lu}\p{Ll}+){0,3}(?:['’_-](?=.)|$))+$/u;
const numberOrTime =
  /^(?:\d{1,5}(?:\.\d{1,3})?(?:%|m?s)?|(?:\d{4}-\d\d-\d\dT?)?(?:\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z?)?)$/;
/** A name or scheme, whose value may be the next word. */
const label = new RegExp(
  `\\b(?:basic|bearer|(?:\\w*_)?(?:key|secret|${wireNamesOfCredentials})["']?\\s*[:=])$`,
  "i",
);
/** JSON, or characters as URLs, JSON or HTML write them, in which a secret may not be recognized. */
const encoded = new RegExp(
  `%[\\da-f]{2}|[\\\\{]|&#?\\w+;|["']${wireNamesOfCredentials}["']\\s*:`,
  "i",
);

/**
 * The plain words of a server's text as one line: anything else may be a secret that is not known. `leftOut` if there
 * are none, and for a text that contains a known secret, is long, or is encoded.
 */
export function quote(text: string, secrets: KnownSecrets): string {
  if (text.length > maxShownChars || encoded.test(text)) return leftOut;
  // Base64 may begin anywhere, and other characters in it, such as line breaks, are ignored.
  const base64 = text.replace(/[^\w+/-]/g, "");
  const decoded = [0, 1, 2, 3].map((from) => Buffer.from(base64.slice(from), "base64").toString());
  if ([text, ...decoded].some((one) => secrets.areIn(one))) return leftOut;
  const line = text.trim().replace(/\s+/g, " ");
  const shown = line.replace(/\S+/g, (one, at: number) => {
    const bare = one.replace(/^[("']+|[)"'.,;:!?]+$/g, "");
    const isPlain = bare !== "" && (word.test(bare) || numberOrTime.test(bare));
    return isPlain && !label.test(line.slice(0, at).trimEnd()) ? one : hidden;
  });
  return /^(… ?)+$/.test(shown) ? leftOut : shown;
}
