import { withCode } from "../../domain/errors";
import { type Properties, secret } from "../../pulumi/values";
import { environmentOfProvider, Settings } from "../../settings/settings";
import { isCredential, type SettingName, settingNames, notASetting } from "../../settings/table";

/** Inputs that the engine itself adds to the settings of a provider. */
const engineInputs = ["version", "pluginDownloadURL", "pluginChecksums", "__internal"];

/** Refuses settings that do not exist, and marks the secret ones. Their values are checked when they are needed. */
export function checkConfig(news: Properties): { inputs: Properties; failures: string[] } {
  const known: readonly string[] = settingNames;
  const inputs = Object.entries(news).map(([name, value]) => {
    const isPlain =
      typeof value === "string" && known.includes(name) && isCredential(name as SettingName, value);
    return [name, isPlain ? secret(value) : value] as const;
  });
  const unknown = Object.keys(news).filter(
    (name) => !known.includes(name) && !engineInputs.includes(name),
  );
  return {
    inputs: Object.fromEntries(inputs),
    failures: unknown.map((name) => {
      const text = `${notASetting(name, known)}. No request was made. Fix its name or remove it, then run again.`;
      return withCode(text, "REKEY_SETTING_INVALID");
    }),
  };
}

/**
 * The settings of a provider. Those of the stack are the arguments of a default provider.
 *
 * @param urn the provider's; empty if the engine is too old to pass it
 */
export function settingsOf(urn: string, args: Properties): Settings {
  const read = (name: string): string | undefined => {
    const value = args[name] ?? undefined;
    return typeof value === "string" ? value : JSON.stringify(value);
  };
  if (isDefaultProvider(urn, args["version"])) return new Settings(read, process.env);
  return new Settings(read, environmentOfProvider(read, process.env), nameIn(urn) || undefined);
}

/**
 * True if a provider has a name that the engine gives its own ones: `default`, `default_0_1_0`, or
 * `default_0_1_0_github_/api.github.com/owner/name` with the address that the plugin was installed from. The program
 * may name others `default_eu` or `default_1`.
 *
 * @param version the plugin's, which the engine adds to the settings; undefined if the program asks for none
 */
export function isDefaultProvider(urn: string, version: unknown): boolean {
  const base = typeof version === "string" ? `default_${version}` : "default";
  const [written, expected] = [nameIn(urn), base].map((name) => name.replace(/[.+-]/g, "_")) as [
    string,
    string,
  ];
  return written.startsWith(expected) && /^(_[a-z]+_\/.*)?$/.test(written.slice(expected.length));
}

/** The name in a URN: `urn:pulumi:stack::project::parent$type::name`. */
function nameIn(urn: string): string {
  return urn.split("::").slice(3).join("::");
}
