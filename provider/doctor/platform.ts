import { RequestError, SettingsError } from "../platform/errors";
import { whyNotSent } from "../platform/failures";
import { type Settings } from "../settings/settings";
import { nameOf, type SettingName, type SettingValue } from "../settings/table";
import { type Check, ok, unchecked, wrong } from "./check";
import { openConnection, trusting } from "../platform/sockets";
import { ConnectionError } from "../platform/preconnect";

const connectTimeoutMs = 10_000;

/** Checks the connections to the platform. The only request that is sent is one read of the queue. */
export async function checkPlatform(settings: Settings): Promise<Check[]> {
  const management = await checkConnection("baseUrl", "password", settings);
  const queue = await checkConnection("queueUrl", "queueToken", settings);
  const credentials =
    "rekey:username and rekey:password cannot be checked: only a reset needs them, and it would change the password.";
  return [
    ...(management ? [management] : []),
    ...(usable(settings, "username") && usable(settings, "password")
      ? [unchecked("management credentials", credentials)]
      : []),
    ...(queue ? [queue] : []),
    ...(queue?.state === "ok" && usable(settings, "queueToken") ? [await checkToken(settings)] : []),
  ];
}

async function checkConnection(
  name: "baseUrl" | "queueUrl",
  credential: "password" | "queueToken",
  settings: Settings,
): Promise<Check | undefined> {
  const address = usable(settings, name);
  if (address === undefined || isUnusable(settings, "proxy") || isUnusable(settings, "caFile")) return undefined;
  // A preset sets both addresses, even if the project uses only one of the interfaces.
  if (settings.find(name)?.source === "preset" && !usable(settings, credential)) return undefined;
  const subject = `the connection to ${nameOf(name)}`;
  try {
    const proxy = settings.proxyFor(address);
    const options = { proxy, ...trusting(settings.get("caFile")), timeoutMs: connectTimeoutMs };
    (await openConnection(new URL(address), options)).destroy();
    const how = `${address.startsWith("https:") ? "with TLS" : "without TLS, on this machine"}${proxy === undefined ? "" : ", through the proxy"}`;
    return ok(subject, `A connection to ${address} was opened ${how}.`);
  } catch (error) {
    if (error instanceof SettingsError) return wrong(subject, `${error.problem}.`, error.advice);
    if (!(error instanceof ConnectionError)) throw error;
    const { happened, advice } = whyNotSent({ addressSetting: nameOf(name) }, { ...error, attempts: 1 });
    return wrong(subject, `Could not connect to ${address}: ${happened}.`, advice);
  }
}

async function checkToken(settings: Settings): Promise<Check> {
  const subject = "the queue's token";
  // Loaded only here: loading an HTTP client is slow.
  const { PlatformClient } = require("../engine/platformClient") as typeof import("../engine/platformClient");
  try {
    await new PlatformClient(settings).flowControl.globalParallelism();
    return ok(subject, "The queue accepted rekey:queueToken.");
  } catch (error) {
    if (error instanceof SettingsError) return unchecked(subject, `rekey:queueToken was not tried: ${error.problem}.`);
    if (!(error instanceof RequestError)) throw error;
    return wrong(subject, `A read with rekey:queueToken failed: ${error.happened}.`, error.advice);
  }
}

/** A setting's value if it can be used. The checks of the settings report the problems. */
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
