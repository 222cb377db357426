import { cpSync, mkdirSync, rmSync, symlinkSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { type Platform } from "../../local/platform/index";
import { Folder } from "./folder";

const root = resolve(__dirname, "../..");
export const examples = join(root, "examples");

export interface ProjectOptions {
  /** Default: `program`. */
  readonly name?: string;
  /** The program's file. Default: `index.js`. */
  readonly main?: string;
  /** Whether Pulumi loads TypeScript, which doubles the time of a start. Default: if the program's file is `.ts`. */
  readonly typescript?: boolean;
  /** Whether the program uses the native plugin. Default: the dynamic provider. */
  readonly native?: boolean | undefined;
  /** Installed in addition to what every user has. */
  readonly packages?: readonly string[];
}

/** A Pulumi project in a temporary folder, with the packages that a user would have installed. */
export class Project extends Folder {
  readonly #main: string;

  /** @param program its source, or the name of an example, which is copied */
  constructor(
    program: string | { readonly example: string },
    {
      name = "program",
      main = "index.js",
      typescript = main.endsWith(".ts"),
      native,
      packages = [],
    }: ProjectOptions = {},
  ) {
    super();
    this.#main = main;
    installPackages(this.directory, ...packages);
    if (typeof program !== "string") {
      cpSync(join(examples, program.example), this.directory, { recursive: true });
      return;
    }
    this.write("package.json", JSON.stringify({ name, private: true }));
    const runtime = `{ name: nodejs, options: { typescript: ${typescript} } }`;
    const plugins = native ? "plugins: { providers: [{ name: rekey, path: ./plugin }] }\n" : "";
    this.write("Pulumi.yaml", `name: ${name}\nmain: ${main}\nruntime: ${runtime}\n${plugins}`);
    if (native) this.#installPlugin();
    this.rewrite(program);
  }

  /** Replaces the program, as a user who edits it. */
  rewrite(source: string): void {
    this.write(this.#main, source);
  }

  /** Replaces the SDK by one of native resources, and adds the plugin. */
  #installPlugin(): void {
    this.uninstall("pulumi-rekey");
    symlinkSync(join(__dirname, "../fixtures/nativeSdk"), this.path("node_modules", "pulumi-rekey"), "junction");
    const main = join(root, "dist", "provider", "engine", "plugin", "main.js");
    this.write("plugin/pulumi-resource-rekey", `#!/bin/sh\nexec "${process.execPath}" "${main}" "$@"\n`, 0o755);
  }

  uninstall(name: string): void {
    rmSync(this.path("node_modules", name));
  }
}

/** Gives a folder the packages a user would have installed, and others that the program asks for. */
export function installPackages(directory: string, ...others: readonly string[]): void {
  const usual = ["@pulumi/pulumi", "typescript", "ts-node", "@types/node", "pulumi-rekey", "rekey-local"];
  for (const name of [...usual, ...others]) {
    const link = join(directory, "node_modules", name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(name === "pulumi-rekey" ? root : join(root, "node_modules", name), link, "junction");
  }
}

/** The settings of a platform, as environment variables. */
export function environmentOf(platform: {
  readonly url: string;
  readonly username: string;
  readonly password: string;
  readonly queueToken: string;
}): Record<string, string> {
  return {
    REKEY_BASE_URL: platform.url,
    REKEY_QUEUE_URL: platform.url,
    REKEY_USERNAME: platform.username,
    REKEY_PASSWORD: platform.password,
    REKEY_QUEUE_TOKEN: platform.queueToken,
  };
}

/** The configuration of a stack. */
export type Settings = Readonly<Record<string, string | { readonly secret: string }>>;

/** The configuration of a stack that uses a platform. */
export function settingsOf({
  url,
  username,
  password,
  queueToken,
}: Pick<Platform, "url" | "username" | "password" | "queueToken">): Record<
  string,
  string | { readonly secret: string }
> {
  const account = { "rekey:username": username, "rekey:password": { secret: password } };
  return { "rekey:baseUrl": url, ...account, "rekey:queueUrl": url, "rekey:queueToken": { secret: queueToken } };
}
