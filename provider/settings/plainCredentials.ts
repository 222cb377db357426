import { readFileSync } from "node:fs";
import { join } from "node:path";
import { findProject } from "./project";
import { isCredential, nameOf, type SettingName, settingNames } from "./table";

/** The warning of a credential that the stack's configuration has in plain text. */
export function plainWarning(name: SettingName): string {
  const key = nameOf(name);
  const fix = `Run \`pulumi config set --secret ${key}\`. If others can read the file, replace the credential at its issuer`;
  return `${key} is stored in plain text in the stack's configuration. ${fix}.`;
}

/**
 * The credentials in use that the file of a stack's configuration has in plain text. An engine passes all settings to a
 * plugin in plain text. Undecided cases, such as another file, are left out.
 *
 * @param directory of the project, or below it
 * @param valueOf returns the value in use of a setting
 */
export function plainCredentials(
  directory: string,
  stack: string,
  valueOf: (name: SettingName) => string | undefined,
): SettingName[] {
  const text = configurationOf(directory, stack);
  if (text === undefined) return [];
  return settingNames.filter((name) => {
    const value = valueOf(name);
    if (value === undefined || !isCredential(name, value)) return false;
    const line = new RegExp(`^[ \\t]+(["']?)${nameOf(name)}\\1:[ \\t]+(\\S.*?)[ \\t\\r]*$`, "m").exec(text);
    return scalarOf(line?.[2] ?? "") === value;
  });
}

function configurationOf(directory: string, stack: string): string | undefined {
  try {
    const project = findProject(directory);
    return project && readFileSync(join(project.configDirectory, `Pulumi.${stack}.yaml`), "utf8");
  } catch {
    return undefined;
  }
}

/** A text on one line, as YAML writes it. */
function scalarOf(written: string): string | undefined {
  if (written.startsWith("'")) return /^'((?:[^']|'')*)'/.exec(written)?.[1]?.replaceAll("''", "'");
  if (!written.startsWith('"')) return written.replace(/\s+#.*$/, "");
  try {
    return JSON.parse(/^"(?:[^"\\]|\\.)*"/.exec(written)?.[0] ?? "") as string;
  } catch {
    return undefined;
  }
}
