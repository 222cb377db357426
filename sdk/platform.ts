import * as pulumi from "@pulumi/pulumi";
import { type PlatformClient } from "../provider/platformClient";
import { warnOfPlainCredentials } from "./plainCredentials";
import { perRun } from "./program";

/** The platform of a run, with settings from the stack's configuration, else from the environment. */
export const platformOfRun = perRun((): PlatformClient => {
  warnOfPlainCredentials();
  // Loaded on first use: axios and zod would slow down every import of this package.
  const { PlatformClient } = require("../provider/platformClient") as typeof import("../provider/platformClient");
  const { Settings } = require("../provider/settings/settings") as typeof import("../provider/settings/settings");
  return new PlatformClient(new Settings((name) => new pulumi.Config("rekey").get(name), process.env));
});
