import { SettingsError } from "../platform/errors";
import { accounts, Settings } from "../settings/settings";
import {
  type FoundSetting,
  isCredential,
  nameOf,
  plainText,
  type SettingName,
  settingNames,
  settingOf,
  unknownSettings,
} from "../settings/table";
import { type Check, ok, unchecked, wrong } from "./check";
import { type StackSettings } from "./stack";

/** The settings as the provider would read them. */
export function settingsOf(stack: StackSettings["settings"], environment: NodeJS.ProcessEnv): Settings {
  return new Settings((name) => stack.get(nameOf(name))?.value, environment);
}

/** Checks where each setting comes from, whether it can be used, and whether one is missing. */
export function checkSettings(
  { settings: stored, problems }: StackSettings,
  settings: Settings,
  environment: NodeJS.ProcessEnv,
): Check[] {
  const unset: string[] = [];
  const known = settingNames.flatMap((name): Check[] => {
    const found = settings.find(name);
    const key = nameOf(name);
    if (found) return [checkFound(name, found, settings, stored.get(key)?.secret === false)];
    const { default: value } = settingOf(name);
    if (value === undefined) unset.push(key);
    return value === undefined ? [] : [ok(key, `${key} is ${value} (default).`)];
  });
  return [
    ...known,
    ...(unset.length > 0 ? [ok("other settings", `Not set: ${unset.join(", ")}.`)] : []),
    ...checkMissing(settings, problems.length === 0),
    ...unknownSettings([...stored.keys()], environment).map((message): Check => {
      return { subject: "unknown settings", state: "wrong", message };
    }),
  ];
}

/** @param isPlain whether the stack's configuration has it in plain text */
function checkFound(name: SettingName, found: FoundSetting, settings: Settings, isPlain: boolean): Check {
  const { value, source, variable } = found;
  const key = nameOf(name);
  const from = source === "configuration" ? "the stack's configuration" : (variable ?? `the preset`);
  const error = errorOf(name, settings);
  if (error) return wrong(key, `${error.problem} (from ${from}).`, error.advice);
  const hides = isCredential(name, value);
  if (hides && isPlain) return wrong(key, ...plainText(name));
  // A path may contain a key in its query.
  const shown = name.endsWith("Path") ? value.replace(/[?#].*/s, "…") : value;
  const isShown = !hides && (source !== "configuration" || isPlain);
  return ok(key, `${key} is ${isShown ? shown : "set"} (from ${from}).`);
}

const users = { management: "rotations", queue: "flow control and signing keys" } as const;

/** What is missing of a service: a problem if the project uses the service, or uses none. */
function checkMissing(settings: Settings, wasRead: boolean): Check[] {
  const services = ["management", "queue"] as const;
  // A project without flow control may have the address of the queue, too.
  const isSet = (name: SettingName) => !["preset", undefined].includes(settings.find(name)?.source);
  const isUsed = { management: accounts.management.some(isSet), queue: isSet("queueToken") || isSet("queueUserId") };
  const isNoneUsed = !isUsed.management && !isUsed.queue;
  return services.flatMap((service): Check[] => {
    const error = settings.errorFor(service);
    if (error?.code !== "REKEY_SETTING_MISSING") return [];
    const subject = `settings for ${users[service]}`;
    const message = `${error.problem}: needed for ${users[service]}.`;
    return [
      wasRead && (isUsed[service] || isNoneUsed) ? wrong(subject, message, error.advice) : unchecked(subject, message),
    ];
  });
}

/** Why the value of a setting cannot be used, if it cannot. */
function errorOf(name: SettingName, settings: Settings): SettingsError | undefined {
  try {
    settings.get(name);
    return undefined;
  } catch (error) {
    if (error instanceof SettingsError) return error;
    throw error;
  }
}
