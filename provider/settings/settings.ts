import { SettingsError } from "../domain/errors";
import { type SecretKind } from "../domain/secretKind";
import { isLoopback } from "../domain/endpoint";
import {
  type Preset,
  presetNamed,
  presets,
  publishPath,
  regionPrefix,
  usesLocalServer,
} from "./presets";
import {
  environmentName,
  type FoundSetting,
  normalizedAddress,
  settingKey,
  presetNames,
  type SettingName,
  settingNames,
  settingOf,
  type SettingValue,
} from "./table";

/** Returns a setting of the configuration by its short name (`baseUrl`), or undefined if it is not set. */
export type Lookup = (name: SettingName) => string | undefined;

type AccountService = NonNullable<SecretKind["service"]>;

/** The settings of each service, its address first: a credential is sent only to the address that it belongs to. */
export const accounts: Readonly<
  Record<AccountService, readonly [address: SettingName, ...SettingName[]]>
> = {
  management: ["baseUrl", "username", "password"],
  queue: ["queueUrl", "queueToken"],
};

/** What describes the platform at the address of a service. */
const descriptions: Readonly<Record<AccountService, readonly SettingName[]>> = {
  management: ["resetPasswordPath", "databasePath", "databaseListPath", "databaseHost"],
  queue: ["flowControlResetAction"],
};

const services = Object.keys(accounts) as AccountService[];

/** The service whose account has a setting. */
function serviceOf(name: SettingName): AccountService | undefined {
  return services.find((service) => accounts[service].includes(name));
}

function addressSettingOf(name: SettingName): SettingName | undefined {
  const service = serviceOf(name);
  return service && accounts[service][0];
}

/**
 * The settings of one run. Each is found in the stack's configuration, then in Rekey's environment variable. If
 * `rekey:platform` is set, the platform's usual environment variable and its preset follow. An empty variable counts as
 * unset, because pipelines leave them empty. A missing or invalid setting is reported when it is first read.
 */
export class Settings {
  /** The preset of `rekey:platform`; undefined if it is not set, or if there is no such platform. */
  readonly preset: Preset | undefined;
  /** What must never be shown: the secret settings and the proxy's password as they are written, used or not. */
  readonly secrets: readonly string[];
  /** Of the variables of the queue's region; empty if they are those without a region. */
  readonly #regionPrefix: string;
  /** The values that were read and can be used, and the defaults of those that are not set: each reset needs some. */
  readonly #values = new Map<SettingName, unknown>();

