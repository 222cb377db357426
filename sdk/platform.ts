import * as pulumi from "@pulumi/pulumi";
import { type PlatformClient } from "../provider/platformClient";
import { Settings } from "../provider/settings/settings";
import { isCredential, nameOf, plainText, settingNames, unknownSettings } from "../provider/settings/table";
import { perRun } from "./program";
import { isConfigSecret } from "./pulumiInternals";

/** The settings of a program: from the stack's configuration, else from the environment. */
function settingsOfProgram(): Settings {
  const config = new pulumi.Config("rekey");
  return new Settings((name) => config.get(name), process.env);
}

/** The platform of a run. */
export const platformOfRun = perRun((): PlatformClient => {
  warnOfSettings();
  // Loaded on first use: axios and zod would slow down every import of this package.
  const { PlatformClient } = require("../provider/platformClient") as typeof import("../provider/platformClient");
  return new PlatformClient(settingsOfProgram());
});

/**
 * Warns once in a run of settings that do not exist, and of each credential that the stack's configuration has in plain
 * text. Only the program knows the names of all settings: Pulumi's provider host reads them one by one.
 *
 * @returns the warnings
 */
export const warnOfSettings = perRun((): readonly string[] => {
  const settings = settingsOfProgram();
  const plain = settingNames.filter((name) => {
    const found = settings.find(name);
    const isStored = found?.source === "configuration" && isCredential(name, found.value);
    return isStored && !isConfigSecret(nameOf(name));
  });
  const unknown = unknownSettings(Object.keys(pulumi.runtime.allConfig()), process.env);
  const warnings = [...unknown, ...plain.map((name) => plainText(name).join(" "))];
  for (const text of warnings) void pulumi.log.warn(text);
  return warnings;
});
