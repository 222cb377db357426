import { wireNamesOfCredentials } from "../records/fields";

/** Characters by which secrets are compared: they must not have many lengths. */
const maxComparedChars = 32;
/** A shorter secret would hide ordinary words of our own texts. */
const minRedactedChars = 4;

const space = /[\u0000-\u001f\u007f-\u009f\s]+/g;
/** Also what changes the direction of a text. */
const invisible = /\p{Default_Ignorable_Code_Point}/gu;

/**
 * Secrets that no message shows: those of the settings, and what this run has read or received.
 *
 * @example
 * ```ts
 * const secrets = new KnownSecrets(settings.secrets);
 * secrets.add(Object.values(credentials));
 * const shown = secrets.redact(text);
 * ```
 */
export class KnownSecrets {
  /** The lengths of secrets by how they begin; these by their own length. Of equal beginnings, the longest counts. */
  readonly #beginnings = new Map<number, Map<string, number>>();

  constructor(initial: readonly string[]) {
    this.add(initial);
  }

  add(values: Iterable<string | undefined>): void {
    for (const secret of values) {
      if (!secret) continue;
      for (const form of /[^!-*,-~]/.test(secret) ? [secret, compact(secret)] : [secret]) {
        const beginning = form.slice(0, maxComparedChars);
        const lengths = this.#beginnings.get(beginning.length) ?? new Map<string, number>();
        this.#beginnings.set(beginning.length, lengths);
        lengths.set(beginning, Math.max(form.length, lengths.get(beginning) ?? 0));
      }
    }
  }

  /** A complete text, of our own or with that of a server, with each secret replaced by `…`. */
  redact(text: string): string {
    let shown = "";
    let end = 0;
    for (let at = 0; at < text.length; at++) {
      const length = this.#secretAt(text, at);
      if (length >= minRedactedChars && at >= end) shown += "…";
      if (length >= minRedactedChars) end = Math.max(end, at + length);
      if (at >= end) shown += text.charAt(at);
    }
    return shown;
  }

  /** A name from elsewhere as one line: redacted, and without what terminals and CI systems interpret. */
  redactName(name: string): string {
    const line = this.redact(name.replace(invisible, "").replace(space, " ").trim());
    return line.replace(/#(?=#+[\w-]*\[)/g, "# ").replace(/:(?=:+[a-z])/gi, ": ");
  }

  /** Whether a text contains a secret of any length, also if it was formatted or sent by a form. */
  areIn(text: string): boolean {
    const compacted = compact(text);
    for (let at = 0; at < compacted.length; at++) if (this.#secretAt(compacted, at) > 0) return true;
    return false;
  }

  /** Characters of the longest secret that may begin there; 0 if none does. */
  #secretAt(text: string, at: number): number {
    let longest = 0;
    for (const [length, secrets] of this.#beginnings) {
      longest = Math.max(longest, secrets.get(text.slice(at, at + length)) ?? 0);
    }
    return longest;
  }
}

/** Without whitespace, which may be collapsed, and which forms encode as `+`. */
function compact(text: string): string {
  return text.replace(invisible, "").replace(space, "").replaceAll("+", "").toWellFormed();
}

/** Shown in place of a server's text that contains a secret. */
export const leftOut = "[message not shown: it may contain a secret]";
/** Shown in place of a secret, or of what is not a plain word. */
const hidden = "…";

/** Characters of the longest text of a server that is shown. */
const maxShownChars = 300;
/** Letters, also a name of a field: `database_id`, `readOnly`. Capitals in other places may be those of base64. */
const word = /^(?=.{1,20}$)(?:[\p{Lo}\p{Lu}]*\p{Ll}*(?:\p{Lu}\p{Ll}+){0,3}(?:['’_-](?=.)|$))+$/u;
const numberOrTime = /^(?:\d{1,5}(?:\.\d{1,3})?(?:%|m?s)?|(?:\d{4}-\d\d-\d\dT?)?(?:\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z?)?)$/;
/** What the next word may be the value of. */
const label = new RegExp(`\\b(?:basic|bearer|(?:\\w*_)?(?:key|secret|${wireNamesOfCredentials})["']?\\s*[:=])$`, "i");
/** JSON, or characters as URLs, JSON or HTML write them, in which a secret may not be recognized. */
const encoded = new RegExp(`%[\\da-f]{2}|[\\\\{]|&#?\\w+;|["']${wireNamesOfCredentials}["']\\s*:`, "i");

/**
 * The plain words of a server's text as one line: anything else may be a secret that is not known. `leftOut` if there
 * are none, and for a text that contains a known secret, is long, or is encoded.
 */
export function quote(text: string, secrets: KnownSecrets): string {
  if (text.length > maxShownChars || encoded.test(text)) return leftOut;
  if ([text, ...base64Contents(text)].some((one) => secrets.areIn(one))) return leftOut;
  const line = text.trim().replace(/\s+/g, " ");
  const shown = line.replace(/\S+/g, (one, at: number) =>
    isPlain(one) && !label.test(line.slice(0, at).trimEnd()) ? one : hidden,
  );
  return /^(… ?)+$/.test(shown) ? leftOut : shown;
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
