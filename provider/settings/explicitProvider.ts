import { allVariables, presets } from "./presets";
import { accounts, type Lookup } from "./settings";
import { environmentName, type SettingName } from "./table";

/**
 * The variables that an explicit provider may use. Once its arguments set an address or a credential of a service, all
 * of them come from the arguments: the variables may belong to another account.
 */
export function environmentOfProvider(args: Lookup, environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const isSet = (name: SettingName) => args(name) !== undefined;
  const own = Object.values(accounts).flatMap((settings) => {
    const all: readonly SettingName[] = [...settings, "queueUserId"];
    return isSet("platform") || all.some(isSet) ? all : [];
  });
  if (own.length === 0) return environment;
  const usual = (name: SettingName) => Object.values(presets).flatMap((preset) => allVariables(preset, name));
  const withheld = [environmentName("platform"), ...own.flatMap((name) => [environmentName(name), ...usual(name)])];
  return Object.fromEntries(Object.entries(environment).filter(([variable]) => !withheld.includes(variable)));
}
