import { SettingsError } from "../api/errors";
import {
  environmentName,
  isSecret,
  nameOf,
  settingDefaults,
  type SettingName,
  settingNames,
  Settings,
} from "../settings";
import { type Check, type Source } from "./check";
import { type StackSetting } from "./stackSettings";

type StackSettings = ReadonlyMap<string, StackSetting>;

/** What each of the platform's interfaces needs, and who uses it. */
const interfaces: readonly { readonly settings: readonly SettingName[]; readonly user: string }[] = [
  { settings: ["baseUrl", "username", "password"], user: "PasswordRotation" },
  { settings: ["queueUrl", "queueToken"], user: "FlowControlReset and the data sources" },
];

/** Where a setting is that `pulumi config` prints. */
const configuration = "the stack's configuration";

/** The settings as the provider would have them, those aside that cannot be read. */
export function settingsOf(stack: StackSettings, environment: NodeJS.ProcessEnv): Settings {
  // No setting accepts an empty value.
  return new Settings((name) => (isSealed(stack, name) ? "" : stack.get(nameOf(name))?.value), environment);
}

/**
 * Says of each setting where it comes from, and whether it can be used. Pure.
 * @param wasRead whether `stack` is known
 */
export function checkSettings(stack: StackSettings, environment: NodeJS.ProcessEnv, wasRead: boolean): Check[] {
  const settings = settingsOf(stack, environment);
  const isSet = (name: SettingName): boolean => sourceOf(name, stack, environment) !== "not set";
  const nothingIsSet = !interfaces.some((one) => one.settings.some(isSet));
  const known = settingNames.map((name) => {
    const needed = interfaces.find((one) => one.settings.includes(name));
    const required = needed !== undefined && (nothingIsSet || needed.settings.some(isSet));
    const source = sourceOf(name, stack, environment);
    const check = { subject: nameOf(name), source };
    if (source === "not set" && required && !wasRead) {
      return { ...check, state: "unchecked", message: `${nameOf(name)} is not set in the environment.` } as const;
    }
    if (source === "not set" && required) {
      return { ...check, ...problemOf(settings, name) } as const;
    }
    if (source === "not set") {
      const message = `${nameOf(name)} is not set${needed ? `; only ${needed.user} would need it` : ""}.`;
      return { ...check, state: needed ? "unchecked" : "ok", message } as const;
    }
    return { ...check, ...judge(name, source, stack.get(nameOf(name)), settings, environment) };
  });
  return [...known, ...unknownKeys(stack)];
}

function problemOf(settings: Settings, name: SettingName): Pick<Check, "state" | "message" | "mend"> {
  try {
    settings.require(name);
    return { state: "ok", message: "" };
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    return { state: "wrong", message: `${error.problem}.`, mend: error.advice };
  }
}

function sourceOf(name: SettingName, stack: StackSettings, environment: NodeJS.ProcessEnv): Source {
  if (stack.has(nameOf(name))) return "configuration";
  if (environment[environmentName(name)]) return "environment";
  return name in settingDefaults ? "default" : "not set";
}

/** What is to be said of a setting that is set, or has a default. */
function judge(
  name: SettingName,
  source: Source,
  stored: StackSetting | undefined,
  settings: Settings,
  environment: NodeJS.ProcessEnv,
): Pick<Check, "state" | "message" | "mend"> {
  const key = nameOf(name);
  if (source === "default") {
    return { state: "ok", message: `${key} is ${settingDefaults[name as keyof typeof settingDefaults]} (default).` };
  }
  const from = stored ? configuration : environmentName(name);
  if (stored?.secret && stored.value === undefined) {
    return { state: "unchecked", message: `${key} is encrypted in ${from}, and could not be read.` };
  }
  try {
    settings.require(name);
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    return { state: "wrong", message: `${error.problem} (from ${from}).`, mend: error.advice };
  }
  const written = stored?.value ?? environment[environmentName(name)] ?? "";
  const hides = isSecret(name) || (name === "proxy" && /[@?#]/.test(written));
  if (hides && stored && !stored.secret) {
    return {
      state: "wrong",
      message: `${key} is stored in plain text in ${from}.`,
      mend: `Run \`pulumi config set --secret ${key} …\`, or set ${environmentName(name)} in the environment; where the file was shared, let the platform give you a new one.`,
    };
  }
  // A path may hold a key in its query.
  const shown = name === "resetPasswordPath" ? written.replace(/[?#].*/s, "…") : written;
  const value = hides || stored?.secret ? "set" : shown;
  return { state: "ok", message: `${key} is ${value} (from ${from}).` };
}

function unknownKeys(stack: StackSettings): Check[] {
  const known: readonly string[] = settingNames.map(nameOf);
  return [...stack]
    .filter(([key]) => !known.includes(key))
    .map(([key]) => ({
      subject: key,
      state: "wrong",
      message: `${key} in ${configuration} is no setting of pulumi-rekey.`,
      mend: `Correct its name, or run \`pulumi config rm ${key}\`. The settings are ${known.join(", ")}.`,
    }));
}

function isSealed(stack: StackSettings, name: SettingName): boolean {
  const stored = stack.get(nameOf(name));
  return stored !== undefined && stored.value === undefined;
}
