import { type PlatformPreset, platforms } from "./presets";
import { type SettingName } from "./settings";

/** Returns a setting of the stack's configuration by its short name (`baseUrl`), or undefined if it is not set. */
export type Lookup = (name: SettingName) => string | undefined;

/** A setting as it is written, usable or not. */
export interface FoundSetting {
  readonly value: string;
  readonly source: "configuration" | "environment" | "preset";
  /** The environment variable, if it comes from one. */
  readonly variable?: string;
}

const secretNames: readonly SettingName[] = ["password", "queueToken"];

/** The address that each credential is sent to. */
const addressOf: { readonly [name in SettingName]?: "baseUrl" | "queueUrl" } = {
  username: "baseUrl",
  password: "baseUrl",
  queueToken: "queueUrl",
};

/**
 * Finds each setting in the stack's configuration, then in Rekey's environment variable. If `rekey:platform` is set,
 * the platform's usual environment variable and its preset follow. An empty variable counts as unset, because pipelines
 * leave them empty.
 */
export class SettingSources {
  constructor(
    private readonly configuration: Lookup,
    private readonly environment: NodeJS.ProcessEnv,
  ) {}

  find(name: SettingName): FoundSetting | undefined {
    const usual = this.whyWithheld(name) === undefined ? this.#findUsual(name) : undefined;
    const preset = this.#preset?.values[name];
    return this.#findOwn(name) ?? usual ?? (preset === undefined ? undefined : { value: preset, source: "preset" });
  }

  /**
   * Why a credential in the platform's usual variable is not used. It must be sent only to the platform's own address.
   *
   * @returns undefined if it is used, or if there is none
   */
  whyWithheld(name: SettingName): string | undefined {
    const addressName = addressOf[name];
    const credential = this.#findUsual(name)?.variable;
    const preset = this.#preset;
    if (addressName === undefined || credential === undefined || preset === undefined) return undefined;
    const address = this.find(addressName);
    const variable = preset.variables[addressName];
    if (originOf(address?.value) === preset.values[addressName]) return undefined;
    if (variable !== undefined && address?.variable === variable) return undefined;
    const orFrom = variable === undefined ? "" : ` or comes from ${variable}`;
    return `${credential} is used only if ${nameOf(addressName)} is ${preset.values[addressName]}${orFrom}`;
  }

  /** The environment variable to name in advice. */
  variableFor(name: SettingName): string {
    const usual = this.whyWithheld(name) === undefined ? this.#preset?.variables[name] : undefined;
    return this.find(name)?.variable ?? usual ?? environmentName(name);
  }

  /** Every secret that was found, used or not. */
  get secrets(): string[] {
    const found = secretNames.flatMap((name) => [this.#findOwn(name), this.#findUsual(name)]);
    return found.flatMap((one) => (one === undefined ? [] : [one.value]));
  }

  get #preset(): PlatformPreset | undefined {
    return platforms.get(this.#findOwn("platform")?.value ?? "");
  }

  #findOwn(name: SettingName): FoundSetting | undefined {
    const value = this.configuration(name);
    return value === undefined ? this.#findVariable(environmentName(name)) : { value, source: "configuration" };
  }

  #findUsual(name: SettingName): FoundSetting | undefined {
    return this.#findVariable(this.#preset?.variables[name]);
  }

  #findVariable(variable: string | undefined): FoundSetting | undefined {
    const value = variable && this.environment[variable];
    return value ? { value, source: "environment", variable } : undefined;
  }
}

/** The settings that belong together: a credential must be sent only to the address that it was given with. */
const accounts = (["baseUrl", "queueUrl"] as const).map((address): SettingName[] => {
  const credentials = Object.keys(addressOf) as SettingName[];
  return [address, ...credentials.filter((name) => addressOf[name] === address)];
});

/**
 * The variables that an explicit provider may use. Once its arguments set an address or a credential of a service, all
 * of them come from the arguments: the variables may belong to another account.
 */
export function environmentOfProvider(args: Lookup, environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const isSet = (name: SettingName) => args(name) !== undefined;
  const own = accounts.filter((account) => isSet("platform") || account.some(isSet)).flat();
  if (own.length === 0) return environment;
  const withheld = new Set(
    own.flatMap((name) => [environmentName(name), ...[...platforms.values()].map(({ variables }) => variables[name])]),
  ).add(environmentName("platform"));
  return Object.fromEntries(Object.entries(environment).filter(([variable]) => !withheld.has(variable)));
}

export function nameOf(name: SettingName): string {
  return `rekey:${name}`;
}

export function environmentName(name: SettingName): string {
  return `REKEY_${name.replace(/[A-Z]/g, "_$&").toUpperCase()}`;
}

/** Whether a setting's value must never be shown. */
export function isSecret(name: SettingName): boolean {
  return secretNames.includes(name);
}

function originOf(url = ""): string | undefined {
  return URL.canParse(url) ? new URL(url).origin : undefined;
}
