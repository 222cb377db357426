import { setImmediate as nextTurn, setTimeout as wait } from "node:timers/promises";
import { databasePassword } from "../../../provider/domain/secretKind";
import { PlatformClient } from "../../../provider/run/platformClient";
import { type RequesterOptions } from "../../../provider/platform/http";
import { Settings } from "../../../provider/settings/settings";
import { type SettingName } from "../../../provider/settings/table";
import { Proxy, type ProxyBehaviour } from "../../faults/network";
import { HttpServer, type ServerOptions } from "../../support/httpServer";

/** For a suite that retries over real sockets: no backoff, and each test closes what it opened. */
export function withRealSockets() {
  const { random } = Math;
  before(() => (Math.random = () => 0));
  after(() => (Math.random = random));
  const opened: { close(): Promise<unknown> }[] = [];
  afterEach(async () => {
    for (const one of opened.splice(0)) await one.close();
  });

  function closes<T extends { close(): Promise<unknown> }>(one: T): T {
    opened.push(one);
    return one;
  }
  return {
    closes,
    startServer: async (options?: ServerOptions) => closes(await HttpServer.start(options)),
    startProxy: async (behaviour?: ProxyBehaviour) => closes(await Proxy.start(behaviour)),
  };
}

/** A client of a platform with both interfaces at that address. */
export function clientOf(
  url: string,
  settings: Partial<Record<SettingName, string>> = {},
  beforeSend?: RequesterOptions["beforeSend"],
): PlatformClient {
  const values = { baseUrl: url, queueUrl: url, username: "ops", password: "pä:ss", queueToken: "token", ...settings };
  const client = new PlatformClient(new Settings((name) => (values as typeof settings)[name]), beforeSend);
  return client.during({ permission: "resets" });
}

/** A reset and a read by such a client. */
export function requestsOf(...given: Parameters<typeof clientOf>) {
  const client = clientOf(...given);
  return {
    reset: (id = "db", options = {}) => client.operations(databasePassword).reset(id, options),
    read: (key = "orders") => client.flowControl.get(key),
  };
}

/** Resolves when this process has seen what was sent on a connection, or that it was cut. */
export async function seen(): Promise<void> {
  await wait(50);
  // After a long pause of this process, its timers come before its sockets.
  await nextTurn();
}

export const plain = ({ port }: { port: number }) => `http://127.0.0.1:${port}`;
export const secure = ({ port }: { port: number }) => `https://127.0.0.1:${port}`;
