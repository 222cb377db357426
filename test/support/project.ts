import { mkdirSync, symlinkSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { Folder } from "./folder";
import { type Account, settingsFor } from "./resources";

const root = resolve(__dirname, "../..");
export const examples = join(root, "examples");

/** A Pulumi project in a temporary folder, with the packages that a user would have installed. */
export class Project extends Folder {
  constructor() {
    super();
    installPackages(this.directory);
    const runtime = "{ name: nodejs, options: { typescript: false } }";
    this.write("package.json", `{ "name": "program", "private": true }`);
    this.write("Pulumi.yaml", `name: program\nmain: index.js\nruntime: ${runtime}\n`);
    this.write("index.js", "");
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

/** The settings of a platform, as environment variables. */
export function environmentOf(account: Account): Record<string, string> {
  const nameOf = (setting: string) => `REKEY_${setting.replace(/[A-Z]/g, "_$&").toUpperCase()}`;
  return Object.fromEntries(Object.entries(settingsFor(account)).map(([name, value]) => [nameOf(name), String(value)]));
}

/** The configuration of a stack. */
export type Settings = Readonly<Record<string, string | { readonly secret: string }>>;

/** The configuration of a stack that uses a platform. */
export function settingsOf({ url, username, password, queueToken }: Account) {
  const account = { "rekey:username": username, "rekey:password": { secret: password } };
  return { "rekey:baseUrl": url, ...account, "rekey:queueUrl": url, "rekey:queueToken": { secret: queueToken } };
}
