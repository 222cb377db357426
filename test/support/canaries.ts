import { inspect } from "node:util";

/** A shorter one could occur by chance. */
const shortest = 10;

/**
 * The forms of a secret that a text is searched for: unchanged, and as servers and debuggers write it. The base64 forms
 * also find it inside a longer text that was encoded, such as `user:password`.
 */
function formsOf(secret: string): Map<string, string> {
  if (secret.length < shortest) throw new Error(`${JSON.stringify(secret)} is too short for a canary`);
  const hex = Buffer.from(secret).toString("hex");
  // Base64 is searched for at each position in what was encoded.
  const encoded = Object.entries(encodings).filter(([name]) => !name.startsWith("in base64"));
  const all: readonly (readonly [name: string, text: string])[] = [
    ["raw", secret],
    ...encoded.map(([name, encode]) => [name, encode(secret)] as const),
    ["JSON in JSON", inJson(inJson(secret))],
    ["URL in URL", encodeURIComponent(encodeURIComponent(secret))],
    ["hex", hex],
    ["a printed buffer", hex.replace(/..(?=.)/g, "$& ")],
    ["backwards", [...secret].reverse().join("")],
    ...[0, 1, 2].flatMap((offset) => base64Forms(secret, offset)),
  ];
  return new Map(all.toReversed().map(([name, text]) => [text, name]));
}

/** The secrets that a text contains, by the names of the canaries, with the text around them; each form once. */
export function leaksOf(text: string, canaries: Readonly<Record<string, string>>) {
  return Object.entries(canaries).flatMap(([canary, secret]) =>
    [...formsOf(secret)].flatMap(([form, name]) => {
      const at = text.indexOf(form);
      return at < 0 ? [] : [{ canary, form: name, around: text.slice(Math.max(0, at - 80), at + form.length + 80) }];
    }),
  );
}

/** What the base64 of any text contains that has the secret at this offset in a group of three bytes. */
function base64Forms(secret: string, offset: number): (readonly [string, string])[] {
  const bytes = Buffer.from(secret);
  const encoded = Buffer.concat([Buffer.alloc(offset), bytes]).toString("base64");
  // A character holds 6 bits: those at both ends may hold bits of the secret's neighbours.
  const text = encoded.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6));
  const name = `base64 at ${offset}`;
  return [
    [name, text],
    [`${name} for URLs`, text.replaceAll("+", "-").replaceAll("/", "_")],
    [`${name} in a URL`, encodeURIComponent(text)],
  ];
}

/** Everything that can be printed of an error: its JSON, and what a debugger shows, with its text and stack. */
export function allThatShows(error: unknown): string {
  return JSON.stringify(error) + inspect(error, { showHidden: true, depth: Infinity, getters: true });
}

/** The ways in which servers write a text into another one, by name. */
export const encodings: Readonly<Record<string, (text: string) => string>> = {
  "percent-encoded": encodeURIComponent,
  "percent-encoded in lower case": (text) => encodeURIComponent(text).replace(/%../g, (byte) => byte.toLowerCase()),
  "percent-encoded as in RFC 3986": (text) => encodeURIComponent(text).replace(/[!'()*]/g, percentEncoded),
  "percent-encoded whole": percentEncoded,
  "as encodeURI does": encodeURI,
  "as a form": (text) => new URLSearchParams([["", text]]).toString().slice(1),
  "in JSON": inJson,
  "in JSON as Go writes it": (text) => inJson(text).replace(/[<>&\u2028\u2029]/g, unicodeEscaped),
  "in JSON of ASCII": (text) => inJson(text).replace(/[^\x20-\x7e]/g, unicodeEscaped),
  "in JSON of ASCII, upper case": (text) => inJson(text).replace(/[^\x20-\x7e]/g, unicodeEscapedUpper),
  "in JSON, all of it escaped": (text) => unicodeEscaped(text),
  "in JSON with \\/": (text) => inJson(text).replaceAll("/", "\\/"),
  "in HTML, named": (text) => text.replace(/[&<>"']/g, (character) => `&${htmlNames[character]};`),
  "in HTML, named whole": (text) =>
    text.replace(/[^\w\s]|_/gu, (character) => (htmlNames[character] ? `&${htmlNames[character]};` : character)),
  "in HTML, decimal": (text) => text.replace(/[&<>"']/g, (character) => `&#${codeOf(character)};`),
  "in HTML, hex": (text) => text.replace(/[&<>"'`=+/]/g, (character) => `&#x${codeOf(character).toString(16)};`),
  "in HTML, decimal, all of it, with zeros": (text) =>
    [...text].map((character) => `&#00${codeOf(character)};`).join(""),
  "in HTML, hex, all of it, upper case with zeros": (text) =>
    [...text].map((character) => `&#X00${codeOf(character).toString(16).toUpperCase()};`).join(""),
  "in base64": (text) => base64(text),
  "in base64 without padding": (text) => base64(text).replace(/=+$/, ""),
  "in base64 for URLs": (text) => Buffer.from(text).toString("base64url"),
  "in base64, one byte in": (text) => base64(`:${text}:`),
  "in base64, two bytes in": (text) => base64(`u:${text}`),
  "in base64, three bytes in": (text) => base64(`me:${text}\n`),
};

/** What HTML calls the characters of ASCII that are neither letters nor digits. */
const htmlNames: Readonly<Record<string, string>> = Object.fromEntries(
  "!excl \"quot #num $dollar %percnt &amp 'apos (lpar )rpar *ast +plus ,comma .period /sol :colon ;semi <lt =equals >gt ?quest @commat [lbrack \\bsol ]rbrack ^Hat _lowbar `grave {lbrace |vert }rbrace"
    .split(" ")
    .map((entry) => [entry[0], entry.slice(1)]),
) as Record<string, string>;

function percentEncoded(text: string): string {
  return Buffer.from(text).toString("hex").toUpperCase().replace(/../g, "%$&");
}

function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** Each UTF-16 unit by itself, as JSON writes what is beyond the first plane. */
function unicodeEscaped(text: string): string {
  return text.replace(/[^]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

function unicodeEscapedUpper(text: string): string {
  return unicodeEscaped(text).replace(/u(....)/g, (_, hex: string) => `u${hex.toUpperCase()}`);
}

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}

function codeOf(character: string): number {
  return character.codePointAt(0) ?? 0;
}
