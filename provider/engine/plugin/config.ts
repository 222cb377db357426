import { withCode } from "../../platform/errors";
import { type Properties, secret } from "../../records/properties";
import { isCredential, notASetting, type SettingName, settingNames } from "../../settings/table";

/** What the engine itself adds to the settings of a provider. */
const engineInputs = ["version", "pluginDownloadURL", "pluginChecksums", "__internal"];

/** Refuses settings that do not exist, and marks the secret ones. Their values are checked when they are needed. */
export function checkConfig(news: Properties): { inputs: Properties; failures: string[] } {
  const known: readonly string[] = settingNames;
  const inputs = Object.entries(news).map(([name, value]) => {
    const isPlain = typeof value === "string" && known.includes(name) && isCredential(name as SettingName, value);
    return [name, isPlain ? secret(value) : value] as const;
  });
  const unknown = Object.keys(news).filter((name) => !known.includes(name) && !engineInputs.includes(name));
  return {
    inputs: Object.fromEntries(inputs),
    failures: unknown.map((name) =>
      withCode(
        `${notASetting(name, known)}. Nothing was sent. Correct its name, or remove it, then run again.`,
        "REKEY_SETTING_INVALID",
      ),
    ),
  };
}
