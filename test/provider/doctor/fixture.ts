import assert from "node:assert/strict";
import { delimiter, join } from "node:path";
import { type Platform, startPlatform } from "../../../local/index";
import { Folder } from "../../support/folder";
import { projectRoot } from "../../support/host";
import { runAsync } from "../../support/processes";
import { Project, type Settings } from "../../support/project";
import { databasePath } from "../../support/resources";

export const main = join(projectRoot, "dist", "provider", "doctor", "main.js");

/** A stand-in of the `pulumi` CLI. It prints what a test has put into its folder. */
const pulumi = `#!/bin/sh
here=$(dirname "$0")
for stack; do :; done
case "$1 $2" in
  "stack --show-name") [ -n "$SELECTED_STACK" ] || exit 255; echo "$SELECTED_STACK" ;;
  "stack export") [ -z "$NO_STATE" ] || { echo "error: it has none" >&2; exit 255; }; file="$here/state-$stack.json"; [ -f "$file" ] || file="$here/state.json"; cat "$file" ;;
  "config --json") [ -z "$REFUSAL" ] || { echo "$REFUSAL" >&2; exit 255; }; cat "$here/config.json" ;;
  *) exit 255 ;;
esac
`;

/** An exported state with a rotation that was made now. */
export function stateOf(name: string, id: string, resource = "PasswordRotation"): string {
  const type = `pulumi-nodejs:dynamic/rekey:${resource}`;
  const outputs = { rotatedAt: new Date().toISOString() };
  const rotation = { urn: `urn:pulumi:dev::program::${type}::${name}`, type, id, outputs };
  return JSON.stringify({ version: 3, deployment: { resources: [rotation] } });
}

/** A project on a local platform, in which the doctor runs as users run it. */
export class Fixture {
  readonly project = new Project();
  /** Has the `pulumi` that comes first on PATH. */
  readonly bin = new Folder();

  private constructor(readonly platform: Platform) {
    this.bin.write("pulumi", pulumi, 0o755);
    this.bin.write("state.json", stateOf("sessions", "db-sessions"));
  }

  static async start(options: Parameters<typeof startPlatform>[0]): Promise<Fixture> {
    return new Fixture(await startPlatform({ databasePath, credentials: "always", ...options }));
  }

  async stop(): Promise<void> {
    await this.platform.close();
    this.project.remove();
    this.bin.remove();
  }

  /** Sets the configuration of the stack. A setting that is undefined is left out. */
  configure(settings: Readonly<Record<string, Settings[string] | undefined>>): void {
    const given = Object.entries(settings).map(([name, set]) => {
      return [name, typeof set === "object" ? { value: set.secret, secret: true } : { value: set, secret: false }];
    });
    const set = given.filter(([name]) => settings[name as string] !== undefined);
    this.bin.write("config.json", JSON.stringify(Object.fromEntries(set)));
  }

  /** What it prints, which is no secret of the account, and what it sends: only reads. */
  async doctor(args: readonly string[], environment: NodeJS.ProcessEnv = {}, cwd = this.project.directory) {
    const { platform, bin } = this;
    const before = platform.requests.length;
    const { code, output } = await runAsync(process.execPath, [main, "doctor", ...args], {
      cwd,
      env: { PATH: `${bin.directory}${delimiter}${process.env["PATH"]}`, ...environment },
    });
    const sent = platform.requests.slice(before).map(({ method, path }) => `${method} ${path}`);
    assert.ok(
      sent.every((request) => request.startsWith("GET ")),
      sent.join(),
    );
    const { current, next } = platform.signingKeys;
    const databases = [...platform.databases.values()].flatMap(({ password, restToken }) => [password, restToken]);
    const indexes = [...platform.vectorIndexes.values()].flatMap(({ token, readOnlyToken }) => [token, readOnlyToken]);
    for (const secret of [platform.password, platform.queueToken, current, next, ...databases, ...indexes]) {
      assert.ok(!output.includes(secret), output);
    }
    return { code, output, sent };
  }
}
