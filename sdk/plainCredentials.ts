import * as pulumi from "@pulumi/pulumi";
import { plainWarning } from "../provider/settings/plainCredentials";
import { Settings } from "../provider/settings/settings";
import { isCredential, nameOf, settingNames } from "../provider/settings/table";
import { perRun } from "./program";
import { isConfigSecret } from "./pulumiInternals";

/**
 * Warns once in a run of each credential that the stack's configuration has in plain text.
 *
 * @returns their names
 */
export const warnOfPlainCredentials = perRun((): readonly string[] => {
  const config = new pulumi.Config("rekey");
  const settings = new Settings((name) => config.get(name), {});
  const plain = settingNames.filter((name) => {
    const found = settings.find(name);
    const isStored = found?.source === "configuration" && isCredential(name, found.value);
    return isStored && !isConfigSecret(nameOf(name));
  });
  for (const name of plain) void pulumi.log.warn(plainWarning(name));
  return plain;
});
