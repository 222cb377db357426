/** Shown in place of words that may contain a secret. */
export const leftOut = "[message not shown: it may contain a secret]";

const maxShownChars = 300;
/** Characters. Longer words are not searched, and so not shown: a huge response must not cost time. */
const maxSearchedChars = 10_000;
/** Rounds of unescaping. Words that need more are not shown. */
const maxRounds = 6;
/** Layers of base64 that are opened. */
const maxLayers = 2;

/**
 * The platform's message as one short line, or `leftOut` if it contains a secret or anything that decodes to one:
 * escaped for URLs, forms, JSON or HTML, in base64 (also as part of a longer text), or several of these at once.
 */
export function redact(words: string, secrets: readonly string[]): string {
  const forms = secrets.filter((secret) => secret !== "").flatMap(unescapings);
  const compared = forms.map((form) => comparable(form.replace(openEnd, "")));
  if (words.length > maxSearchedChars || holdsUnknownEntity(words) || mayContain(words, compared, maxLayers)) {
    return leftOut;
  }
  const line = words.replace(/[\u0000-\u001f\u007f-\u009f\s]+/g, " ").trim();
  return line.length > maxShownChars ? `${line.slice(0, maxShownChars)}…` : line;
}

/** Compares after each round on both sides, because a secret may itself look escaped. */
function mayContain(text: string, forms: readonly string[], layers: number): boolean {
  const views = unescapings(text);
  if (views.length > maxRounds) return true;
  return views.some((view) => {
    const compared = comparable(view);
    if (forms.some((form) => compared.includes(form))) return true;
    return layers > 0 && base64Contents(view).some((content) => mayContain(content, forms, layers - 1));
  });
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
  return text.replace(/[\u0000-\u001f\u007f-\u009f\s+]/g, "").toWellFormed();
}
