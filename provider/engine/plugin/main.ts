#!/usr/bin/env node
import { endWhenIdle, engineAddress, ignoreUnreadOutput } from "../liveness";
import { servePlugin } from "./wire";

const address = engineAddress();
if (address === undefined) {
  console.error("pulumi-resource-rekey is a plugin: the pulumi CLI starts it, with its own address as the argument.");
  process.exitCode = 1;
} else {
  ignoreUnreadOutput();
  // The engine reads the port from the first line.
  void servePlugin(address, endWhenIdle).then(({ port }) => console.log(port));
}
