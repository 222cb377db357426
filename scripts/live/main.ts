// npm run test:live: asks for ids of a live account, changes each once, and prints what differs from the local
// platform.
import { once } from "node:events";
import { createInterface } from "node:readline";
import { Settings } from "../../provider/settings/settings";
import { runLive } from "./live";

async function main(): Promise<number> {
  if (!process.stdin.isTTY) {
    console.error("It asks before each change: run it in a terminal. Nothing was changed.");
    return 1;
  }
  const settings = new Settings(() => undefined, { REKEY_PLATFORM: "upstash", ...process.env });
  // The stacks get their settings from here alone.
  for (const name of Object.keys(process.env)) if (/^(REKEY|UPSTASH)_/.test(name)) delete process.env[name];
  // What has begun ends, so that no key stays paused. Another ^C ends everything at once.
  const stopped = once(process, "SIGINT").then(() => undefined);
  const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
  const ask = async (question: string): Promise<string | undefined> => {
    process.stdout.write(question);
    const line = await Promise.race([lines.next(), stopped]);
    return line === undefined || line.done ? undefined : line.value.trim();
  };
  return runLive(settings, { ask, print: (line) => console.log(line) });
}

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    // Not the error itself, which may contain a secret.
    console.error(`It failed: ${error instanceof Error ? error.constructor.name : "an error"}. Check the console.`);
    process.exit(1);
  },
);
