import { SettingsError } from "../platform/errors";
import { type FoundSetting } from "../settings/foundSetting";
import { chosenRegion, presets, usualVariables } from "../settings/presets";
import { accounts, Settings } from "../settings/settings";
import {
  environmentName,
  isCredential,
  nameOf,
  type SettingName,
  settingNames,
  settingOf,
  type SettingValue,
} from "../settings/table";
import { notASetting } from "../settings/unknownSettings";
import { type Check, wrong } from "./check";
import { type StackSetting } from "./stackSettings";

type StackSettings = ReadonlyMap<string, StackSetting>;
type Judgement = Pick<Check, "state" | "message" | "fix">;

/** What needs the settings of an account. */
const users = {
  baseUrl: "PasswordRotation needs",
  queueUrl: "FlowControlReset and the data sources need",
} as const;

/** Where the settings are that `pulumi config` prints. */
const configuration = "the stack's configuration";

/** The settings as the provider would read them; one that cannot be decrypted is empty, which no setting accepts. */
export function settingsOf(stack: StackSettings, environment: NodeJS.ProcessEnv): Settings {
  return new Settings((name) => {
    const stored = stack.get(nameOf(name));
    return stored && (stored.value ?? "");
  }, environment);
}

/**
 * Checks where each setting comes from and whether it can be used. Pure.
 *
 * @param wasRead whether `stack` is known
 */
export function checkSettings(stack: StackSettings, environment: NodeJS.ProcessEnv, wasRead: boolean): Check[] {
  const settings = settingsOf(stack, environment);
  const known = settingNames.map((name): Check => {
    const subject = nameOf(name);
    const found = settings.find(name);
    if (found) return { subject, source: found.source, ...judge(name, found, settings, stack.get(subject)) };
    const { default: value } = settingOf(name);
    return value === undefined
      ? { subject, source: "not set", ...judgeMissing(name, settings, environment, wasRead) }
      : { subject, source: "default", state: "ok", message: `${subject} is ${value} (default).` };
  });
  return [...known, ...regionOf(settings, environment), ...unknownKeys(stack)];
}

/** Whether a variable chooses a region of which other variables do not count, because they are not set. */
function regionOf(settings: Settings, environment: NodeJS.ProcessEnv): Check[] {
  const platform = usable(settings, "platform");
  const preset = platform && presets[platform];
  const subject = preset?.regions.variable ?? "";
  if (preset === undefined || !environment[subject]) return [];
  const { regions } = preset;
  const namesIn = (variables: typeof preset.variables) => regions.of.map((name) => variables[name]).join(" and ");
  const counting = namesIn(usualVariables(preset, environment));
  const chosen = chosenRegion(preset, environment);
  if (chosen && namesIn(chosen) === counting) return [];
  const set = chosen ? `Set ${namesIn(chosen)}` : `Set it to one of ${regions.names.join(", ")}`;
  return [wrong(subject, `${subject} is set, but ${counting} count.`, `${set}, or unset ${subject}.`)];
}

function judgeMissing(
  name: SettingName,
  settings: Settings,
  environment: NodeJS.ProcessEnv,
  wasRead: boolean,
): Judgement {
  const isSet = (one: SettingName): boolean => ![undefined, "preset"].includes(settings.find(one)?.source);
  const missing = `${nameOf(name)} is not set`;
  const proxyVariable = ["HTTPS_PROXY", "https_proxy"].find((variable) => environment[variable]);
  if (name === "proxy" && proxyVariable !== undefined) {
    const fix = "If the platform is reached through that proxy, set rekey:proxy (REKEY_PROXY) to it.";
    return { state: "unchecked", message: `${missing}, and ${proxyVariable}, which is, is not used. ${fix}` };
  }
  const needed = accounts.find((one) => one.settings.includes(name));
  if (!needed || name === "queueUserId" || (name === "queueToken" && isSet("queueUserId"))) {
    return { state: "ok", message: `${missing}.` };
  }
  // A project without flow control may have the address of the queue, too.
  const isOptional = name === "queueToken" || !needed.settings.some(isSet);
  if (isOptional && accounts.some((one) => one !== needed && one.settings.some(isSet))) {
    return { state: "unchecked", message: `${missing}; only ${users[needed.address]} it.` };
  }
  if (errorOf("platform", settings)) {
    return { state: "unchecked", message: `${missing}; a known platform may set it.` };
  }
  const { problem, advice } = settings.missing(name);
  if (!wasRead) return { state: "unchecked", message: `${problem} (only the environment was checked).` };
  return { state: "wrong", message: `${problem}.`, fix: advice };
}

function judge(
  name: SettingName,
  { value, source, variable }: FoundSetting,
  settings: Settings,
  stored: StackSetting | undefined,
): Judgement {
  const key = nameOf(name);
  const from = source === "configuration" ? configuration : (variable ?? `the preset ${settings.get("platform")}`);
  if (stored?.secret && stored.value === undefined) {
    return { state: "unchecked", message: `${key} is encrypted in ${from} and cannot be decrypted.` };
  }
  const error = errorOf(name, settings);
  if (error) return { state: "wrong", message: `${error.problem} (from ${from}).`, fix: error.advice };
  const hides = isCredential(name, value);
  if (hides && stored && !stored.secret) {
    return {
      state: "wrong",
      message: `${key} is stored in plain text in ${from}.`,
      fix: `Run \`pulumi config set --secret ${key} …\`, or set ${environmentName(name)} in the environment. If others can read the file, replace the credential at its issuer.`,
    };
  }
  // A path may contain a key in its query.
  const shown = name.endsWith("Path") ? value.replace(/[?#].*/s, "…") : value;
  const unused =
    name === "queueToken" && settings.find("queueUserId") ? " It is not used: rekey:queueUserId is set." : "";
  return { state: "ok", message: `${key} is ${hides || stored?.secret ? "set" : shown} (from ${from}).${unused}` };
}

/** Why the value of a setting cannot be used, if it cannot. */
export function errorOf(name: SettingName, settings: Settings): SettingsError | undefined {
  try {
    settings.get(name);
    return undefined;
  } catch (error) {
    if (error instanceof SettingsError) return error;
    throw error;
  }
}

/** A setting's value if it can be used. */
export function usable<N extends SettingName>(settings: Settings, name: N): SettingValue<N> | undefined {
  return errorOf(name, settings) ? undefined : settings.get(name);
}

function unknownKeys(stack: StackSettings): Check[] {
  const known: readonly string[] = settingNames.map(nameOf);
  const unknown = [...stack.keys()].filter((key) => !known.includes(key));
  return unknown.map((key) => {
    const fix = `Correct its name, or run \`pulumi config rm ${key}\`. The settings are ${known.join(", ")}.`;
    return wrong(key, `In ${configuration}, ${notASetting(key)}.`, fix);
  });
}
