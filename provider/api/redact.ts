const maxShown = 300;

/**
 * A platform's own words, fit to be shown: one short line in which none of the secrets stands, in whatever form a server
 * may echo it.
 */
export function redact(words: string, secrets: readonly string[]): string {
  let shown = words;
  for (const secret of secrets.flatMap(formsOf).sort((a, b) => b.length - a.length)) {
    shown = shown.replaceAll(secret, "[secret]");
  }
  shown = shown.replace(/[\u0000-\u001f\u007f-\u009f\s]+/g, " ").trim();
  return shown.length > maxShown ? `${shown.slice(0, maxShown)}…` : shown;
}

function formsOf(secret: string): string[] {
  if (secret === "") return [];
  const base64 = Buffer.from(secret).toString("base64");
  return [
    secret,
    base64,
    base64.replace(/=+$/, ""),
    encodeURIComponent(secret.toWellFormed()),
    encodeURIComponent(base64),
    JSON.stringify(secret).slice(1, -1),
  ];
}
