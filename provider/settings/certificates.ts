import { X509Certificate } from "node:crypto";
import { readFileSync, statSync } from "node:fs";

/** The certificates in a file. @throws Error that says why it has none */
export function certificatesIn(file: string): string {
  const text = textOf(file);
  try {
    new X509Certificate(text);
    return text;
  } catch {
    throw new Error("contains no PEM certificate");
  }
}

function textOf(file: string): string {
  try {
    // Reading a pipe or a device may never end.
    if (statSync(file).isFile()) return readFileSync(file, "utf8");
  } catch (error) {
    throw new Error(`cannot be read (${(error as NodeJS.ErrnoException).code})`, { cause: error });
  }
  throw new Error("is not a file");
}
