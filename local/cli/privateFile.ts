import { closeSync, fchmodSync, fstatSync, openSync, writeFileSync } from "node:fs";

/** Writes a file with secrets. Only its owner may read it, even if an existing file was readable by others. */
export function writePrivately(file: string, text: string): void {
  const descriptor = openSync(file, "w", 0o600);
  try {
    // The mode of a terminal or a pipe (`/dev/stdout`) must not be changed.
    if (fstatSync(descriptor).isFile()) fchmodSync(descriptor, 0o600);
    writeFileSync(descriptor, text);
  } finally {
    closeSync(descriptor);
  }
}
