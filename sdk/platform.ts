import * as pulumi from "@pulumi/pulumi";
import { type PlatformClient } from "../provider/platformClient";
import { plainWarning } from "../provider/settings/plainCredentials";
import { Settings } from "../provider/settings/settings";
import { isCredential, nameOf, settingNames } from "../provider/settings/table";
import { perRun } from "./program";
import { isConfigSecret } from "./pulumiInternals";

/** The settings of a program: from the stack's configuration, else from the environment. */
export function settingsOfProgram(): Settings {
  const config = new pulumi.Config("rekey");
  return new Settings((name) => config.get(name), process.env);
}

/** The platform of a run. */
export const platformOfRun = perRun((): PlatformClient => {
  warnOfPlainCredentials();
  // Loaded on first use: axios and zod would slow down every import of this package.
  const { PlatformClient } = require("../provider/platformClient") as typeof import("../provider/platformClient");
  return new PlatformClient(settingsOfProgram());
});

/**
 * Warns once in a run of each credential that the stack's configuration has in plain text.
 *
 * @returns their names
 */
export const warnOfPlainCredentials = perRun((): readonly string[] => {
  const settings = settingsOfProgram();
  const plain = settingNames.filter((name) => {
    const found = settings.find(name);
    const isStored = found?.source === "configuration" && isCredential(name, found.value);
    return isStored && !isConfigSecret(nameOf(name));
  });
  for (const name of plain) void pulumi.log.warn(plainWarning(name));
  return plain;
});
