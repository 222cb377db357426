import type * as seeds from "../platform/seed";
import { writePrivately } from "./privateFile";

const addressAdvice = "Set REKEY_BASE_URL to the address that `rekey-local platform` printed.";

const notAPlatform = `it is not a local platform. Nothing was saved. ${addressAdvice}`;

/** `rekey-local platform save`: reads the state of the running platform and writes it as a seed file. */
export async function savePlatform(file?: string): Promise<void> {
  const url = environment("REKEY_BASE_URL");
  const credentials = `${environment("REKEY_USERNAME")}:${environment("REKEY_PASSWORD")}`;
  const headers = { authorization: `Basic ${Buffer.from(credentials).toString("base64")}` };
  if (!URL.canParse(url)) throw new Error(`REKEY_BASE_URL is not a URL: ${url}. Nothing was saved. ${addressAdvice}`);
  const response = await fetch(new URL("/local/state", url), { headers, redirect: "error" }).catch((error: Error) => {
    const reason = error.cause instanceof Error ? error.cause.message : error.message;
    throw new Error(
      `the local platform at ${url} could not be reached: ${reason}. Nothing was saved. ${addressAdvice}`,
    );
  });
  const text = await response.text();
  if (!response.ok) {
    const why =
      response.status === 401
        ? "REKEY_USERNAME or REKEY_PASSWORD is wrong. Nothing was saved. Set the values that `rekey-local platform` printed."
        : notAPlatform;
    throw new Error(`${url} responded with ${response.status}: ${why}`);
  }
  const { parseSeed, seedText } = require("../platform/seed") as typeof seeds;
  let seed: string;
  try {
    seed = seedText(parseSeed(text), file);
  } catch (error) {
    // The response is not shown: it could contain anything.
    throw new Error(`${url} responded with ${response.status}, but without the state of a platform: ${notAPlatform}`, {
      cause: error,
    });
  }
  if (file === undefined) {
    process.stdout.write(seed);
  } else {
    try {
      writePrivately(file, seed);
    } catch (error) {
      throw new Error(
        `${file} cannot be written: ${(error as Error).message}. Nothing was saved. Choose another file.`,
        {
          cause: error,
        },
      );
    }
  }
}

function environment(name: string): string {
  const value = process.env[name];
  if (!value) {
    throw new Error(
      `${name} is not set. Nothing was saved. Run the \`export\` lines that \`rekey-local platform\` printed.`,
    );
  }
  return value;
}
