import { closeSync, fchmodSync, fstatSync, openSync, writeFileSync } from "node:fs";

/** Writes a file that holds secrets: only its owner may read it, also where it was there before and others could. */
export function writePrivately(file: string, text: string): void {
  const descriptor = openSync(file, "w", 0o600);
  try {
    // A terminal or a pipe (`/dev/stdout`) has no mode that would be ours to change.
    if (fstatSync(descriptor).isFile()) fchmodSync(descriptor, 0o600);
    writeFileSync(descriptor, text);
  } finally {
    closeSync(descriptor);
  }
}
