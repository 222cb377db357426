import type * as seeds from "../platform/seed";
import { writePrivately } from "./privateFile";

const whichAddress = "Set REKEY_BASE_URL to the address that `rekey-local platform` printed.";

const noPlatform = `it is no local platform. Nothing was saved. ${whichAddress}`;

/** `rekey-local platform save`: asks the running platform for its state, and writes it as a seed file. */
export async function savePlatform(file?: string): Promise<void> {
  const url = environment("REKEY_BASE_URL");
  const credentials = `${environment("REKEY_USERNAME")}:${environment("REKEY_PASSWORD")}`;
  const headers = { authorization: `Basic ${Buffer.from(credentials).toString("base64")}` };
  if (!URL.canParse(url)) throw new Error(`REKEY_BASE_URL is no address: ${url}. Nothing was saved. ${whichAddress}`);
  const answer = await fetch(new URL("/local/state", url), { headers, redirect: "error" }).catch((error: Error) => {
    const reason = error.cause instanceof Error ? error.cause.message : error.message;
    throw new Error(`the local platform at ${url} was not reached: ${reason}. Nothing was saved. ${whichAddress}`);
  });
  const text = await answer.text();
  if (!answer.ok) {
    const why =
      answer.status === 401
        ? "REKEY_USERNAME or REKEY_PASSWORD is not that of this platform. Nothing was saved. Set what `rekey-local platform` printed."
        : noPlatform;
    throw new Error(`${url} answered ${answer.status}: ${why}`);
  }
  const { parseSeed, seedText } = require("../platform/seed") as typeof seeds;
  let seed: string;
  try {
    seed = seedText(parseSeed(text), file);
  } catch (error) {
    // What it answered is not shown: nobody knows what that is.
    throw new Error(`${url} answered ${answer.status}, and no state: ${noPlatform}`, { cause: error });
  }
  if (file === undefined) {
    process.stdout.write(seed);
  } else {
    try {
      writePrivately(file, seed);
    } catch (error) {
      throw new Error(`${file} cannot be written: ${(error as Error).message}. Nothing was saved: name another file.`, {
        cause: error,
      });
    }
  }
}

function environment(name: string): string {
  const value = process.env[name];
  if (!value) {
    throw new Error(`${name} is not set: \`rekey-local platform\` prints the lines that set it.`);
  }
  return value;
}
