import { wireNamesOfCredentials } from "../records/fields";
import { type KnownSecrets } from "./redact";

/** Shown in place of a server's text that contains a secret. */
export const leftOut = "[message not shown: it may contain a secret]";
/** Shown in place of what is not a plain word. */
const hidden = "…";

/** Characters of a server's text that are searched, and of those that are shown: a secret may begin in the latter. */
const [maxSearchedChars, maxShownChars] = [1_000, 300];

/** Letters, also a name of a field: `database_id`, `readOnly`. Capitals in other places may be those of base64. */
const word = /^(?=.{1,20}$)(?:[\p{Lo}\p{Lu}]*\p{Ll}*(?:\p{Lu}\p{Ll}+){0,3}(?:['’_-](?=.)|$))+$/u;
const numberOrTime = /^(?:\d{1,5}(?:\.\d{1,3})?(?:%|m?s)?|(?:\d{4}-\d\d-\d\dT?)?(?:\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z?)?)$/;
/** What the next word may be the value of. */
const label = new RegExp(`\\b(?:basic|bearer|(?:\\w*_)?(?:key|secret|${wireNamesOfCredentials})["']?\\s*[:=])$`, "i");
/** The name of a credential in a JSON text. */
const credentialName = new RegExp(`["']${wireNamesOfCredentials}["']\\s*:`, "i");
/** In a URL, in JSON or in HTML. */
const escape = /%[\da-f]{2}|\\|&#?\w+;/i;

/**
 * The plain words of a server's text as one short line: anything else may be a secret that is not known. `leftOut` if
 * there are none, or if the text contains a known secret, also in base64, names a credential as JSON does, or has
 * escapes.
 */
export function quote(text: string, secrets: KnownSecrets): string {
  const searched = text.slice(0, maxSearchedChars);
  if (escape.test(searched) || mayContain(searched, secrets)) return leftOut;
  // Cut between words: half of a secret could not be recognized.
  const begin = text.length > maxShownChars ? text.slice(0, maxShownChars).replace(/\S*$/, hidden) : text;
  const shown = begin.replace(/\S+/g, (one, at: number) =>
    isPlain(one) && !label.test(begin.slice(0, at).trimEnd()) ? one : hidden,
  );
  const line = shown.trim().replace(/\s+/g, " ");
  const short = line.replace(/…(?: …)+/g, hidden);
  return short === hidden ? leftOut : short;
}

function mayContain(text: string, secrets: KnownSecrets, layers = 2): boolean {
  if (secrets.areIn(text) || credentialName.test(text)) return true;
  return layers > 0 && base64Contents(text).some((content) => mayContain(content, secrets, layers - 1));
}

/** Whether it is a word of letters, a small number or a time, perhaps in quotes. */
function isPlain(text: string): boolean {
  const plain = text.replace(/^[("']+|[)"'.,;:!?]+$/g, "");
  return plain !== "" && (word.test(plain) || numberOrTime.test(plain));
}

/** The decoded base64 in a text, wherever it begins. Other characters, such as line breaks, are ignored. */
function base64Contents(text: string): string[] {
  const characters = text.replace(/[^\w+/-]/g, "");
  return [0, 1, 2, 3].map((start) => Buffer.from(characters.slice(start), "base64").toString());
}
