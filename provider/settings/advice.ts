import { SettingsError } from "../platform/errors";
import { presets } from "./presets";
import { environmentName, type FoundSetting, nameOf, presetNames, type SettingName, settingOf } from "./table";

/** Where settings come from, as far as advice depends on it. */
interface Sources {
  find(name: SettingName): FoundSetting | undefined;
  usualVariable(name: SettingName): string | undefined;
  whyWithheld(name: SettingName): string | undefined;
  /** The explicit provider whose arguments are the configuration, if they are not a stack's. */
  readonly provider?: string | undefined;
}

/** The error for settings that are required and not set. */
export function missing(names: readonly SettingName[], sources: Sources): SettingsError {
  const why = [...new Set(names.flatMap((name) => sources.whyWithheld(name) ?? []))];
  const all = new Intl.ListFormat("en", { style: "long" }).format(names.map(nameOf));
  const problem = `${all} ${names.length === 1 ? "is" : "are"} not set${why.length === 0 ? "" : `: ${why.join("; ")}`}`;
  const advice = [...presetAdvice(names, sources), ...names.map((name) => howToSet(name, sources))].join(" ");
  return new SettingsError("REKEY_SETTING_MISSING", { problem, advice });
}

/** The error for a setting that cannot be used, without its value: by mistake, any setting may hold a credential. */
export function invalid(name: SettingName, reason: string | undefined, sources: Sources): SettingsError {
  const problem = `${nameOf(name)} ${reason}`;
  return new SettingsError("REKEY_SETTING_INVALID", { problem, advice: howToSet(name, sources) });
}

/** The preset comes first, if it has one of the settings. */
function presetAdvice(names: readonly SettingName[], sources: Sources): string[] {
  const preset = presetNames.find((one) => names.some((name) => presets[one].values[name] !== undefined));
  if (preset === undefined || sources.find("platform") !== undefined) return [];
  const how =
    sources.provider === undefined ? `run \`pulumi config set rekey:platform ${preset}\`` : `set platform to ${preset}`;
  return [`For ${preset}, ${how}, which sets addresses and paths.`];
}

function howToSet(name: SettingName, sources: Sources): string {
  const { provider } = sources;
  if (provider !== undefined) return `Set ${name} in the arguments of the provider ${JSON.stringify(provider)}.`;
  const usual = sources.whyWithheld(name) === undefined ? sources.usualVariable(name) : undefined;
  const variable = sources.find(name)?.variable ?? usual ?? environmentName(name);
  const secret = settingOf(name).secret ? "--secret " : "";
  return `Run \`pulumi config set ${secret}${nameOf(name)} …\`, or set ${variable} in the environment.`;
}
