import { RequestError, SettingsError } from "../platform/errors";
import { whyNotSent } from "../platform/failures";
import { idProblem } from "../records/fields";
import { type PlatformClient } from "../platformClient";
import { type Settings } from "../settings/settings";
import { nameOf } from "../settings/table";
import { type Check, ok, unchecked, wrong } from "./check";
import { errorOf, usable } from "./settings";
import { databasePassword } from "../rotation/kinds/databasePassword";
import { Connections } from "../platform/connections";
import { ConnectionError } from "../platform/openConnection";

const connectTimeoutMs = 10_000;

/**
 * Checks the connections to the platform. The only requests that are sent are reads: one of the queue, one of its user
 * if that has its token, and one of a database or of their list.
 *
 * @param databaseId the database to read, without its credentials; their list, if the platform has one, if undefined
 */
export async function checkPlatform(settings: Settings, databaseId?: string): Promise<Check[]> {
  const management = await checkAddress("baseUrl", "password", settings);
  const source = settings.find("queueUserId") ? "queueUserId" : "queueToken";
  const queue = await checkAddress("queueUrl", source, settings);
  const hasCredentials = usable(settings, "username") !== undefined && usable(settings, "password") !== undefined;
  const isReachable = management?.state === "ok";
  return [
    ...(management ? [management] : []),
    ...(hasCredentials && isReachable ? [await checkDatabase(settings, databaseId)] : []),
    ...(queue ? [queue] : []),
    ...(queue?.state === "ok" && usable(settings, source) ? [await checkToken(settings, source)] : []),
  ];
}

async function checkAddress(
  name: "baseUrl" | "queueUrl",
  credential: "password" | "queueToken" | "queueUserId",
  settings: Settings,
): Promise<Check | undefined> {
  const address = usable(settings, name);
  if (address === undefined || errorOf("proxy", settings) || errorOf("caFile", settings)) return undefined;
  // A preset sets both addresses, even if the project uses only one of the interfaces.
  if (settings.find(name)?.source === "preset" && !usable(settings, credential)) return undefined;
  const subject = `the connection to ${nameOf(name)}`;
  try {
    const proxy = settings.proxyFor(address);
    const connections = new Connections({ proxy, extraCertificates: settings.get("caFile") });
    (await connections.open(new URL(address), { timeoutMs: connectTimeoutMs })).destroy();
    const how = `${address.startsWith("https:") ? "with TLS" : "without TLS, on this machine"}${proxy === undefined ? "" : ", through the proxy"}`;
    return ok(subject, `A connection to ${address} was opened ${how}.`);
  } catch (error) {
    if (error instanceof SettingsError) return wrong(subject, `${error.problem}.`, error.advice);
    if (!(error instanceof ConnectionError)) throw error;
    const service = name === "baseUrl" ? "management" : "queue";
    const { happened, advice } = whyNotSent(service, error);
    return wrong(subject, `Could not connect to ${address}: ${happened}.`, advice);
  }
}

async function checkDatabase(settings: Settings, databaseId: string | undefined): Promise<Check> {
  const credentials = "rekey:username and rekey:password";
  const canRead = errorOf("databasePath", settings) !== undefined || settings.getOrDefault("databasePath") !== "none";
  if (databaseId === undefined) {
    const subject = "management credentials";
    if (usable(settings, "databaseListPath") !== undefined) {
      return checkRead(settings, {
        subject,
        what: "of the list of databases",
        read: (client) => client.list(databasePassword),
        succeeded: ({ length }) =>
          `The platform accepted ${credentials}, and lists ${length} ${length === 1 ? "database" : "databases"}.`,
      });
    }
    const why = canRead
      ? "were not tried: with --database <id>, a database is read with them"
      : "cannot be checked: only a reset needs them, and it would change the password";
    return unchecked(subject, `${credentials} ${why}.`);
  }
  const notAnId = idProblem(databaseId);
  if (notAnId !== undefined) {
    return wrong("--database", `--database ${notAnId}.`, "Name the id that the platform's console shows.");
  }
  const subject = `database ${JSON.stringify(databaseId)}`;
  if (!canRead) {
    const problem = `rekey:databasePath is not set or is none, so ${subject} cannot be read, and ${credentials} cannot be checked.`;
    return unchecked(subject, problem);
  }
  return checkRead(settings, {
    subject,
    what: `of ${subject}`,
    read: (client) => client.operations(databasePassword).read(databaseId, { hideCredentials: true }),
    succeeded: () => `The platform accepted ${credentials}, and has ${subject}.`,
  });
}

/** @param source the setting that is the token, or with which it is read */
function checkToken(settings: Settings, source: "queueToken" | "queueUserId"): Promise<Check> {
  const token = source === "queueToken" ? nameOf(source) : `the token of ${nameOf(source)}`;
  return checkRead(settings, {
    subject: "the queue's token",
    what: `with ${token}`,
    read: ({ flowControl }) => flowControl.globalParallelism(),
    succeeded: () => `The queue accepted ${token}.`,
  });
}

interface Read<T> extends Readonly<Record<"subject" | "what", string>> {
  readonly read: (client: PlatformClient) => Promise<T>;
  /** The message for what was read. */
  readonly succeeded: (result: T) => string;
}

async function checkRead<T>(settings: Settings, { subject, what, read, succeeded }: Read<T>): Promise<Check> {
  // Loaded only here: loading an HTTP client is slow.
  const { PlatformClient } = require("../platformClient") as typeof import("../platformClient");
  try {
    return ok(subject, succeeded(await read(new PlatformClient(settings))));
  } catch (error) {
    if (error instanceof SettingsError) return unchecked(subject, `A read ${what} was not tried: ${error.problem}.`);
    if (!(error instanceof RequestError)) throw error;
    return wrong(subject, `A read ${what} failed: ${error.happened}.`, error.advice);
  }
}
