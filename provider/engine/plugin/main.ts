#!/usr/bin/env node
import { howToInstallNode, unsupportedNode } from "../installedPackage";
import type * as start from "./start";

const problem = unsupportedNode();
if (problem !== undefined) {
  console.error(`${problem}. No request was made. ${howToInstallNode}`);
  process.exitCode = 1;
} else {
  // Loaded only now: an older Node cannot load it.
  const { startPlugin } = require("./start") as typeof start;
  startPlugin();
}
