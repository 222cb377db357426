import { SettingsError } from "../platform/errors";
import { type FoundSetting } from "./foundSetting";
import { allVariables, type Preset, presets, usualVariables } from "./presets";
import {
  environmentName,
  nameOf,
  presetNames,
  type SettingName,
  settingNames,
  settingOf,
  type SettingValue,
} from "./table";
import { isLoopback } from "../records/fields";

/** Returns a setting of the configuration by its short name (`baseUrl`), or undefined if it is not set. */
export type Lookup = (name: SettingName) => string | undefined;

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
    private readonly provider?: string,
  ) {
    const secretNames = settingNames.filter((name) => settingOf(name).secret);
    const preset = this.preset;
    const found = secretNames.flatMap((name) => {
      const usual = preset === undefined ? [] : allVariables(preset, name);
      return [this.#findOwn(name), ...usual.map((variable) => this.#findVariable(variable))];
    });
    // Pulumi passes it on to providers.
    const { PULUMI_ACCESS_TOKEN: accessToken } = environment;
    this.secrets = [
      ...found.flatMap((one) => one?.value ?? []),
      ...passwordIn(this.find("proxy")?.value ?? ""),
      ...(accessToken ? [accessToken] : []),
    ];
  }

  /** @throws SettingsError that explains how to set it. */
  require<N extends SettingName>(name: N): SettingValue<N> {
    const value = this.get(name);
    if (value === undefined) throw this.missing(...this.#missingWith(name));
    return value;
  }

  /**
   * Requires all settings with which requests to a service are sent.
   *
   * @throws SettingsError
   */
  requireFor(service: "management" | "queue"): void {
    if (service === "queue") {
      this.require("queueUrl");
      if (this.get("queueUserId") === undefined) return void this.require("queueToken");
    }
    for (const name of ["baseUrl", "username", "password"] as const) this.require(name);
  }

  /** The error for settings that are required and not set. */
  missing(...names: SettingName[]): SettingsError {
    const why = [...new Set(names.flatMap((name) => this.#whyWithheld(name) ?? []))];
    const all = new Intl.ListFormat("en", { style: "long" }).format(names.map(nameOf));
    const problem = `${all} ${names.length === 1 ? "is" : "are"} not set${why.length === 0 ? "" : `: ${why.join("; ")}`}`;
    const advice = [...this.#presetAdvice(names), ...names.map((name) => this.#howToSet(name))].join(" ");
    return new SettingsError("REKEY_SETTING_MISSING", { problem, advice });
  }

  /** The settings that are not set of those that requests to the same service need: each run would report only one. */
  #missingWith(name: SettingName): SettingName[] {
    const account = accounts.find(({ settings }) => settings.includes(name));
    const isNeeded = (one: SettingName) =>
      settingOf(one).readAt === undefined && !(one === "queueToken" && this.find("queueUserId") !== undefined);
    const others = (account?.settings ?? []).filter((one) => isNeeded(one) && this.find(one) === undefined);
    return others.includes(name) ? others : [name];
  }

  /** The preset comes first, if it has one of the settings. */
  #presetAdvice(names: readonly SettingName[]): string[] {
    if (this.#findOwn("platform") !== undefined) return [];
    const [preset] = presetNames.filter((one) => names.some((name) => presets[one].values[name] !== undefined));
    if (preset === undefined) return [];
    const how =
      this.provider === undefined ? `run \`pulumi config set rekey:platform ${preset}\`` : `set platform to ${preset}`;
    return [`For ${preset}, ${how}, which sets addresses and paths.`];
  }

  /** @throws SettingsError if its value cannot be used. */
  get<N extends SettingName>(name: N): SettingValue<N> | undefined {
    if (this.#values.has(name)) return this.#values.get(name) as SettingValue<N> | undefined;
    const written = this.find(name)?.value;
    if (written === undefined) {
      // The platform may have a value for it: an unknown one is an error.
      if (name !== "platform") this.get("platform");
      this.#values.set(name, undefined);
      return undefined;
    }
    const result = settingOf(name).schema().safeParse(written);
    if (result.success) {
      this.#values.set(name, result.data);
      return result.data as SettingValue<N>;
    }
    const reason = result.error.issues[0]?.message ?? "cannot be used";
    // Without the value: by mistake, any setting may hold a credential.
    const problem = `${nameOf(name)} ${reason}`;
    throw new SettingsError("REKEY_SETTING_INVALID", { problem, advice: this.#howToSet(name) });
  }

  /** As `get`, or else the default. @throws SettingsError if its value cannot be used. */
  getOrDefault<N extends SettingName>(name: N): SettingValue<N> {
    return this.get(name) ?? (settingOf(name).default as SettingValue<N>);
  }

  /** A setting as it is written, usable or not, and where it comes from. */
  find(name: SettingName): FoundSetting | undefined {
    const usual = this.#whyWithheld(name) === undefined ? this.#findUsual(name) : undefined;
    const preset = this.preset?.values[name];
    return this.#findOwn(name) ?? usual ?? (preset === undefined ? undefined : { value: preset, source: "preset" });
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

  /**
   * Why a credential in the platform's usual variable is not used: it must be sent only to the platform's own address.
   * Undefined if it is used, or if there is none.
   */
  #whyWithheld(name: SettingName): string | undefined {
    const credential = this.#findUsual(name)?.variable;
    return credential === undefined ? undefined : this.#whyNotFor(name, credential);
  }

  /** Why a variable of the platform, set or not, would not be used for a setting. */
  #whyNotFor(name: SettingName, credential: string): string | undefined {
    const { sentTo } = settingOf(name);
    const preset = this.preset;
    if (sentTo === undefined || preset === undefined) return undefined;
    const address = this.find(sentTo);
    const variable = usualVariables(preset, this.environment)[sentTo];
    if (originOf(address?.value) === preset.values[sentTo]) return undefined;
    if (variable !== undefined && address?.variable === variable) return undefined;
    const orFrom = variable === undefined ? "" : ` or comes from ${variable}`;
    return `${credential} is used only if ${nameOf(sentTo)} is ${preset.values[sentTo]}${orFrom}`;
  }

  /** The preset of `rekey:platform`; undefined if it is not set, or if there is no such platform. */
  get preset(): Preset | undefined {
    const name = this.#findOwn("platform")?.value ?? "";
    return Object.hasOwn(presets, name) ? presets[name as keyof typeof presets] : undefined;
  }

  #findOwn(name: SettingName): FoundSetting | undefined {
    const value = this.configuration(name);
    return value === undefined ? this.#findVariable(environmentName(name)) : { value, source: "configuration" };
  }

  #findUsual(name: SettingName): FoundSetting | undefined {
    return this.#findVariable(this.#usualVariable(name));
  }

  #usualVariable(name: SettingName): string | undefined {
    const preset = this.preset;
    return preset && usualVariables(preset, this.environment)[name];
  }

  #findVariable(variable: string | undefined): FoundSetting | undefined {
    const value = variable && this.environment[variable];
    return value ? { value, source: "environment", variable } : undefined;
  }

  #howToSet(name: SettingName): string {
    const usual = this.#usualVariable(name);
    const isUsed = usual !== undefined && this.#whyNotFor(name, usual) === undefined;
    const variable = this.find(name)?.variable ?? (isUsed ? usual : environmentName(name));
    if (this.provider !== undefined) {
      return `Set ${name} in the arguments of the provider ${JSON.stringify(this.provider)}.`;
    }
    const secret = settingOf(name).secret ? "--secret " : "";
    return `Run \`pulumi config set ${secret}${nameOf(name)} …\`, or set ${variable} in the environment.`;
  }
}

/** The settings that belong together: a credential must be sent only to the address that it was given with. */
export const accounts = (["baseUrl", "queueUrl"] as const).map((address) => ({
  address,
  settings: [
    address,
    ...settingNames.filter((name) => [settingOf(name).sentTo, settingOf(name).readAt].includes(address)),
  ],
}));

/**
 * The variables that an explicit provider may use. Once its arguments set an address or a credential of a service, all
 * of them come from the arguments: the variables may belong to another account.
 */
export function environmentOfProvider(args: Lookup, environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const isSet = (name: SettingName) => args(name) !== undefined;
  const own = accounts.flatMap(({ settings }) => (isSet("platform") || settings.some(isSet) ? settings : []));
  if (own.length === 0) return environment;
  const usual = (name: SettingName) => Object.values(presets).flatMap((preset) => allVariables(preset, name));
  const withheld = new Set(own.flatMap((name) => [environmentName(name), ...usual(name)])).add(
    environmentName("platform"),
  );
  return Object.fromEntries(Object.entries(environment).filter(([variable]) => !withheld.has(variable)));
}

function originOf(url = ""): string | undefined {
  return URL.canParse(url) ? new URL(url).origin : undefined;
}

function passwordIn(url: string): string[] {
  const password = URL.canParse(url) ? new URL(url).password : "";
  return password === "" ? [] : [password];
}
