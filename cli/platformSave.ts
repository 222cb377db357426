import { writeFileSync } from "node:fs";
import type * as seeds from "../local/platform/seed";

/** `rekey platform save`: asks the running platform for its state, and writes it as a seed file. */
export async function savePlatform(file?: string): Promise<void> {
  const url = environment("REKEY_BASE_URL");
  const credentials = `${environment("REKEY_USERNAME")}:${environment("REKEY_PASSWORD")}`;
  const headers = { authorization: `Basic ${Buffer.from(credentials).toString("base64")}` };
  const answer = await fetch(new URL("/local/state", url), { headers, redirect: "error" }).catch((error: Error) => {
    const reason = error.cause instanceof Error ? error.cause.message : error.message;
    throw new Error(`the local platform at ${url} was not reached: ${reason}. Nothing was saved.`);
  });
  const text = await answer.text();
  if (!answer.ok) {
    const why =
      answer.status === 401
        ? "REKEY_USERNAME or REKEY_PASSWORD is not that of this platform"
        : "it is no local platform";
    throw new Error(`${url} answered ${answer.status}: ${why}. Nothing was saved.`);
  }
  const { parseSeed, seedText } = require("../local/platform/seed") as typeof seeds;
  const seed = seedText(parseSeed(text), file);
  if (file === undefined) {
    process.stdout.write(seed);
  } else {
    // It holds passwords: nobody else is to read it.
    writeFileSync(file, seed, { mode: 0o600 });
  }
}

function environment(name: string): string {
  const value = process.env[name];
  if (!value) {
    throw new Error(`${name} is not set: \`rekey platform\` prints the lines that set it.`);
  }
  return value;
}