  /** @param provider the explicit provider whose arguments are the configuration, if they are not a stack's */
  constructor(
    private readonly configuration: Lookup,
    private readonly environment: NodeJS.ProcessEnv = {},
    readonly provider?: string,
  ) {
    this.preset = presetNamed(this.#findOwn("platform")?.value);
    this.#regionPrefix = this.preset ? regionPrefix(this.preset, environment) : "";
    this.secrets = this.#findSecrets();
  }

  /** The value of a setting, or its default. @throws SettingsError if its value cannot be used. */
  get<N extends SettingName>(name: N): SettingValue<N> {
    if (!this.#values.has(name)) this.#values.set(name, this.#read(name));
    return this.#values.get(name) as SettingValue<N>;
  }

  /**
   * As `get`.
   *
   * @param isEnough whether nothing else of its service is needed
   * @throws SettingsError that explains how to set it, and what else its service needs
   */
  require<N extends SettingName>(name: N, isEnough = false): NonNullable<SettingValue<N>> {
    const value = this.get(name);
    if (value === undefined || value === null) throw this.#missing(name, isEnough);
    return value;
  }

  /** The address of a queue: the one that is given, else `rekey:queueUrl`. @throws SettingsError if there is none */
  queueAddress(given: string | null | undefined): string {
    return given ? normalizedAddress(given) : this.require("queueUrl", true);
  }

  /** A setting as it is written, usable or not, and where it comes from. */
  find(name: SettingName): FoundSetting | undefined {
    return this.#findOwn(name) ?? this.#findUsual(name) ?? this.#findInPreset(name);
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
  canRead({ paths, service }: Pick<SecretKind, "paths" | "service">): boolean {
    if (service === undefined) return false;
    return paths !== undefined || this.get("databasePath") !== "none";
  }

  /** Why requests to a service would fail before they are sent; undefined if its settings can be used. */
  errorFor(service: AccountService): SettingsError | undefined {
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
    if (
      proxy === undefined ||
      address.startsWith("https:") ||
      isLoopback(new URL(proxy).hostname)
    ) {
      return proxy;
    }
    throw new SettingsError("REKEY_SETTING_INVALID", {
      problem: `rekey:proxy is not on this machine, and would receive the credentials for ${address} in plain text`,
      advice:
        "Use an https address, or unset rekey:proxy (REKEY_PROXY) for a platform on this machine.",
    });
  }

  /** What is wrong with settings that can be used, as sentences. */
  get warnings(): readonly string[] {
    const { variable = "", value } = this.find("queueUrl") ?? {};
    const isShortened = variable !== "" && this.environment[variable] !== value;
    return isShortened
      ? [`${variable} ends in /v2/publish/, which is ignored: set it without this path.`]
      : [];
  }

  #read(name: SettingName): unknown {
    const found = this.find(name);
    // The platform may have a value for it: an unknown one is an error.
    if (found === undefined && name !== "platform") this.get("platform");
    if (found === undefined) return settingOf(name).default;
    const read = settingOf(name).schema().safeParse(found.value);
    if (read.success) return read.data;
    // Without the value: by mistake, any setting may hold a credential.
    const problem = `${settingKey(name)} ${read.error.issues[0]?.message}`;
    throw new SettingsError("REKEY_SETTING_INVALID", { problem, advice: this.#howToSet(name) });
  }

  /** With `rekey:queueUserId`, the token of the queue is read with the management credentials. */
  #neededFor(service: AccountService): readonly SettingName[] {
    const isRead = service === "queue" && this.find("queueUserId") !== undefined;
    return isRead ? ["queueUrl", ...accounts.management] : accounts[service];
  }

  #findOwn(name: SettingName): FoundSetting | undefined {
    const value = this.configuration(name);
    return value === undefined
      ? this.#findVariable(environmentName(name))
      : { value, source: "configuration" };
  }

  #findUsual(name: SettingName): FoundSetting | undefined {
    const found = this.#findVariable(this.#usableVariable(name));
    if (found === undefined || name !== "queueUrl") return found;
    return { ...found, value: found.value.replace(publishPath, "") };
  }

  #findVariable(variable = ""): FoundSetting | undefined {
    const value = this.environment[variable];
    return value ? { value, source: "environment", variable } : undefined;
  }

  #findInPreset(name: SettingName): FoundSetting | undefined {
    // Its address of the queue has no region.
    if (this.#isOfRegion(name)) return undefined;
    const value = this.preset?.values[name];
    return value === undefined ? undefined : { value, source: "preset" };
  }

  #findSecrets(): string[] {
    const names = settingNames.filter((name) => settingOf(name).secret);
    const own = names.map((name) => this.#findOwn(name)?.value);
    // Of each region, used or not.
    const usual = names.flatMap((name) => this.preset?.variables[name] ?? []);
    const variables = Object.keys(this.environment).filter((name) =>
      usual.some((one) => name.endsWith(one)),
    );
    // Pulumi passes its own token on to providers.
    variables.push("PULUMI_ACCESS_TOKEN");
    const inEnvironment = variables.map((name) => this.environment[name]);
    const found = new Set([...own, ...inEnvironment, this.#proxyPassword]);
    return [...found].flatMap((secret) => secret || []);
  }

  get #proxyPassword(): string | undefined {
    const proxy = this.find("proxy")?.value ?? "";
    return URL.canParse(proxy) ? new URL(proxy).password : undefined;
  }

  /** Whether a setting has a variable of the queue's region, which nothing without a region replaces. */
  #isOfRegion(name: SettingName): boolean {
    return this.#regionPrefix !== "" && this.preset?.queue.settings.includes(name) === true;
  }

