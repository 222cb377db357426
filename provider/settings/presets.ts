import { presetNames, type SettingName } from "./table";

/** What `rekey:platform` sets for a public platform. */
export interface Preset {
  /** The values of settings that are not set otherwise. */
  readonly values: Variables;
  /** The host of an index whose endpoint is a slug, with `{endpoint}`. */
  readonly indexHost: string;
  /** The flow-control keys that it accepts. */
  readonly flowControlKey: { readonly pattern: RegExp; readonly of: string };
  /** The environment variables of the platform's own clients, which are read after Rekey's own. */
  readonly variables: Variables;
  /** What else the client of its queue reads. */
  readonly queue: {
    /** The settings whose variables it chooses. */
    readonly settings: readonly SettingName[];
    /** The variable that chooses a region, and with it the variables. */
    readonly region: string;
    /** The variable that makes it use a local server instead. */
    readonly localServer: string;
  };
  /** Headers of a response with 429 that say when requests are accepted again, in Unix seconds, by precedence. */
  readonly resetHeaders: readonly string[];
}

type Variables = Readonly<Partial<Record<SettingName, string>>>;

export const presets: Readonly<Record<(typeof presetNames)[number], Preset>> = {
  upstash: {
    values: {
      baseUrl: "https://api.upstash.com",
      queueUrl: "https://qstash.upstash.io",
      resetPasswordPath: "/v2/redis/reset-password/{id}",
      databasePath: "/v2/redis/database/{id}",
      databaseListPath: "/v2/redis/databases",
      // It is not in the newest description: `resetRate`, which is, takes its place if the platform does not have it.
      flowControlResetAction: "reset",
      // For an endpoint that is a slug; a full host name is used unchanged.
      databaseHost: "{endpoint}.upstash.io",
    },
    indexHost: "{endpoint}.upstash.io",
    flowControlKey: {
      pattern: /^[A-Za-z0-9_.-]+$/,
      of: "letters, digits, hyphens, underscores and dots",
    },
    variables: {
      username: "UPSTASH_EMAIL",
      password: "UPSTASH_API_KEY",
      queueToken: "QSTASH_TOKEN",
      queueUrl: "QSTASH_URL",
    },
    queue: {
      settings: ["queueUrl", "queueToken"],
      region: "QSTASH_REGION",
      localServer: "QSTASH_DEV",
    },
    // Of a second, and of a day. Elsewhere, the second one may have another unit.
    resetHeaders: ["burst-ratelimit-reset", "ratelimit-reset"],
  },
};

/** The preset of a platform, whatever the case of its name; undefined if there is none. */
export function presetNamed(platform = ""): Preset | undefined {
  const name = presetNames.find((one) => one === platform.toLowerCase());
  return name && presets[name];
}

/**
 * The prefix of the queue's variables in the region that an environment chooses, such as `US_EAST_1_`; empty if none
 * of them is set.
 */
export function regionPrefix({ queue, variables }: Preset, environment: NodeJS.ProcessEnv): string {
  const region = environment[queue.region];
  if (!region) return "";
  const prefix = `${region.replaceAll("-", "_").toUpperCase()}_`;
  return queue.settings.some((name) => environment[`${prefix}${variables[name]}`]) ? prefix : "";
}

/** Whether the queue's client uses a local server instead of a setting. Values that it does not know end it. */
export function usesLocalServer(
  { queue }: Preset,
  name: SettingName,
  environment: NodeJS.ProcessEnv,
): boolean {
  const isOff = ["", "0", "false"].includes(environment[queue.localServer] ?? "");
  return !isOff && queue.settings.includes(name);
}

/** What the vendor's address of the queue once ended in. The vendor's client removes it, too. */
export const publishPath = /\/v2\/publish\/*$/;
