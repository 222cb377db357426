import { X509Certificate } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { z } from "zod";
import { defaultDatabaseHost, isLoopback, whatIsWrongWithHostTemplate } from "../verification/clientEndpoint";
import { SettingsError } from "../platform/errors";
import { engineCommands } from "../engineCommands";
import { platforms } from "./presets";
import { environmentName, type FoundSetting, isSecret, type Lookup, nameOf, SettingSources } from "./sources";

export { environmentName, type FoundSetting, isSecret, nameOf };

/** Settings whose values errors show. Any other may hold a credential, by mistake even a user name: `user:password`. */
const shownNames: readonly string[] = ["deadlineSeconds", "maxConcurrency", "requestsPerSecond", "maxResetsPerRun"];

/** The values of settings that are not set. */
export const settingDefaults = {
  resetPasswordPath: "/v2/keyvalue/reset-password/{id}",
  flowControlResetAction: "reset",
  databaseHost: defaultDatabaseHost,
  deadlineSeconds: 60,
  maxConcurrency: 8,
} as const;

const address = z.string().transform((written, context) => {
  if (!URL.canParse(written)) return fail(context, "is not a URL");
  const url = new URL(written);
  const wrong = whatIsWrongWithAddress(url);
  if (wrong) return fail(context, wrong);
  // Normalized: as written, it may contain spaces or end in a question mark.
  return `${url.origin}${url.pathname}`.replace(/\/+$/, "");
});
/** A number of some kind. JavaScript reads an empty text as 0. */
const number = <T extends z.ZodNumber>(kind: T, message = "must be a number") =>
  z.string().regex(/\S/, message).pipe(z.coerce.number(message)).pipe(kind);
const count = z.int("must be a whole number").min(1, "must be at least 1");
const seconds = z.number().positive("must be above 0").max(86_400, "must be at most 86400 (a day)");
const filled = z.string().min(1, "must not be empty");
const headerSafe = filled.regex(/^[^\r\n\0]*$/, "must not contain line breaks");

/** Every setting: its meaning, unit and default. `schemas` are made once, at the first use. */
const schemas = {
  /** A public platform, which sets its addresses and paths unless they are set separately. Default: none. */
  platform: z
    .string()
    .refine((name) => platforms.has(name), `is not a known platform (known: ${[...platforms.keys()].join(", ")})`),
  /** Address of the management interface. Required by PasswordRotation. */
  baseUrl: address,
  /** Address of the message queue. Required by FlowControlReset and the data sources. */
  queueUrl: address,
  /** User name at the management interface. */
  username: headerSafe.refine((name) => !name.includes(":"), "must not contain a colon: HTTP Basic does not allow it"),
  /** Password or API key at the management interface. Secret. */
  password: headerSafe,
  /** Token at the message queue. Secret. */
  queueToken: headerSafe.regex(/^[\x21-\x7e]*$/, "must be visible ASCII without spaces"),
  /** Path of the reset operation. Default: `/v2/keyvalue/reset-password/{id}`. */
  resetPasswordPath: filled
    .startsWith("/", "must begin with /")
    .refine((path) => path.split("{id}").length === 2, "must contain {id} once"),
  /** Last part of the path of a flow-control reset. Default: `reset`. */
  flowControlResetAction: z.string().regex(/^[A-Za-z][\w-]*$/, "must be one word"),
  /** Host of a database, with `{endpoint}` and `{id}` of its record. Default: `{endpoint}`. */
  databaseHost: z.string().superRefine((host, context) => {
    const wrong = whatIsWrongWithHostTemplate(host);
    if (wrong) context.addIssue(wrong);
  }),
  /** Seconds until a request fails, retries included. Default: 60. */
  deadlineSeconds: number(seconds, "must be a number of seconds"),
  /** Requests that run at the same time. Default: 8. */
  maxConcurrency: number(count),
  /** Requests started in a second. Default: no limit. */
  requestsPerSecond: number(
    z
      .number()
      .positive("must be above 0")
      .min(1 / 86_400, "must be at least one a day"),
  ),
  /** Password resets in one run of the engine; the next one is refused. Default: no limit. */
  maxResetsPerRun: number(z.int("must be a whole number").min(0, "must not be negative")),
  /** Address of an HTTP proxy. Default: none. */
  proxy: z.string().refine((written) => /^https?:$/.test(protocolOf(written)), "must be an http or https URL"),
  /** File with certificates (PEM) that are trusted in addition to those of Node. Default: none. */
  caFile: filled.transform((file, context) => {
    try {
      // Reading a pipe or a device may never end.
      const found = statSync(file);
      if (!found.isFile() && !found.isDirectory()) return fail(context, "is not a file");
      const text = readFileSync(file, "utf8");
      return isCertificate(text) ? text : fail(context, "contains no PEM certificate");
    } catch (error) {
      return fail(context, `cannot be read (${(error as NodeJS.ErrnoException).code})`);
    }
  }),
};

