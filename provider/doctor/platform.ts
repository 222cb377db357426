import { RequestError, SettingsError } from "../platform/errors";
import { whyNotSent } from "../platform/failures";
import { ConnectionError, Connections } from "../platform/connections";
import { PlatformClient } from "../platformClient";
import { databasePassword } from "../platform/secretKind";
import { type Settings } from "../settings/settings";
import { nameOf } from "../settings/table";
import { type Check, ok, unchecked, wrong } from "./check";

const connectTimeoutMs = 10_000;

/**
 * Checks the services whose settings are complete. The only requests that are sent are reads: one of the queue, one of
 * its user if that has its token, and one of a database or of their list.
 *
 * @param databaseId the database to read, without its credentials; their list, if the platform has one, if undefined
 */
export async function checkPlatform(settings: Settings, databaseId?: string): Promise<Check[]> {
  const client = new PlatformClient(settings);
  return [
    ...(settings.errorFor("management") ? [] : await checkManagement(settings, client, databaseId)),
    ...(settings.errorFor("queue") ? [] : [await checkQueue(settings, client)]),
  ];
}

async function checkManagement(
  settings: Settings,
  client: PlatformClient,
  databaseId: string | undefined,
): Promise<Check[]> {
  const subject = "the management interface";
  const accepted = "The platform accepted rekey:username and rekey:password";
  const isSet = (name: "databasePath" | "databaseListPath") =>
    !["none", undefined].includes(settings.find(name)?.value);
  if (databaseId !== undefined && isSet("databasePath")) {
    const database = `database ${JSON.stringify(databaseId)}`;
    const read = async () => {
      await client.operations(databasePassword).read(databaseId, { hideCredentials: true });
      return `${accepted}, and has ${database}.`;
    };
    return [await checkRead(subject, `of ${database}`, read)];
  }
  if (databaseId === undefined && isSet("databaseListPath")) {
    const read = async () => {
      const { length } = await client.list(databasePassword);
      return `${accepted}, and lists ${length} ${length === 1 ? "database" : "databases"}.`;
    };
    return [await checkRead(subject, "of the list of databases", read)];
  }
  const how = "of their list (rekey:databaseListPath) or of one (--database <id>, and rekey:databasePath)";
  const untried = `rekey:username and rekey:password were not tried: without a read of databases, ${how}, only a reset would.`;
  return [await checkConnection(settings), unchecked("management credentials", untried)];
}

async function checkConnection(settings: Settings): Promise<Check> {
  const subject = "the connection to rekey:baseUrl";
  try {
    const address = settings.require("baseUrl");
    const proxy = settings.proxyFor(address);
    const connections = new Connections({ proxy, extraCertificates: settings.get("caFile") });
    (await connections.open(new URL(address), { timeoutMs: connectTimeoutMs })).destroy();
    return ok(subject, `A connection to ${address} was opened.`);
  } catch (error) {
    if (error instanceof SettingsError) return wrong(subject, `${error.problem}.`, error.advice);
    if (!(error instanceof ConnectionError)) throw error;
    const { happened, advice } = whyNotSent("management", error);
    return wrong(subject, `The connection failed: ${happened}.`, advice);
  }
}

function checkQueue(settings: Settings, client: PlatformClient): Promise<Check> {
  const isRead = settings.find("queueUserId") !== undefined;
  const token = isRead ? "the token of rekey:queueUserId" : nameOf("queueToken");
  return checkRead("the queue", `with ${token}`, async () => {
    await client.flowControl.globalParallelism();
    return `The queue accepted ${token}.`;
  });
}

/** @param read returns the message for what it has read */
async function checkRead(subject: string, what: string, read: () => Promise<string>): Promise<Check> {
  try {
    return ok(subject, await read());
  } catch (error) {
    if (error instanceof SettingsError) return unchecked(subject, `A read ${what} was not tried: ${error.problem}.`);
    if (!(error instanceof RequestError)) throw error;
    return wrong(subject, `A read ${what} failed: ${error.happened}.`, error.advice);
  }
}
