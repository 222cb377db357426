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

  /** A report with all its texts as such names. */
  redactNames<T>(report: T): T {
    return JSON.parse(JSON.stringify(report), (_, value: unknown) =>
      typeof value === "string" ? this.redactName(value) : value,
    ) as T;
  }

  /** True if a text contains a secret of any length, also if it was formatted or sent by a form. */
  areIn(text: string): boolean {
    const compacted = compact(text);
    for (let at = 0; at < compacted.length; at++) {
      if (this.#secretAt(compacted, at) > 0) return true;
    }
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
