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

export function inJson(text: string): string {
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