  /** The platform's own variable for a setting. */
  #usualVariable(name: SettingName): string | undefined {
    const variable = this.preset?.variables[name];
    return variable && this.#isOfRegion(name) ? `${this.#regionPrefix}${variable}` : variable;
  }

  #usableVariable(name: SettingName): string | undefined {
    return this.#whyUnused(name) === undefined ? this.#usualVariable(name) : undefined;
  }

  /** Why the platform's variable for a setting is not used: it belongs to the address that its client would use. */
  #whyUnused(name: SettingName): string | undefined {
    const { preset } = this;
    const address = addressSettingOf(name);
    if (preset === undefined || address === undefined) return undefined;
    const isNotUsed = `${this.#usualVariable(name)} is not used, because`;
    const own = this.#findOwn(address);
    if (own !== undefined) return `${isNotUsed} ${own.variable ?? settingKey(address)} is set`;
    if (!usesLocalServer(preset, name, this.environment)) return undefined;
    return `${isNotUsed} ${preset.queue.localServer} makes the vendor's client use a local server`;
  }

  /** Why a setting is missing although the platform has a variable for it, if there is a reason. */
  #whyMissing(name: SettingName): string | undefined {
    const why = this.#whyUnused(name);
    if (why !== undefined || !this.#isOfRegion(name)) return why;
    return `${this.preset?.queue.region} is set, but ${this.#usualVariable(name)} is not`;
  }

  /** The error for a setting that is not set. It names all that the same service needs: each run would report one. */
  #missing(name: SettingName, isEnough: boolean): SettingsError {
    const service = serviceOf(name);
    const needed = service === undefined || isEnough ? [name] : this.#neededFor(service);
    const missing = needed.filter((one) => this.find(one) === undefined);
    const all = new Intl.ListFormat("en").format(missing.map(settingKey));
    const isNotSet = missing.length === 1 ? "is not set" : "are not set";
    const reasons = new Set(missing.flatMap((one) => this.#whyMissing(one) ?? []));
    const why = reasons.size === 0 ? "" : `: ${[...reasons].join("; ")}`;
    const howTo = missing.map((one) => this.#howToSet(one));
    const advice = [...this.#presetAdvice(missing), ...howTo].join(" ");
    return new SettingsError("REKEY_SETTING_MISSING", {
      problem: `${all} ${isNotSet}${why}`,
      advice,
    });
  }

  /** The preset comes first, if it has one of the settings. */
  #presetAdvice(names: readonly SettingName[]): string[] {
    const preset = presetNames.find((one) =>
      names.some((name) => presets[one].values[name] !== undefined),
    );
    if (preset === undefined || this.find("platform") !== undefined) return [];
    const how =
      this.provider === undefined
        ? `run \`pulumi config set rekey:platform ${preset}\``
        : `set platform to ${preset}`;
    return [`For ${preset}, ${how}, which sets addresses and paths.`];
  }

  #howToSet(name: SettingName): string {
    const { provider } = this;
    if (provider !== undefined) {
      return `Set ${name} in the arguments of the provider ${JSON.stringify(provider)}.`;
    }
    const secret = settingOf(name).secret ? "--secret " : "";
    return `Run \`pulumi config set ${secret}${settingKey(name)} …\`, or ${this.#howToUseVariable(name)}.`;
  }

  #howToUseVariable(name: SettingName): string {
    const found = this.find(name);
    // It has precedence over the environment, even if it is empty.
    if (found?.source === "configuration") {
      return `\`pulumi config rm ${settingKey(name)}\` to use ${environmentName(name)}`;
    }
    const variable = found?.variable ?? this.#usableVariable(name) ?? environmentName(name);
    return `set ${variable} in the environment`;
  }
}

/**
 * The variables that an explicit provider may use. Once its arguments set an address or a credential of a service, all
 * that belongs to the service comes from the arguments: the variables may describe another account or platform.
 */
export function environmentOfProvider(
  args: Lookup,
  environment: NodeJS.ProcessEnv,
): NodeJS.ProcessEnv {
  const namesAccount = (service: AccountService) =>
    accountNames(service).some((name) => args(name) !== undefined);
  const own = services.filter(namesAccount);
  if (own.length === 0) return environment;
  const names = own.flatMap((service) => [...accountNames(service), ...descriptions[service]]);
  const withheld = names.map(environmentName);
  // Those of a platform, also of its regions.
  const usual = Object.values(presets).flatMap(({ variables }) => Object.values(variables));
  const isUsable = (variable: string) =>
    !withheld.includes(variable) && !usual.some((one) => variable.endsWith(one));
  return Object.fromEntries(Object.entries(environment).filter(([variable]) => isUsable(variable)));
}

/** The settings that name an account at a service: a preset has the addresses of both, and a user belongs to both. */
function accountNames(service: AccountService): readonly SettingName[] {
  return ["platform", "queueUserId", ...accounts[service]];
}
