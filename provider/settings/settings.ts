import { SettingsError } from "../platform/errors";
import { type SecretKind } from "../platform/secretKind";
import { isLoopback } from "../platform/endpoint";
import { type Preset, presets, usualVariables } from "./presets";
import {
  environmentName,
  type FoundSetting,
  nameOf,
  presetNames,
  type SettingName,
  settingNames,
  settingOf,
  type SettingValue,
} from "./table";

/** Returns a setting of the configuration by its short name (`baseUrl`), or undefined if it is not set. */
export type Lookup = (name: SettingName) => string | undefined;

type ServiceName = SecretKind["service"];

/** The settings of each service, its address first: a credential is sent only to the address that it belongs to. */
export const accounts: Readonly<Record<ServiceName, readonly SettingName[]>> = {
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
  /** The values that were read and can be used, and the defaults of those that are not set: each reset needs some. */
  readonly #values = new Map<SettingName, unknown>();

  /** @param provider the explicit provider whose arguments are the configuration, if they are not a stack's */
  constructor(
    private readonly configuration: Lookup,
    private readonly environment: NodeJS.ProcessEnv = {},
    readonly provider?: string,
  ) {
    const found = settingNames
      .filter((name) => settingOf(name).secret)
      .flatMap((name) => {
        const usual = [this.preset?.variables[name], this.#usualVariable(name)];
        return [this.#findOwn(name), ...usual.map((variable) => this.#findVariable(variable))];
      });
    const proxy = this.find("proxy")?.value ?? "";
    const ofProxy = URL.canParse(proxy) ? new URL(proxy).password : "";
    // Pulumi passes its own token on to providers.
    const all = new Set([...found.map((one) => one?.value), ofProxy, environment["PULUMI_ACCESS_TOKEN"]]);
    this.secrets = [...all].flatMap((secret) => secret || []);
  }

  /** The value of a setting, or its default. @throws SettingsError if its value cannot be used. */
  get<N extends SettingName>(name: N): SettingValue<N> {
    if (this.#values.has(name)) return this.#values.get(name) as SettingValue<N>;
    const { default: byDefault, schema } = settingOf(name);
    const written = this.find(name)?.value;
    // The platform may have a value for it: an unknown one is an error.
    if (written === undefined && name !== "platform") this.get("platform");
    const read = written === undefined ? undefined : schema().safeParse(written);
    if (read?.error) {
      // Without the value: by mistake, any setting may hold a credential.
      const problem = `${nameOf(name)} ${read.error.issues[0]?.message}`;
      throw new SettingsError("REKEY_SETTING_INVALID", { problem, advice: this.#howToSet(name) });
    }
    const value = read ? read.data : byDefault;
    this.#values.set(name, value);
    return value as SettingValue<N>;
  }

  /** As `get`. @throws SettingsError that explains how to set it. */
  require<N extends SettingName>(name: N): NonNullable<SettingValue<N>> {
    const value = this.get(name);
    if (value === undefined || value === null) throw this.#missing(name);
    return value;
  }

  /** A setting as it is written, usable or not, and where it comes from. */
  find(name: SettingName): FoundSetting | undefined {
    const usual = this.#whyWithheld(name) === undefined ? this.#findVariable(this.#usualVariable(name)) : undefined;
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
    this.get("databaseHost");
    return this.find("databaseHost");
  }

  /** Milliseconds that one request may take, including its retries. */
  get deadlineMs(): number {
    return this.get("deadlineSeconds") * 1000;
  }

  /** Whether the platform has an operation that reads such a secret. @throws SettingsError for a wrong setting */
  canRead({ paths }: Pick<SecretKind, "paths">): boolean {
    return paths !== undefined || this.get("databasePath") !== "none";
  }

  /** Why requests to a service would fail before they are sent; undefined if its settings can be used. */
  errorFor(service: ServiceName): SettingsError | undefined {
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
  #neededFor(service: ServiceName): readonly SettingName[] {
    const isRead = service === "queue" && this.find("queueUserId") !== undefined;
    return isRead ? ["queueUrl", ...accounts.management] : accounts[service];
  }

  #findOwn(name: SettingName): FoundSetting | undefined {
    const value = this.configuration(name);
    return value === undefined ? this.#findVariable(environmentName(name)) : { value, source: "configuration" };
  }

  #findVariable(variable: string | undefined): FoundSetting | undefined {
    const value = variable && this.environment[variable];
    return value ? { value, source: "environment", variable } : undefined;
  }

  /** The platform's own variable for a setting. */
  #usualVariable(name: SettingName): string | undefined {
    return this.preset && usualVariables(this.preset, this.environment)[name];
  }

  /**
   * Why the platform's usual variable is not used for a credential: it must be sent only to the platform's own address,
   * or to the one that comes from a variable of the platform, too. Undefined if it may be used.
   */
  #whyWithheld(name: SettingName): string | undefined {
    const usual = this.#usualVariable(name);
    const [address] = Object.values(accounts).find((settings) => settings.includes(name)) ?? [];
    const own = address && this.preset?.values[address];
    if (usual === undefined || address === undefined || name === address) return undefined;
    const found = this.find(address);
    const variable = this.#usualVariable(address);
    if (originOf(found?.value) === own || (variable !== undefined && found?.variable === variable)) return undefined;
    const orFrom = variable === undefined ? "" : ` or comes from ${variable}`;
    return `${usual} is used only if ${nameOf(address)} is ${own}${orFrom}`;
  }

  /** The error for a setting that is not set. It names all that the same service needs: each run would report one. */
  #missing(name: SettingName): SettingsError {
    const service = (["management", "queue"] as const).find((one) => accounts[one].includes(name));
    const needed = service ? this.#neededFor(service).filter((one) => this.find(one) === undefined) : [name];
    const why = new Set(needed.flatMap((one) => this.#whyWithheld(one) ?? []));
    const all = new Intl.ListFormat("en").format(needed.map(nameOf));
    const problem = `${all} ${needed.length === 1 ? "is" : "are"} not set${why.size === 0 ? "" : `: ${[...why].join("; ")}`}`;
    const advice = [...this.#presetAdvice(needed), ...needed.map((one) => this.#howToSet(one))].join(" ");
    return new SettingsError("REKEY_SETTING_MISSING", { problem, advice });
  }

  /** The preset comes first, if it has one of the settings. */
  #presetAdvice(names: readonly SettingName[]): string[] {
    const preset = presetNames.find((one) => names.some((name) => presets[one].values[name] !== undefined));
    if (preset === undefined || this.find("platform") !== undefined) return [];
    const how =
      this.provider === undefined ? `run \`pulumi config set rekey:platform ${preset}\`` : `set platform to ${preset}`;
    return [`For ${preset}, ${how}, which sets addresses and paths.`];
  }

  #howToSet(name: SettingName): string {
    const { provider } = this;
    if (provider !== undefined) return `Set ${name} in the arguments of the provider ${JSON.stringify(provider)}.`;
    const usual = this.#whyWithheld(name) === undefined ? this.#usualVariable(name) : undefined;
    const variable = this.find(name)?.variable ?? usual ?? environmentName(name);
    const secret = settingOf(name).secret ? "--secret " : "";
    return `Run \`pulumi config set ${secret}${nameOf(name)} …\`, or set ${variable} in the environment.`;
  }
}

function originOf(url = ""): string | undefined {
  return URL.canParse(url) ? new URL(url).origin : undefined;
}

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
  const usual = Object.values(presets).flatMap((preset) => [preset.variables, usualVariables(preset, environment)]);
  const withheld = own.flatMap((name) => [environmentName(name), ...usual.map((variables) => variables[name])]);
  const all = [environmentName("platform"), ...withheld];
  return Object.fromEntries(Object.entries(environment).filter(([variable]) => !all.includes(variable)));
}
