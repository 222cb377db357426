import { nameOf, type SettingName, settingOf } from "./table";
import { engineCommands } from "../runtime";

/**
 * How to set a setting.
 *
 * @param variable the environment variable to name
 * @param provider the explicit provider whose arguments are the settings; undefined for a stack's configuration
 */
export function howToSet(name: SettingName, variable: string, provider: string | undefined): string {
  if (provider !== undefined) return `Set ${name} in the arguments of the provider ${JSON.stringify(provider)}.`;
  const secret = settingOf(name).secret ? "--secret " : "";
  return `Run \`${engineCommands.setConfig} ${secret}${nameOf(name)} …\`, or set ${variable} in the environment.`;
}
