import { type presetNames, type SettingName } from "./table";

/** The preset of a public platform, which `rekey:platform` selects. */
export interface Preset {
  /** The values of settings that are not set otherwise. */
  readonly values: Variables;
  /** The host of an index whose endpoint is a slug, with `{endpoint}`. */
  readonly indexHost: string;
  /** The flow-control keys that it accepts. */
  readonly flowControlKey: { readonly pattern: RegExp; readonly of: string };
  /** The environment variables of the platform's own tools, which belong to its `baseUrl`. Rekey's own come first. */
  readonly variables: Variables;
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
    variables: { username: "UPSTASH_EMAIL", password: "UPSTASH_API_KEY" },
    // Of a second, and of a day. Elsewhere, the second one may have another unit.
    resetHeaders: ["burst-ratelimit-reset", "ratelimit-reset"],
  },
};
