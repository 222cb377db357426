// npm run test:live: asks for ids of an account, resets each once, and prints what was seen.
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import { Settings } from "../../provider/settings/settings";
import { runLive } from "./live";

const { values } = parseArgs({
  options: {
    /** Seconds for which the effects of a reset are waited for. */
    wait: { type: "string", default: "60" },
    /** Reads the answers from a pipe, for tests. */
    piped: { type: "boolean", default: false },
  },
});

async function main(): Promise<number> {
  if (!process.stdin.isTTY && !values.piped) {
    console.error("It asks before each reset: run it in a terminal. Nothing was reset.");
    return 1;
  }
  const waitSeconds = Number(values.wait);
  if (!(waitSeconds >= 0)) throw new RangeError("--wait");
  const stopping = new AbortController();
  const stopped = new Promise<undefined>((resolve) =>
    stopping.signal.addEventListener("abort", () => resolve(undefined)),
  );
  process.once("SIGINT", () => stopping.abort());
  const input = createInterface({ input: process.stdin });
  const lines = input[Symbol.asyncIterator]();
  const ask = async (question: string): Promise<string | undefined> => {
    process.stdout.write(question);
    const line = await Promise.race([lines.next(), stopped]);
    return line === undefined || line.done === true ? undefined : line.value.trim();
  };
  const settings = new Settings(() => undefined, { REKEY_PLATFORM: "upstash", ...process.env });
  const terminal = { ask, print: (line: string) => console.log(line) };
  const code = await runLive({ settings, terminal, waitSeconds, signal: stopping.signal });
  input.close();
  process.stdin.destroy();
  return code;
}

main().then(
  (code) => (process.exitCode = code),
  (error: unknown) => {
    // Not the error itself, which may contain a secret.
    console.error(`An unexpected ${error instanceof Error ? error.constructor.name : "error"}. Check the console.`);
    process.exitCode = 1;
  },
);
