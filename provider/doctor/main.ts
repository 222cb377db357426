#!/usr/bin/env node
import { howToInstallNode, unsupportedNode } from "../engine/installedPackage";
import type * as command from "./command";

const problem = unsupportedNode();
if (problem !== undefined) {
  process.stderr.write(`error: ${problem}. Nothing was checked. ${howToInstallNode}\n`);
  process.exitCode = 1;
} else {
  // Loaded only now: an older Node cannot load it.
  const { run } = require("./command") as typeof command;
  void run();
}
