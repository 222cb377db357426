import { isDeepStrictEqual } from "node:util";
import { withCode } from "../../platform/errors";
import { type Properties, secret } from "../../records/properties";
import { notASetting } from "../../settings/warnings";
import { packageSchema } from "./schema";
import { reveal, secretNames } from "./secrets";

/** What the engine itself adds to the settings of a provider. */
const engineInputs = ["version", "pluginDownloadURL", "pluginChecksums", "__internal"];

/** Refuses settings that do not exist, and marks the secret ones. Their values are checked when they are needed. */
export function checkConfig(news: Properties): { inputs: Properties; failures: string[] } {
  const known = packageSchema().provider.inputProperties;
  const inputs = Object.entries(news).map(([name, value]) => {
    const isPlain = Object.hasOwn(known, name) && known[name]?.secret && secretNames({ value }).length === 0;
    return [name, isPlain ? secret(value) : value] as const;
  });
  const unknownSettings = Object.keys(news).filter(
    (name) => !Object.hasOwn(known, name) && !engineInputs.includes(name),
  );
  return {
    inputs: Object.fromEntries(inputs),
    failures: unknownSettings.map((name) =>
      withCode(
        `${notASetting(name, Object.keys(known))}. Nothing was sent. Correct its name, or remove it, then run again.`,
        "REKEY_SETTING_INVALID",
      ),
    ),
  };
}

/** The names of changed settings. None replaces the provider: that would replace, and so reset, its resources. */
export function diffConfig(olds: Properties, news: Properties): string[] {
  const names = [...new Set([...Object.keys(olds), ...Object.keys(news)])];
  return names.filter((name) => !isDeepStrictEqual(reveal(olds[name]), reveal(news[name])));
}
