import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { projectRoot } from "./host";

/** The selected stack is in the variable SELECTED_STACK. */
const selected = `[ -n "$SELECTED_STACK" ] || exit 255; echo "$SELECTED_STACK"; exit 0`;

/** What differs between the CLI and `rekey-local`, in what pipelines and the doctor call. */
const standIn = `#!/bin/sh
case "$1 $2" in
  "version ") echo v3.248.0; exit 0 ;;
  "stack output") shift 2; set -- output "$@" ;;
  "stack --show-name") ${selected} ;;
  "stack init" | "stack select") exit 0 ;;
esac
exec "${process.execPath}" "${join(projectRoot, "local/dist/cli/main.js")}" "$@"
`;

/** Puts a `pulumi` into a folder for PATH. @param script what it does instead of running `rekey-local` */
export function writePulumiStandIn(folder: string, script = standIn): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "pulumi"), script, { mode: 0o755 });
}
