import * as pulumi from "@pulumi/pulumi";
import { type SharedReads } from "../provider/flowControl/sharedReads";
import { perRun } from "./perRun";
import { endingRun } from "./runError";

/** Reads from the queue, with settings from the stack's configuration, else from the environment. */
export function readQueue<T>(read: (queue: SharedReads) => Promise<T>): Promise<T> {
  return endingRun(() => read(queueReads()));
}

const queueReads = perRun((): SharedReads => {
  // Loaded on first use: axios and zod would slow down every import of this package.
  const { PlatformClient } =
    require("../provider/engine/platformClient") as typeof import("../provider/engine/platformClient");
  const { SharedReads } =
    require("../provider/flowControl/sharedReads") as typeof import("../provider/flowControl/sharedReads");
  const { Settings } = require("../provider/settings/settings") as typeof import("../provider/settings/settings");
  const settings = new Settings((name) => new pulumi.Config("rekey").get(name), process.env);
  return new SharedReads(new PlatformClient(settings).flowControl);
});
