import { type Folder } from "../../support/folder";

/** Prints what a test has put into its folder: `config-<stack>.json`, and `state.json`. */
const standIn = `#!/bin/sh
here=$(dirname "$0")
for stack; do :; done
case "$1 $2" in
  "version ") echo v3.274.1 ;;
  "stack --show-name") [ -n "$SELECTED_STACK" ] || exit 255; echo "$SELECTED_STACK" ;;
  "stack export") cat "$here/state.json" ;;
  "config --json") cat "$here/config-$stack.json" 2> /dev/null || echo "{}" ;;
  *) echo "error: unexpected command: $*" >&2; exit 255 ;;
esac
`;

/** Puts a `pulumi` into a folder for PATH. */
export function writePulumi(bin: Folder, script = standIn): void {
  bin.write("pulumi", script, 0o755);
}