export type SettingName = keyof typeof schemas;
export type SettingValue<N extends SettingName> = z.infer<(typeof schemas)[N]>;

/**
 * The settings of one run, from the stack's configuration, the environment and the preset of `rekey:platform`. A
 * missing or invalid setting is reported when it is first read.
 */
export class Settings {
  /** What must never be shown: the secret settings and the proxy's password as they are written, usable or not. */
  readonly secrets: readonly string[];
  readonly #sources: SettingSources;

  /** @param provider the explicit provider whose arguments are the configuration, if they are not a stack's */
  constructor(
    configuration: Lookup,
    environment: NodeJS.ProcessEnv = {},
    private readonly provider?: string,
  ) {
    this.#sources = new SettingSources(configuration, environment);
    const proxyPassword = passwordIn(this.find("proxy")?.value ?? "");
    this.secrets = [...this.#sources.secrets, ...(proxyPassword === undefined ? [] : [proxyPassword])];
  }

  /** @throws SettingsError that explains how to set it. */
  require<N extends SettingName>(name: N): SettingValue<N> {
    const value = this.get(name);
    if (value === undefined) throw this.missing(name);
    return value;
  }

  /** The error for a setting that is required and not set. */
  missing(name: SettingName): SettingsError {
    const why = this.#sources.whyWithheld(name);
    const problem = `${nameOf(name)} is not set${why === undefined ? "" : `: ${why}`}`;
    return new SettingsError("REKEY_SETTING_MISSING", problem, this.#howToSet(name));
  }

  /** @throws SettingsError if its value cannot be used. */
  get<N extends SettingName>(name: N): SettingValue<N> | undefined {
    const written = this.find(name)?.value;
    if (written === undefined) {
      // The platform may have a value for it: an unknown one is an error.
      if (name !== "platform") this.get("platform");
      return undefined;
    }
    const result = schemas[name].safeParse(written);
    if (result.success) return result.data as SettingValue<N>;
    const reason = result.error.issues[0]?.message ?? "cannot be used";
    const shown = shownNames.includes(name) ? ` (it is ${JSON.stringify(written)})` : "";
    throw new SettingsError("REKEY_SETTING_INVALID", `${nameOf(name)} ${reason}${shown}`, this.#howToSet(name));
  }

  /** A setting as it is written, usable or not, and where it comes from. */
  find(name: SettingName): FoundSetting | undefined {
    return this.#sources.find(name);
  }

  /**
   * The proxy for requests to an address, if there is one.
   *
   * @throws SettingsError if it cannot be used, or would receive the credentials in plain text over the network.
   */
  proxyFor(address: string): string | undefined {
    const proxy = this.get("proxy");
    if (proxy === undefined || address.startsWith("https:") || isLoopback(new URL(proxy).hostname)) return proxy;
    throw new SettingsError(
      "REKEY_SETTING_INVALID",
      `rekey:proxy is not on this machine, and would receive the credentials for ${address} in plain text`,
      "Use an https address, or unset rekey:proxy (REKEY_PROXY) for a platform on this machine.",
    );
  }

  #howToSet(name: SettingName): string {
    if (this.provider !== undefined) {
      return `Set ${name} in the arguments of the provider ${JSON.stringify(this.provider)}.`;
    }
    const secret = isSecret(name) ? "--secret " : "";
    const variable = this.#sources.variableFor(name);
    return `Run \`${engineCommands.setConfig} ${secret}${nameOf(name)} …\`, or set ${variable} in the environment.`;
  }
}

export const settingNames = Object.keys(schemas) as SettingName[];

function whatIsWrongWithAddress(url: URL): string | undefined {
  if (url.protocol !== "https:" && url.protocol !== "http:") return "must begin with https://";
  if (url.protocol === "http:" && !isLoopback(url.hostname)) {
    return "must begin with https://, because credentials would be sent in plain text (http is allowed for this machine only)";
  }
  if (url.username || url.password) return "must not contain credentials";
  if (url.search || url.hash) return "must not contain a query or a fragment";
  return undefined;
}

function protocolOf(written: string): string {
  return URL.canParse(written) ? new URL(written).protocol : "";
}

function passwordIn(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).password || undefined : undefined;
}

function isCertificate(text: string): boolean {
  try {
    return Boolean(new X509Certificate(text));
  } catch {
    return false;
  }
}

function fail(context: z.RefinementCtx, message: string): never {
  context.addIssue({ code: "custom", message });
  return z.NEVER;
}
