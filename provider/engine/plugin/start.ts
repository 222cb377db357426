import { endWhenIdle, ignoreUnreadOutput } from "../liveness";
import { engineAddress } from "../pulumiInternals";
import { servePlugin } from "./wire";

/** Serves the engine that has started this process. */
export function startPlugin(): void {
  const address = engineAddress();
  if (address === undefined) {
    console.error(
      "pulumi-resource-rekey is a plugin: the pulumi CLI starts it, with its own address as the argument.",
    );
    process.exitCode = 1;
    return;
  }
  ignoreUnreadOutput();
  // The engine reads the port from the first line.
  void servePlugin(address, endWhenIdle).then((port) => console.log(port));
}
