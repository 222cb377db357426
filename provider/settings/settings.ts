import { SettingsError } from "../domain/errors";
import { type AccountService, type SecretKind } from "../domain/secretKind";
import { type Preset, presets } from "./presets";
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

/** The settings of each service, its address first: a credential is sent only to the address that it belongs to. */
export const accounts: Readonly<
  Record<AccountService, readonly [address: SettingName, ...SettingName[]]>
> = {
  management: ["baseUrl", "username", "password"],
  queue: ["queueUrl", "queueToken"],
};

/** Settings that describe the platform at the address of a service. */
const descriptions: Readonly<Record<AccountService, readonly SettingName[]>> = {
  management: ["resetPasswordPath", "databasePath", "databaseListPath", "databaseHost"],
  queue: ["flowControlResetAction"],
};

export const services = Object.keys(accounts) as AccountService[];

/** Settings that name an account at both services: a preset has both addresses, and a user belongs to both. */
const ofBoth: readonly SettingName[] = ["platform", "queueUserId"];

/**
 * The settings of one run. Each is found in the stack's configuration, then in Rekey's environment variable. If
 * `rekey:platform` is set, the platform's usual environment variable and its preset follow. An empty variable counts as
 * unset, because pipelines leave them empty. A missing or invalid setting is reported when it is first read.
 */
export class Settings {
  /** The preset of `rekey:platform`; undefined if it is not set, or if there is no such platform. */
  readonly preset: Preset | undefined;
  /** Values that must never be shown: the secret settings and the proxy's password as they are written, used or not. */
  readonly secrets: readonly string[];
  /** The values that were read and can be used, and the defaults of those that are not set: each reset needs some. */
  readonly #values = new Map<SettingName, unknown>();

  /** @param provider the explicit provider whose arguments are the configuration, if they are not a stack's */
  constructor(
    private readonly configuration: Lookup,
    private readonly environment: NodeJS.ProcessEnv = {},
    readonly provider?: string,
  ) {
    const platform = this.#findOwn("platform")?.value;
    const name = presetNames.find((one) => one === platform);
    this.preset = name && presets[name];
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
    const found = this.#findOwn(name) ?? this.#findVariable(this.#usualVariable(name));
    const value = this.preset?.values[name];
    return found ?? (value === undefined ? undefined : { value, source: "preset" });
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

  /** True if the platform has an operation that reads such a secret. @throws SettingsError for a wrong setting */
  canRead({ paths }: Pick<SecretKind, "paths">): boolean {
    const { read = "none" } = paths ?? {};
    return (typeof read === "string" ? read : this.get(read.setting)) !== "none";
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

  #findVariable(variable = ""): FoundSetting | undefined {
    const value = this.environment[variable];
    return value ? { value, source: "environment", variable } : undefined;
  }

  /** The platform's own variable for a setting. It belongs to the address of the preset, and is read for no other. */
  #usualVariable(name: SettingName): string | undefined {
    return this.#findOwn("baseUrl") ? undefined : this.preset?.variables[name];
  }

  #findSecrets(): string[] {
    const names = settingNames.filter((name) => settingOf(name).secret);
    // Pulumi passes its own token on to providers.
    const variables = ["PULUMI_ACCESS_TOKEN", ...names.map((name) => this.preset?.variables[name])];
    const proxy = this.find("proxy")?.value ?? "";
    const found = [
      ...names.map((name) => this.#findOwn(name)?.value),
      ...variables.map((variable = "") => this.environment[variable]),
      URL.canParse(proxy) ? new URL(proxy).password : "",
    ];
    return found.flatMap((secret) => secret || []);
  }

  /** The error for a setting that is not set. It names all that the same service needs: each run would report one. */
  #missing(name: SettingName, isEnough: boolean): SettingsError {
    const service = services.find((one) => accounts[one].includes(name));
    const needed = service === undefined || isEnough ? [name] : this.#neededFor(service);
    const missing = needed.filter((one) => this.find(one) === undefined);
    const all = new Intl.ListFormat("en").format(missing.map(settingKey));
    const why = missing.flatMap((one) => this.#whyUnread(one) ?? []).join("; ");
    const isNotSet = missing.length === 1 ? "is not set" : "are not set";
    const advice = missing.map((one) => this.#howToSet(one));
    const preset = presetNames.find((one) => missing.some((each) => presets[one].values[each]));
    if (preset !== undefined && this.find("platform") === undefined) {
      const command = `run \`pulumi config set rekey:platform ${preset}\``;
      const how = this.provider === undefined ? command : `set platform to ${preset}`;
      advice.unshift(`For ${preset}, ${how}, which sets addresses and paths.`);
    }
    return new SettingsError("REKEY_SETTING_MISSING", {
      problem: `${all} ${isNotSet}${why && `: ${why}`}`,
      advice: advice.join(" "),
    });
  }

  /** Why a variable of the vendor's does not count as a setting, if there is one. */
  #whyUnread(name: SettingName): string | undefined {
    if (name === "queueToken" && this.environment["QSTASH_TOKEN"]) {
      return "QSTASH_TOKEN is set, but Rekey does not read it";
    }
    const variable = this.preset?.variables[name];
    const address = this.#findOwn("baseUrl");
    if (variable === undefined || address === undefined) return undefined;
    return `${variable} is not used, because ${address.variable ?? "rekey:baseUrl"} is set`;
  }

  #howToSet(name: SettingName): string {
    if (this.provider !== undefined) {
      return `Set ${name} in the arguments of the provider ${JSON.stringify(this.provider)}.`;
    }
    const key = settingKey(name);
    const own = environmentName(name);
    const found = this.find(name);
    // The configuration has precedence over the environment, even if it is empty.
    const byVariable =
      found?.source === "configuration"
        ? `\`pulumi config rm ${key}\` to use ${own}`
        : `set ${found?.variable ?? this.#usualVariable(name) ?? own} in the environment`;
    const secret = settingOf(name).secret ? "--secret " : "";
    return `Run \`pulumi config set ${secret}${key} …\`, or ${byVariable}.`;
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
  const named = services.filter((service) =>
    [...ofBoth, ...accounts[service]].some((name) => args(name) !== undefined),
  );
  if (named.length === 0) return environment;
  const names = named.flatMap((service) => [...accounts[service], ...descriptions[service]]);
  const withheld = [
    ...[...ofBoth, ...names].map(environmentName),
    ...Object.values(presets).flatMap(({ variables }) => Object.values(variables)),
  ];
  return Object.fromEntries(
    Object.entries(environment).filter(([variable]) => !withheld.includes(variable)),
  );
}
