/** A form in which a text may contain a secret. */
export interface Form {
  readonly name: string;
  readonly text: string;
}

/** A secret in a text. */
export interface Leak {
  readonly canary: string;
  readonly form: string;
  /** The text around it. */
  readonly around: string;
}

/** A shorter one could occur by chance. */
const shortest = 10;

/**
 * The forms of a secret that a text is searched for: unchanged, and as JSON, URLs, HTTP Basic and debuggers write it.
 * The base64 forms also find it inside a longer text that was encoded, such as `user:password`.
 */
export function formsOf(secret: string): Form[] {
  if (secret.length < shortest) throw new Error(`${JSON.stringify(secret)} is too short for a canary`);
  const json = inJson(secret);
  const hex = Buffer.from(secret).toString("hex");
  const forms: Form[] = [
    { name: "raw", text: secret },
    { name: "JSON", text: json },
    { name: "JSON in JSON", text: inJson(json) },
    { name: "ASCII JSON", text: json.replace(/[^\x20-\x7e]/g, (character) => escaped(character)) },
    { name: "URL", text: encodeURIComponent(secret) },
    { name: "URL of a form", text: new URLSearchParams([["", secret]]).toString().slice(1) },
    { name: "URL in URL", text: encodeURIComponent(encodeURIComponent(secret)) },
    { name: "HTML", text: secret.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`) },
    { name: "hex", text: hex },
    { name: "a printed buffer", text: hex.replace(/..(?=.)/g, "$& ") },
    { name: "backwards", text: [...secret].reverse().join("") },
    ...[0, 1, 2].flatMap((offset) => base64Forms(secret, offset)),
  ];
  const seen = new Set<string>();
  return forms.filter(({ text }) => !seen.has(text) && seen.add(text));
}

/** The secrets that a text contains, by the names of the canaries; each form once. */
export function leaksOf(text: string, canaries: Readonly<Record<string, string>>): Leak[] {
  return Object.entries(canaries).flatMap(([canary, secret]) =>
    formsOf(secret).flatMap(({ name, text: form }) => {
      const at = text.indexOf(form);
      return at < 0 ? [] : [{ canary, form: name, around: text.slice(Math.max(0, at - 80), at + form.length + 80) }];
    }),
  );
}

/** What the base64 of any text contains that has the secret at this offset in a group of three bytes. */
function base64Forms(secret: string, offset: number): Form[] {
  const bytes = Buffer.from(secret);
  const encoded = Buffer.concat([Buffer.alloc(offset), bytes]).toString("base64");
  // A character holds 6 bits: those at both ends may hold bits of the secret's neighbours.
  const first = Math.ceil((offset * 8) / 6);
  const end = Math.floor(((offset + bytes.length) * 8) / 6);
  const text = encoded.slice(first, end);
  const urlSafe = text.replaceAll("+", "-").replaceAll("/", "_");
  return [
    { name: `base64 at ${offset}`, text },
    { name: `base64url at ${offset}`, text: urlSafe },
    { name: `base64 at ${offset} in URL`, text: encodeURIComponent(text) },
  ];
}

function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
