import { type presetNames, type SettingName } from "./table";

/** What `rekey:platform` sets for a public platform. */
export interface Preset {
  /** The values of settings that are not set otherwise. */
  readonly values: Readonly<Record<"baseUrl" | "queueUrl", string> & Partial<Record<SettingName, string>>>;
  /** The host of an index whose endpoint is a slug, with `{endpoint}`. */
  readonly indexHost: string;
  /** The flow-control keys that it accepts. */
  readonly flowControlKey: { readonly pattern: RegExp; readonly of: string };
  /** The platform's usual environment variables, which are read after Rekey's own. */
  readonly variables: Variables;
  /** The variables of its regions, which one more variable chooses, as for the platform's own client. */
  readonly regions: { readonly variable: string; readonly of: readonly SettingName[] };
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
    flowControlKey: { pattern: /^[A-Za-z0-9_.-]+$/, of: "letters, digits, hyphens, underscores and dots" },
    variables: {
      username: "UPSTASH_EMAIL",
      password: "UPSTASH_API_KEY",
      queueToken: "QSTASH_TOKEN",
      queueUrl: "QSTASH_URL",
    },
    regions: { variable: "QSTASH_REGION", of: ["queueUrl", "queueToken"] },
    // Of a second, and of a day. Elsewhere, the second one may have another unit.
    resetHeaders: ["burst-ratelimit-reset", "ratelimit-reset"],
  },
};

/**
 * The usual variables that count: those of the region that an environment chooses, such as `US_EAST_1_QSTASH_TOKEN`, if
 * all of them are set.
 */
export function usualVariables({ variables, regions }: Preset, environment: NodeJS.ProcessEnv): Variables {
  const region = environment[regions.variable]?.replaceAll("-", "_").toUpperCase();
  const ofRegion = Object.fromEntries(regions.of.map((name) => [name, `${region}_${variables[name]}`]));
  const isComplete = Object.values(ofRegion).every((variable) => environment[variable]);
  return isComplete ? { ...variables, ...ofRegion } : variables;
}
