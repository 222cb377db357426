import { type presetNames, type SettingName } from "./table";

/** What `rekey:platform` sets for a public platform. */
export interface Preset {
  /** The values of settings that are not set otherwise. */
  readonly values: Readonly<Record<"baseUrl" | "queueUrl", string> & Partial<Record<SettingName, string>>>;
  /** The platform's usual environment variables, which are read after Rekey's own. */
  readonly variables: Readonly<Partial<Record<SettingName, string>>>;
}

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
    variables: {
      username: "UPSTASH_EMAIL",
      password: "UPSTASH_API_KEY",
      queueToken: "QSTASH_TOKEN",
      queueUrl: "QSTASH_URL",
    },
  },
};
