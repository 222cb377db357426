import { SettingsError } from "../platform/errors";
import { type SecretKind } from "../platform/secretKind";
import { isLoopback } from "../platform/endpoint";
import { invalid, missing } from "./advice";
import { allVariables, type Preset, presets, usualVariables } from "./presets";
import {
  environmentName,
  type FoundSetting,
  nameOf,
  type SettingName,
  settingNames,
  settingOf,
  type SettingValue,
} from "./table";

/** Returns a setting of the configuration by its short name (`baseUrl`), or undefined if it is not set. */
export type Lookup = (name: SettingName) => string | undefined;

/** The settings of each service, its address first: a credential is sent only to the address that it belongs to. */
export const accounts: Readonly<Record<SecretKind["service"], readonly SettingName[]>> = {
  management: ["baseUrl", "username", "password"],
  queue: ["queueUrl", "queueToken"],
};

/**
 * The settings of one run. Each is found in the stack's configuration, then in Rekey's environment variable. If
 * `rekey:platform` is set, the platform's usual environment variable and its preset follow. An empty variable counts as
 * unset, because pipelines leave them empty. A missing or invalid setting is reported when it is first read.
 */
export class Settings {
  /** What must never be shown: the secret settings and the proxy's password as they are written, used or not. */
  readonly secrets: readonly string[];
  /** The values that were read and can be used, and undefined for those that are not set: each reset needs some. */
  readonly #values = new Map<SettingName, unknown>();

