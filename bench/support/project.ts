import { copyFileSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

/** A Pulumi project with a program, in a folder of its own. */
export class BenchProject {
  readonly directory = mkdtempSync(join(tmpdir(), "rekey-bench-"));

  /** @param program its file */
  constructor(program: string) {
    symlinkSync(resolve(__dirname, "../../node_modules"), join(this.directory, "node_modules"), "junction");
    this.write("package.json", JSON.stringify({ name: "bench", private: true }));
    this.write("Pulumi.yaml", "name: bench\nruntime: nodejs\nmain: index.ts\n");
    copyFileSync(program, join(this.directory, "index.ts"));
  }

  remove(): void {
    rmSync(this.directory, { recursive: true, force: true });
  }

  write(file: string, text: string): void {
    writeFileSync(join(this.directory, file), text);
  }
}
