import { readFileSync } from "node:fs";
import type * as yaml from "yaml";
import { checkSeed, PlatformOptionError, type PlatformSeed } from "./options";

/**
 * Reads a seed file in YAML or JSON.
 *
 * @throws PlatformOptionError that names the file, and the field or line
 */
export function readSeed(file: string): PlatformSeed {
  // Loaded here because a platform without a seed does not need it.
  const { parse, YAMLError } = require("yaml") as typeof yaml;
  // Integers are parsed as bigints, so that one beyond 2^53 keeps its digits.
  const number = (_key: unknown, value: unknown) =>
    typeof value === "bigint" && Number.isSafeInteger(Number(value)) ? Number(value) : value;
  try {
    return checkSeed(parse(readFileSync(file, "utf8"), number, { intAsBigInt: true }));
  } catch (error) {
    const problem = error instanceof PlatformOptionError ? `${error.option}: ${error.problem}` : whyUnreadable(error);
    throw new PlatformOptionError("seed", `${file}: ${problem}`, { cause: error });
  }

  /** Omits the text that the parser quotes, which may contain passwords. */
  function whyUnreadable(error: unknown): string {
    if (error instanceof ReferenceError) return "it uses a YAML alias that is not defined";
    const { message } = error as Error;
    return error instanceof YAMLError
      ? `it is not valid YAML${/ at line \d+, column \d+/.exec(message)?.[0] ?? ""}`
      : message;
  }
}
