import { type PlatformClient } from "../api/platform";
import { type RequesterOptions } from "../api/requester";
import { type Settings } from "../settings";
import { Run } from "./run";

/**
 * The run of a host process, with the settings of a stack's configuration, else of the environment. The settings and the
 * HTTP client are loaded when they are first needed: a run with nothing to do needs neither.
 */
export function runFromSettings(
  configuration: (key: string) => string | undefined,
  beforeOnce: RequesterOptions["beforeOnce"],
): Run {
  let settings: Settings | undefined;
  let client: PlatformClient | undefined;
  const getSettings = (): Settings => {
    if (settings) return settings;
    const { Settings, lookupIn } = require("../settings") as typeof import("../settings");
    return (settings = new Settings(lookupIn(configuration, process.env)));
  };
  return new Run({
    get platform() {
      if (client) return client;
      const { PlatformClient } = require("../api/platform") as typeof import("../api/platform");
      return (client = new PlatformClient(getSettings(), beforeOnce));
    },
    maxResets: () => getSettings().get("maxResetsPerRun"),
    now: () => new Date(),
    say: (line) => console.error(line),
  });
}
