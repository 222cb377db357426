import { X509Certificate } from "node:crypto";
import { readFileSync, statSync } from "node:fs";

/** The certificates in a file. @throws Error that says why it has none */
export function certificatesIn(file: string): string {
  // Reading a pipe or a device may never end.
  const found = statSync(file);
  if (!found.isFile() && !found.isDirectory()) throw new Error("is not a file");
  const text = readFileSync(file, "utf8");
  if (!isCertificate(text)) throw new Error("contains no PEM certificate");
  return text;
}

function isCertificate(text: string): boolean {
  try {
    return Boolean(new X509Certificate(text));
  } catch {
    return false;
  }
}
