import { cpSync, mkdirSync, rmSync, symlinkSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { type Platform } from "../../local/platform/index";
import { Folder } from "./folder";

const root = resolve(__dirname, "../..");
export const examples = join(root, "examples");

/** A Pulumi project in a temporary folder, with the packages that a user would have installed. */
export class Project extends Folder {
  /** @param program its source, or the name of an example, which is copied */
  constructor(program: string | { readonly example: string }) {
    super();
    installPackages(this.directory);
    if (typeof program !== "string") {
      cpSync(join(examples, program.example), this.directory, { recursive: true });
      return;
    }
    const runtime = "{ name: nodejs, options: { typescript: false } }";
    this.write("package.json", `{ "name": "program", "private": true }`);
    this.write("Pulumi.yaml", `name: program\nmain: index.js\nruntime: ${runtime}\n`);
    this.rewrite(program);
  }

  /** Replaces the program, as a user who edits it. */
  rewrite(source: string): void {
    this.write("index.js", source);
  }

  uninstall(name: string): void {
    rmSync(this.path("node_modules", name));
  }
}

/** Gives a folder the packages a user would have installed. */
export function installPackages(directory: string): void {
  for (const name of ["@pulumi/pulumi", "typescript", "ts-node", "@types/node", "pulumi-rekey", "rekey-local"]) {
    const link = join(directory, "node_modules", name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(name === "pulumi-rekey" ? root : join(root, "node_modules", name), link, "junction");
  }
}

/** Where a platform is, and the credentials of its account. */
type Account = Pick<Platform, "url" | "username" | "password" | "queueToken">;

/** The settings of a platform, as environment variables. */
export function environmentOf({ url, username, password, queueToken }: Account): Record<string, string> {
  return {
    REKEY_BASE_URL: url,
    REKEY_QUEUE_URL: url,
    REKEY_USERNAME: username,
    REKEY_PASSWORD: password,
    REKEY_QUEUE_TOKEN: queueToken,
  };
}

/** The configuration of a stack. */
export type Settings = Readonly<Record<string, string | { readonly secret: string }>>;

/** The configuration of a stack that uses a platform. */
export function settingsOf({ url, username, password, queueToken }: Account) {
  const account = { "rekey:username": username, "rekey:password": { secret: password } };
  return { "rekey:baseUrl": url, ...account, "rekey:queueUrl": url, "rekey:queueToken": { secret: queueToken } };
}
