#!/usr/bin/env node
import { isOlderVersion, ownManifest } from "../platform/installedPackage";
import type * as command from "./command";

const { node } = process.versions;
const oldest = ownManifest().engines.node.replace(">=", "");

if (isOlderVersion(node, oldest)) {
  const fix = "Install a newer Node, also in the pipeline, and run `pulumi-rekey doctor` again.";
  process.stderr.write(
    `error: Node ${node} is too old: pulumi-rekey needs ${oldest} or later. Nothing was checked. ${fix}\n`,
  );
  process.exitCode = 1;
} else {
  // Loaded only now: an older Node cannot load it.
  const { run } = require("./command") as typeof command;
  void run();
}
