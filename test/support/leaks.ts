import { inspect } from "node:util";

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

/** The secrets that a text holds, in any form in which a server may echo them. */
export function leaksIn(text: string, secrets: readonly string[]): string[] {
  return secrets.filter((secret) =>
    [secret, Buffer.from(secret).toString("base64"), encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)]
      .map((form) => form.replace(/=+$/, ""))
      .some((form) => text.includes(form)),
  );
}
