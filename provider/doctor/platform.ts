import { RequestError, SettingsError } from "../api/errors";
import { whyNotSent } from "../api/failures";
import { ConnectionError, openConnection, trusting } from "../api/openConnection";
import { nameOf, type SettingName, type Settings, type SettingValue } from "../settings";
import { type Check, ok, unchecked, wrong } from "./check";

/** Milliseconds, longest wait for a connection. */
const connectTimeoutMs = 10_000;

/** Looks how far one gets towards the platform. Nothing is sent but one reading of the queue. */
export async function checkPlatform(settings: Settings): Promise<Check[]> {
  const management = await checkWay("baseUrl", settings);
  const queue = await checkWay("queueUrl", settings);
  const credentials =
    "rekey:username and rekey:password cannot be checked without a reset: the platform has no harmless request that needs them.";
  return [
    ...(management ? [management] : []),
    ...(usable(settings, "username") && usable(settings, "password")
      ? [unchecked("management credentials", credentials)]
      : []),
    ...(queue ? [queue] : []),
    ...(queue?.state === "ok" && usable(settings, "queueToken") ? [await checkToken(settings)] : []),
  ];
}

async function checkWay(name: "baseUrl" | "queueUrl", settings: Settings): Promise<Check | undefined> {
  const address = usable(settings, name);
  if (address === undefined || isUnusable(settings, "proxy") || isUnusable(settings, "caFile")) return undefined;
  const subject = `the way to ${nameOf(name)}`;
  try {
    const proxy = settings.proxyFor(address);
    const options = { proxy, ...trusting(settings.get("caFile")), timeoutMs: connectTimeoutMs };
    (await openConnection(new URL(address), options)).destroy();
    const how = `${address.startsWith("https:") ? "with TLS" : "without TLS, on this machine"}${proxy === undefined ? "" : ", through the proxy"}`;
    return ok(subject, `A connection to ${address} came up, ${how}.`);
  } catch (error) {
    if (error instanceof SettingsError) return wrong(subject, `${error.problem}.`, error.advice);
    if (!(error instanceof ConnectionError)) throw error;
    const { happened, advice } = whyNotSent({ addressSetting: nameOf(name) }, { ...error, attempts: 1 });
    return wrong(subject, `No connection to ${address} came up: ${happened}.`, advice);
  }
}

async function checkToken(settings: Settings): Promise<Check> {
  // Loaded only here: an HTTP client takes its time.
  const { PlatformClient } = require("../api/platformClient") as typeof import("../api/platformClient");
  try {
    await new PlatformClient(settings).flowControl.globalParallelism();
    return ok("the queue's token", "The queue answered a reading with rekey:queueToken.");
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    return wrong("the queue's token", `A reading with rekey:queueToken failed: ${error.happened}.`, error.advice);
  }
}

/** A setting's value, where there is one that can be used. What is wrong with it is said elsewhere. */
function usable<N extends SettingName>(settings: Settings, name: N): SettingValue<N> | undefined {
  return isUnusable(settings, name) ? undefined : settings.get(name);
}

function isUnusable(settings: Settings, name: SettingName): boolean {
  try {
    settings.get(name);
    return false;
  } catch {
    return true;
  }
}
