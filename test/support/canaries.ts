import { inspect } from "node:util";
import { encodings, inJson } from "./encodings";

/** A form in which a text may contain a secret. */
interface Form {
  readonly name: string;
  readonly text: string;
}

/** A secret in a text. */
interface Leak {
  readonly canary: string;
  readonly form: string;
  /** The text around it. */
  readonly around: string;
}

/** A shorter one could occur by chance. */
const shortest = 10;

/**
 * The forms of a secret that a text is searched for: unchanged, and as servers and debuggers write it.
 * The base64 forms also find it inside a longer text that was encoded, such as `user:password`.
 */
function formsOf(secret: string): Form[] {
  if (secret.length < shortest) throw new Error(`${JSON.stringify(secret)} is too short for a canary`);
  const hex = Buffer.from(secret).toString("hex");
  // Base64 is searched for at each position in what was encoded.
  const encoded = Object.entries(encodings).filter(([name]) => !name.startsWith("in base64"));
  const forms: Form[] = [
    { name: "raw", text: secret },
    ...encoded.map(([name, encode]) => ({ name, text: encode(secret) })),
    { name: "JSON in JSON", text: inJson(inJson(secret)) },
    { name: "URL in URL", text: encodeURIComponent(encodeURIComponent(secret)) },
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

/** Everything that can be printed of an error: its text, its stack, its JSON, and what a debugger shows. */
export function allThatShows(error: unknown): string {
  const { message, stack } = error as Error;
  return [
    message,
    stack,
    String(error),
    JSON.stringify(error),
    inspect(error, { showHidden: true, depth: Infinity, getters: true }),
  ].join("\n");
}
