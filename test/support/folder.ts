import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** A new temporary folder. */
export class Folder {
  readonly directory = mkdtempSync(join(tmpdir(), "rekey-test-"));

  path(...names: readonly string[]): string {
    return join(this.directory, ...names);
  }

  /** Writes a file, with the folders above it. @returns its path */
  write(name: string, text: string | Buffer, mode?: number): string {
    const path = this.path(name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text, { mode });
    return path;
  }

  remove(): void {
    rmSync(this.directory, { recursive: true, force: true });
  }
}
