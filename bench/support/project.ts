import { copyFileSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

/** The programs that are measured, by their files in `bench/programs`. */
export type Subject = "noop" | "handWritten" | "passwordRotation";

/** A Pulumi project with one of the programs, in a folder of its own. */
export class BenchProject {
  readonly directory = mkdtempSync(join(tmpdir(), "rekey-bench-"));

  constructor(subject: Subject) {
    symlinkSync(resolve(__dirname, "../../node_modules"), join(this.directory, "node_modules"), "junction");
    this.#write("package.json", JSON.stringify({ name: "bench", private: true }));
    this.#write("Pulumi.yaml", "name: bench\nruntime: nodejs\nmain: index.ts\n");
    copyFileSync(join(__dirname, "..", "programs", `${subject}.ts`), join(this.directory, "index.ts"));
  }

  /** Says which databases the program's next run wants, and in which version. */
  want(databases: Readonly<Record<string, string>>): void {
    this.#write("databases.json", JSON.stringify(databases));
  }

  remove(): void {
    rmSync(this.directory, { recursive: true, force: true });
  }

  #write(file: string, text: string): void {
    writeFileSync(join(this.directory, file), text);
  }
}
