import { readFileSync } from "node:fs";
import { stringify } from "lossless-json";
import type * as yaml from "yaml";
import type * as unreadable from "../unreadable";
import { checkSeed, PlatformOptionError, type PlatformSeed } from "./options";

/**
 * Reads a seed file in YAML or JSON.
 *
 * @throws PlatformOptionError that names the file, and the field or line
 */
export function readSeed(file: string): PlatformSeed {
  const refuse = (problem: string, cause: unknown): never => {
    throw new PlatformOptionError("seed", `${file}: ${problem}`, { cause });
  };
  try {
    return parseSeed(readFileSync(file, "utf8"));
  } catch (error) {
    if (error instanceof PlatformOptionError) return refuse(`${error.option}: ${error.problem}`, error);
    const { whyUnreadable } = require("../unreadable") as typeof unreadable;
    // The YAML parser quotes the file, which may contain passwords.
    return refuse(whyUnreadable(error), error);
  }
}

/** @throws PlatformOptionError that names the field; YAMLParseError */
export function parseSeed(text: string): PlatformSeed {
  const { parse } = require("yaml") as typeof yaml;
  // Integers are parsed as bigints, so that one beyond 2^53 keeps its digits.
  const number = (_key: unknown, value: unknown) =>
    typeof value === "bigint" && Number.isSafeInteger(Number(value)) ? Number(value) : value;
  return checkSeed(parse(text, number, { intAsBigInt: true }));
}

/** The text of a seed file: JSON if the name ends in `.json`, else YAML. */
export function seedText(seed: PlatformSeed, file = ""): string {
  if (file.endsWith(".json")) {
    return `${stringify(seed, undefined, 2)}\n`;
  }
  return (require("yaml") as typeof yaml).stringify(seed);
}
