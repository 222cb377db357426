import { setTimeout as sleep } from "node:timers/promises";
import { type FlowControlSession } from "../flowControl/flowControlReset";
import { type RequesterOptions } from "../platform/http";
import { Session, type SessionOptions } from "../rotation/session";
import { type FoundSetting, type Settings } from "../settings/settings";
import { type VerificationSession } from "../verification/passwordVerification";
import { type PlatformClient } from "./platformClient";
import { markAccount } from "../rotation/passwordRotation";

/** What the resources of one run share. */
export type RunSession = Session<
  SessionOptions &
    VerificationSession["options"] &
    FlowControlSession["options"] & { databaseHost: () => FoundSetting | undefined }
>;

/** How the session of an adapter differs from that of Pulumi's dynamic provider host. */
export interface SessionSources {
  /** The variables that settings may come from. Default: those of this process. */
  readonly environment?: NodeJS.ProcessEnv;
  /** The name of the explicit provider whose arguments are the configuration, for advice. Default: none. */
  readonly provider?: string | undefined;
  /** Shows the user a line during the run. Default: prints it to standard error. */
  readonly log?: SessionOptions["log"];
}

/**
 * The session of a host process, with settings from the stack's configuration, else from the environment. The settings
 * and the HTTP client are loaded on first use: a run with nothing to do needs neither.
 */
export function sessionFromSettings(
  configuration: (key: string) => string | undefined,
  beforeReset: RequesterOptions["beforeReset"],
  { environment = process.env, provider, log = (line) => console.error(line) }: SessionSources = {},
): RunSession {
  let settings: Settings | undefined;
  let client: PlatformClient | undefined;
  const getSettings = (): Settings => {
    if (settings) return settings;
    const { Settings } = require("../settings/settings") as typeof import("../settings/settings");
    return (settings = new Settings((name) => configuration(`rekey:${name}`), environment, provider));
  };
  return new Session({
    get platform() {
      if (client) return client;
      const { PlatformClient } = require("./platformClient") as typeof import("./platformClient");
      return (client = new PlatformClient(getSettings(), beforeReset));
    },
    maxResets: () => getSettings().get("maxResetsPerRun"),
    databaseHost() {
      const all = getSettings();
      return all.get("databaseHost") === undefined ? undefined : all.find("databaseHost");
    },
    account() {
      try {
        return markAccount(getSettings().require("baseUrl"), getSettings().require("username"));
      } catch {
        return undefined;
      }
    },
    now: () => new Date(),
    timer: { now: () => performance.now(), sleep },
    log,
  });
}
