import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { installPackages } from "./program";

export const examples = resolve(__dirname, "../../examples");

/** An example as a user has it: its folder, copied, with the packages installed in it. */
export class Example {
  readonly directory = mkdtempSync(join(tmpdir(), "rekey-example-"));

  /** @param name its folder below `examples` */
  constructor(name: string, ...otherPackages: readonly string[]) {
    cpSync(join(examples, name), this.directory, { recursive: true });
    installPackages(this.directory, ...otherPackages);
  }

  remove(): void {
    rmSync(this.directory, { recursive: true, force: true });
  }
}

/** The environment of a run on that platform: the credentials, and no check of types, which the project's own check has done. */
export function environmentFor(platform: {
  readonly url: string;
  readonly username: string;
  readonly password: string;
  readonly queueToken: string;
}): Record<string, string> {
  const { url, username, password, queueToken } = platform;
  return {
    REKEY_BASE_URL: url,
    REKEY_QUEUE_URL: url,
    REKEY_USERNAME: username,
    REKEY_PASSWORD: password,
    REKEY_QUEUE_TOKEN: queueToken,
    PULUMI_NODEJS_TRANSPILE_ONLY: "true",
  };
}
