import { wireNamesOfCredentials } from "../records/credentials";

/** Shown in place of words that may contain a secret. */
export const leftOut = "[message not shown: it may contain a secret]";

const maxShownChars = 300;
/** Characters. Longer words are not searched, and so not shown: a huge response must not cost time. */
const maxSearchedChars = 10_000;
/** Rounds of unescaping. Words that need more are not shown. */
const maxRounds = 6;
/** Layers of base64 that are opened. */
const maxLayers = 2;
const space = /[\u0000-\u001f\u007f-\u009f\s]+/g;
/** Also what changes the direction of a text. */
const invisible = /\p{Default_Ignorable_Code_Point}/gu;
/** The name of a credential in a JSON text. */
const credentialName = new RegExp(`["']${wireNamesOfCredentials}["']\\s*:`, "i");

/** Characters of the keys under which what is searched for is found. */
const startLength = 4;

/**
 * Secrets that no message shows: those of the settings, and what this run has read or received.
 *
 * @example
 * ```ts
 * const secrets = new KnownSecrets(settings.secrets);
 * secrets.add(Object.values(credentials));
 * const shown = secrets.quote(serverWords);
 * ```
 */
export class KnownSecrets {
  readonly #known = new Set<string>();
  /** The forms to search for, by their first characters: a search must not take longer for a thousand of them. */
  readonly #forms = new Map<string, string[]>();
  readonly #shortForms: string[] = [];

  constructor(initial: readonly string[]) {
    this.add(initial);
  }

  add(values: Iterable<string | undefined>): void {
    for (const secret of values) {
      if (!secret || this.#known.has(secret)) continue;
      this.#known.add(secret);
      for (const view of unescapings(secret)) this.#addForm(comparable(view.replace(openEnd, "")));
    }
  }

  /**
   * The text, or `leftOut` if it contains a secret or anything that decodes to one: escaped for URLs, forms, JSON or
   * HTML, in base64 (also as part of a longer text), or several of these at once. The same for a record as JSON, whose
   * credentials may be unknown.
   */
  redact(text: string): string {
    const isShown = text.length <= maxSearchedChars && !holdsUnknownEntity(text) && !this.#mayContain(text, maxLayers);
    return isShown ? text : leftOut;
  }

  /** A server's words as one short line, redacted, and without what terminals and CI systems interpret. */
  quote(words: string): string {
    const line = this.redact(words).replace(invisible, "").replace(space, " ").trim();
    const inert = line.replace(/#(?=#+[\w-]*\[)/g, "# ").replace(/:(?=:+[a-z])/gi, ": ");
    // Cut between words: half of a secret that becomes known later could not be recognized.
    return inert.length > maxShownChars ? `${inert.slice(0, maxShownChars + 1).replace(/\s*\S*$/, "")}…` : inert;
  }

  #addForm(form: string): void {
    if (form.length < startLength) return void this.#shortForms.push(form);
    const start = form.slice(0, startLength);
    const sameStart = this.#forms.get(start);
    if (sameStart) sameStart.push(form);
    else this.#forms.set(start, [form]);
  }

  /** Compares after each round on both sides, because a secret may itself look escaped. */
  #mayContain(text: string, layers: number): boolean {
    const views = unescapings(text);
    if (views.length > maxRounds) return true;
    return views.some((view) => {
      if (credentialName.test(view) || this.#isIn(comparable(view))) return true;
      return layers > 0 && base64Contents(view).some((content) => this.#mayContain(content, layers - 1));
    });
  }

  #isIn(text: string): boolean {
    if (this.#shortForms.some((form) => text.includes(form))) return true;
    for (let at = 0; at + startLength <= text.length; at++) {
      const sameStart = this.#forms.get(text.slice(at, at + startLength));
      if (sameStart?.some((form) => text.startsWith(form, at))) return true;
    }
    return false;
  }
}

/** Not checked in decoded base64: arbitrary bytes may contain an entity by chance. */
function holdsUnknownEntity(words: string): boolean {
  return unknownEntity.test(unescapings(words).at(-1) ?? words);
}

/** A text, and the results of unescaping it until nothing changes. */
function unescapings(text: string): string[] {
  const views = [text];
  for (let next = unescaped(text); next !== views.at(-1) && views.length <= maxRounds; next = unescaped(next)) {
    views.push(next);
  }
  return views;
}

const escapes = /(?:%[\da-fA-F]{2})+|\\(?:u([\da-fA-F]{4})|(["/\\])|[bfnrt])|&#(\d+|[xX][\da-fA-F]+);?|&([a-zA-Z]+);/g;
/** HTML's names of ASCII characters, each after its character. */
const names =
  "&amp <lt >gt \"quot 'apos !excl #num $dollar %percnt (lpar )rpar *ast +plus ,comma .period /sol :colon ;semi =equals " +
  "?quest @commat [lbrack \\bsol ]rbrack ^Hat _lowbar `grave {lbrace |vert }rbrace [lsqb ]rsqb {lcub |verbar }rcub `DiacriticalGrave";
const entities = new Map(names.split(" ").map((pair) => [pair.slice(1), pair.charAt(0)]));
const unknownEntity = /&[a-z]\w*;/i;
/** The beginning of an escape at the end of a secret: the following characters may have completed it. */
const openEnd = /(?:%[\da-fA-F]?|\\(?:u[\da-fA-F]{0,3})?|&(?:#\w*)?)$/;

/** Undoes one round of percent-encoding, JSON escapes and HTML entities. */
function unescaped(text: string): string {
  return text.replace(
    escapes,
    (all: string, unit?: string, character?: string, reference?: string, entity?: string) => {
      if (all.startsWith("%")) return Buffer.from(all.replaceAll("%", ""), "hex").toString();
      if (unit) return String.fromCharCode(parseInt(unit, 16));
      if (reference) return characterOf(Number(`0${reference}`));
      if (entity) return entities.get(entity) ?? all;
      // The other escapes of JSON are whitespace, which is not compared.
      return character ?? "";
    },
  );
}

function characterOf(codePoint: number): string {
  return codePoint <= 0x10ffff ? String.fromCodePoint(codePoint) : "\ufffd";
}

/** The decoded base64 in a text, wherever it begins. Other characters, such as line breaks, are ignored. */
function base64Contents(text: string): string[] {
  const characters = text.replace(/[^\w+/-]/g, "");
  return [0, 1, 2, 3].map((start) => Buffer.from(characters.slice(start), "base64").toString());
}

/** Without whitespace, because the shown line collapses it, and forms encode it as `+`. */
function comparable(text: string): string {
  return text.replace(invisible, "").replace(space, "").replaceAll("+", "").toWellFormed();
}
