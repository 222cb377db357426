import { InputError } from "../platform/errors";

const replaces =
  "a replacement would lose the saved results, and a fleet would reset all its databases. To reset them, change version or triggers";
const selectsPlugin = "it selects a plugin, which the SDK does not use";

/** Options of Pulumi that a component cannot apply to its resources. */
const notSupported: Readonly<Record<string, string>> = {
  replaceOnChanges: replaces,
  replaceWith: replaces,
  replacementTrigger: replaces,
  additionalSecretOutputs: "credentials and URLs are always secret. Mark other values as secrets where they are used",
  urn: "a component cannot be read",
  version: selectsPlugin,
  pluginDownloadURL: selectsPlugin,
};

/** Options of Pulumi by their names in a program. */
export interface ComponentOptions extends Readonly<Record<string, unknown>> {
  readonly ignoreChanges?: readonly string[];
}

/**
 * Refuses options that a component cannot apply to its resources, because an option that is dropped can mean a reset.
 *
 * @param options empty lists count as not set
 * @param ignorable inputs that the component's resources have under the same name
 * @throws InputError
 */
export function checkOptions(options: ComponentOptions, ignorable: readonly string[]): void {
  for (const [option, reason] of Object.entries(notSupported)) {
    const value = options[option];
    if (value === undefined || (Array.isArray(value) && value.length === 0)) continue;
    throw new InputError(`The option ${option}`, `is not supported: ${reason}`);
  }
  const wrong = options.ignoreChanges?.find((path) => !ignorable.includes(/^\w+(?=$|[.[])/.exec(path)?.[0] ?? ""));
  if (wrong !== undefined) {
    const reason = `cannot contain ${JSON.stringify(wrong)}: only ${ignorable.join(", ")} can be ignored`;
    throw new InputError("The option ignoreChanges", reason);
  }
}