  /** @param provider the explicit provider whose arguments are the configuration, if they are not a stack's */
  constructor(
    private readonly configuration: Lookup,
    private readonly environment: NodeJS.ProcessEnv = {},
    readonly provider?: string,
  ) {
    const { preset } = this;
    const found = settingNames
      .filter((name) => settingOf(name).secret)
      .flatMap((name) => {
        const usual = preset === undefined ? [] : allVariables(preset, name);
        return [this.#findOwn(name)?.value, ...usual.map((variable) => environment[variable])];
      });
    const proxy = this.find("proxy")?.value ?? "";
    const ofProxy = URL.canParse(proxy) ? new URL(proxy).password : "";
    // Pulumi passes its own token on to providers.
    this.secrets = [...found, ofProxy, environment["PULUMI_ACCESS_TOKEN"]].flatMap((secret) => secret || []);
  }

  /** @throws SettingsError if its value cannot be used. */
  get<N extends SettingName>(name: N): SettingValue<N> | undefined {
    if (this.#values.has(name)) return this.#values.get(name) as SettingValue<N> | undefined;
    const written = this.find(name)?.value;
    // The platform may have a value for it: an unknown one is an error.
    if (written === undefined && name !== "platform") this.get("platform");
    const read = written === undefined ? undefined : settingOf(name).schema().safeParse(written);
    if (read?.error) throw invalid(name, read.error.issues[0]?.message, this);
    this.#values.set(name, read?.data);
    return read?.data as SettingValue<N> | undefined;
  }

  /** As `get`, or else the default. @throws SettingsError if its value cannot be used. */
  getOrDefault<N extends SettingName>(name: N): SettingValue<N> {
    return this.get(name) ?? (settingOf(name).default as SettingValue<N>);
  }

  /** As `get`. @throws SettingsError that explains how to set it. */
  require<N extends SettingName>(name: N): SettingValue<N> {
    const value = this.get(name);
    if (value === undefined) throw missing(this.#missingWith(name), this);
    return value;
  }

  /** A setting as it is written, usable or not, and where it comes from. */
  find(name: SettingName): FoundSetting | undefined {
    const usual = this.whyWithheld(name) === undefined ? this.#findVariable(this.usualVariable(name)) : undefined;
    const preset = this.preset?.values[name];
    return this.#findOwn(name) ?? usual ?? (preset === undefined ? undefined : { value: preset, source: "preset" });
  }

  /** The preset of `rekey:platform`; undefined if it is not set, or if there is no such platform. */
  get preset(): Preset | undefined {
    const name = this.#findOwn("platform")?.value ?? "";
    return Object.hasOwn(presets, name) ? presets[name as keyof typeof presets] : undefined;
  }

  /** The host of databases and where it comes from, if it is set. @throws SettingsError if it cannot be used. */
  get databaseHost(): FoundSetting | undefined {
    return this.get("databaseHost") === undefined ? undefined : this.find("databaseHost");
  }

  /** Milliseconds that one request may take, including its retries. */
  get deadlineMs(): number {
    return this.getOrDefault("deadlineSeconds") * 1000;
  }

  /** Whether the platform has an operation that reads such a secret. @throws SettingsError for a wrong setting */
  canRead({ paths }: Pick<SecretKind, "paths">): boolean {
    return paths !== undefined || this.getOrDefault("databasePath") !== "none";
  }

  /** Why requests to a service would fail before they are sent; undefined if its settings can be used. */
  errorFor(service: SecretKind["service"]): SettingsError | undefined {
    try {
      for (const name of this.#neededFor(service)) this.require(name);
      return undefined;
    } catch (error) {
      if (error instanceof SettingsError) return error;
      throw error;
    }
  }

  /**
   * The proxy for requests to an address, if there is one.
   *
   * @throws SettingsError if it cannot be used, or would receive the credentials in plain text over the network.
   */
  proxyFor(address: string): string | undefined {
    const proxy = this.get("proxy");
    if (proxy === undefined || address.startsWith("https:") || isLoopback(new URL(proxy).hostname)) return proxy;
    throw new SettingsError("REKEY_SETTING_INVALID", {
      problem: `rekey:proxy is not on this machine, and would receive the credentials for ${address} in plain text`,
      advice: "Use an https address, or unset rekey:proxy (REKEY_PROXY) for a platform on this machine.",
    });
  }

  /** With `rekey:queueUserId`, the token of the queue is read with the management credentials. */
  #neededFor(service: SecretKind["service"]): readonly SettingName[] {
    const isRead = service === "queue" && this.find("queueUserId") !== undefined;
    return isRead ? ["queueUrl", ...accounts.management] : accounts[service];
  }

  #findOwn(name: SettingName): FoundSetting | undefined {
    const value = this.configuration(name);
    return value === undefined ? this.#findVariable(environmentName(name)) : { value, source: "configuration" };
  }

  /** The platform's own variable for a setting. */
  usualVariable(name: SettingName): string | undefined {
    const { preset } = this;
    return preset && usualVariables(preset, this.environment)[name];
  }

  #findVariable(variable: string | undefined): FoundSetting | undefined {
    const value = variable && this.environment[variable];
    return value ? { value, source: "environment", variable } : undefined;
  }

  /**
   * Why the platform's usual variable is not used for a credential: it must be sent only to the platform's own address,
   * or to the one that comes from a variable of the platform, too. Undefined if it may be used.
   */
  whyWithheld(name: SettingName): string | undefined {
    const usual = this.usualVariable(name);
    const [address] = Object.values(accounts).find((settings) => settings.includes(name)) ?? [];
    const own = address && this.preset?.values[address];
    if (usual === undefined || address === undefined || name === address) return undefined;
    const found = this.find(address);
    const variable = this.usualVariable(address);
    if (originOf(found?.value) === own || (variable !== undefined && found?.variable === variable)) return undefined;
    const orFrom = variable === undefined ? "" : ` or comes from ${variable}`;
    return `${usual} is used only if ${nameOf(address)} is ${own}${orFrom}`;
  }

  /** What the same service needs, too, and is not set: each run would report only one. */
  #missingWith(name: SettingName): readonly SettingName[] {
    const service = (["management", "queue"] as const).find((one) => accounts[one].includes(name));
    return service ? this.#neededFor(service).filter((one) => this.find(one) === undefined) : [name];
  }
}

function originOf(url = ""): string | undefined {
  return URL.canParse(url) ? new URL(url).origin : undefined;
}
