import { type SettingName } from "./settings";

/** What `rekey:platform` sets for a public platform. */
export interface PlatformPreset {
  /** The values of settings that are not set otherwise. */
  readonly values: Readonly<Record<"baseUrl" | "queueUrl", string> & Partial<Record<SettingName, string>>>;
  /** The platform's usual environment variables, which are read after Rekey's own. */
  readonly variables: Readonly<Partial<Record<SettingName, string>>>;
}

/** The known platforms, by their value of `rekey:platform`. */
export const platforms: ReadonlyMap<string, PlatformPreset> = new Map([
  [
    "upstash",
    {
      values: {
        baseUrl: "https://api.upstash.com",
        queueUrl: "https://qstash.upstash.io",
        resetPasswordPath: "/v2/redis/reset-password/{id}",
        // Clears the rate count and its period, and leaves the parallelism count.
        flowControlResetAction: "resetRate",
        // For an endpoint that is a slug; a full host name is used unchanged.
        databaseHost: "{endpoint}.upstash.io",
      },
      variables: {
        username: "UPSTASH_EMAIL",
        password: "UPSTASH_API_KEY",
        queueToken: "QSTASH_TOKEN",
        queueUrl: "QSTASH_URL",
      },
    },
  ],
]);
