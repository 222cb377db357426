import assert from "node:assert/strict";
import { delimiter, join } from "node:path";
import { type Platform, startPlatform } from "../../../local/index";
import { Folder } from "../../support/folder";
import { projectRoot } from "../../support/host";
import { runAsync } from "../../support/processes";
import { Project } from "../../support/project";
import { databasePath } from "../../support/resources";

const main = join(projectRoot, "dist", "provider", "doctor", "main.js");

/** A stand-in of the `pulumi` CLI. It prints what a test has put into its folder. */
const pulumi = `#!/bin/sh
here=$(dirname "$0")
for stack; do :; done
case "$1 $2" in
  "version ") echo v3.274.1 ;;
  "stack --show-name") [ -n "$SELECTED_STACK" ] || exit 255; echo "$SELECTED_STACK" ;;
  "stack export") cat "$here/state.json" || echo "error: no state" >&2 ;;
  "config --json") [ ! -f "$here/refusal" ] || { cat "$here/refusal" >&2; exit 255; }; cat "$here/config.json" ;;
  *) exit 255 ;;
esac
`;

/** A project on a local platform, in which the doctor runs as users run it. */
export class Fixture {
  readonly project = new Project();
  /** Has the `pulumi` that comes first on PATH. */
  readonly bin = new Folder();

  private constructor(readonly platform: Platform) {
    this.bin.write("pulumi", pulumi, 0o755);
  }

  static async start(options: Parameters<typeof startPlatform>[0]): Promise<Fixture> {
    return new Fixture(await startPlatform({ databasePath, credentials: "always", ...options }));
  }

  async stop(): Promise<void> {
    await this.platform.close();
    this.project.remove();
    this.bin.remove();
  }

  /** @param settings of the stack: texts, and secrets */
  configure(settings: Readonly<Record<string, string | { readonly secret: string } | undefined>>): void {
    const given = Object.entries(settings).flatMap(([name, value]) => {
      if (value === undefined) return [];
      const secret = typeof value === "object";
      return [[`rekey:${name}`, { value: secret ? value.secret : value, secret }] as const];
    });
    this.bin.write("config.json", JSON.stringify(Object.fromEntries(given)));
  }

  /** What it prints, which is no secret of the account, and what it sends: only reads. */
  async doctor(args: readonly string[], environment: NodeJS.ProcessEnv = {}) {
    const { platform, project, bin } = this;
    const before = platform.requests.length;
    const { code, output } = await runAsync(process.execPath, [main, "doctor", ...args], {
      cwd: project.directory,
      env: { PATH: `${bin.directory}${delimiter}${process.env["PATH"]}`, ...environment },
    });
    const sent = platform.requests.slice(before).map(({ method, path }) => `${method} ${path}`);
    assert.ok(
      sent.every((request) => request.startsWith("GET ")),
      sent.join(),
    );
    const { current, next } = platform.signingKeys;
    const secrets = [current, next, platform.password, platform.queueToken];
    for (const { password, restToken } of platform.databases.values()) secrets.push(password, restToken);
    for (const { token, readOnlyToken } of platform.vectorIndexes.values()) secrets.push(token, readOnlyToken);
    for (const secret of secrets) assert.ok(!output.includes(secret), output);
    return { code, output, sent };
  }
}
