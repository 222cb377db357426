import { didYouMean } from "../records/fields";
import { environmentName, nameOf, type SettingName, settingNames } from "./table";

/**
 * The words for a name that is not one of the settings, with the closest one.
 *
 * @param known the names of the settings, in the same form
 */
export function notASetting(name: string, known: readonly string[]): string {
  const question = didYouMean(name, known);
  return `${name} is not a setting of pulumi-rekey${question && ` (${question})`}`;
}

/** Warnings about settings that do not exist: without them, a mistyped limit is silently off. */
export function unknownSettings(configurationKeys: readonly string[], environment: NodeJS.ProcessEnv): string[] {
  const known = settingNames.map(nameOf);
  const unknown = configurationKeys.filter((key) => key.startsWith("rekey:") && !known.includes(key));
  const configured = unknown.map(
    (key) => `${notASetting(key, known)}, and has no effect. Correct its name, or run \`pulumi config rm ${key}\`.`,
  );
  return [...configured, ...mistypedVariables(environment)];
}

/** Others may have variables with the same beginning, so only those are reported that are close to one of Rekey's. */
export function mistypedVariables(environment: NodeJS.ProcessEnv): string[] {
  const known = settingNames.map(environmentName);
  const unknown = Object.keys(environment).filter((name) => name.startsWith("REKEY_") && !known.includes(name));
  return unknown
    .filter((name) => didYouMean(name, known) !== "")
    .map((name) => `${notASetting(name, known)}, and has no effect. Correct its name, or unset it.`);
}

/** What is said of a credential that the stack's configuration has in plain text. */
export function plainText(name: SettingName): [problem: string, fix: string] {
  const key = nameOf(name);
  return [
    `${key} is stored in plain text in the stack's configuration.`,
    `Run \`pulumi config set --secret ${key}\`. If others can read the file, replace the credential at its issuer.`,
  ];
}
