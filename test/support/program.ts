import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";

const root = resolve(__dirname, "../..");

/** A Pulumi project in a folder of its own, with the packages a user would have installed. */
export class Program {
  readonly directory = mkdtempSync(join(tmpdir(), "rekey-program-"));

  /** @param file name of the program's file; its ending and the package's type say what language it is in. */
  constructor(
    source: string,
    private readonly file = "index.js",
    packageJson: Record<string, unknown> = {},
  ) {
    this.#write("package.json", JSON.stringify({ name: "program", private: true, ...packageJson }));
    this.#write("Pulumi.yaml", `name: program\nruntime: nodejs\nmain: ${file}\n`);
    this.rewrite(source);
    installPackages(this.directory);
  }

  /** Replaces the program, as a user who edits it. */
  rewrite(source: string): void {
    this.#write(this.file, source);
  }

  /** Takes an installed package away. */
  uninstall(name: string): void {
    rmSync(join(this.directory, "node_modules", name));
  }

  remove(): void {
    rmSync(this.directory, { recursive: true, force: true });
  }

  #write(file: string, text: string): void {
    writeFileSync(join(this.directory, file), text);
  }
}

/** Gives a folder the packages a user would have installed, and others that the program asks for. */
export function installPackages(directory: string, ...others: readonly string[]): void {
  for (const name of [
    "@pulumi/pulumi",
    "typescript",
    "ts-node",
    "@types/node",
    "pulumi-rekey",
    "rekey-local",
    ...others,
  ]) {
    const link = join(directory, "node_modules", name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(name === "pulumi-rekey" ? root : join(root, "node_modules", name), link, "junction");
  }
}
