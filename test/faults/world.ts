import { PlatformClient } from "../../provider/api/platformClient";
import { type FlowControl } from "../../provider/api/flowControl";
import { Settings } from "../../provider/settings";
import { configuration, Host, type HostOptions } from "../support/host";
import { type LookupAnswer, patchLookup, preloadOf } from "./nameService";
import { bodyOf } from "./platformBodies";
import { RawServer, type ServerOptions } from "./rawServer";

const credentials = {
  username: "owner@example.com",
  password: "canary-management-password",
  queueToken: "canary-queue-token",
};

/** In whatever form a message could show a secret. */
const encoded = Buffer.from(`${credentials.username}:${credentials.password}`).toString("base64");
export const forbidden = [
  credentials.password,
  credentials.queueToken,
  encoded,
  "former-password",
  "former-token",
  "canary-proxy-password",
];

type SettingValues = Record<string, string | number | undefined>;

export interface WorldOptions extends Pick<HostOptions, "preload"> {
  readonly server?: Partial<ServerOptions>;
  /** Settings in addition to the addresses and credentials, or instead of them. */
  readonly settings?: (server: RawServer) => SettingValues | Promise<SettingValues>;
  /** The lookup result for every host name that ends in `.test`. */
  readonly lookup?: LookupAnswer;
  /** Default: 4, time enough for three tries. */
  readonly deadlineSeconds?: number;
  /** What to end with the world. */
  readonly close?: () => Promise<void>;
}

/** A platform, a provider host that was told of it, and a program that reads from it. */
export class World {
  private constructor(
    readonly server: RawServer,
    readonly host: Host,
    /** As a program's data sources use it, in their own process. */
    readonly flowControl: FlowControl,
    readonly deadlineSeconds: number,
    private readonly closeMore: () => Promise<void>,
  ) {}

  static async start({ deadlineSeconds = 4, ...options }: WorldOptions = {}): Promise<World> {
    const server = await RawServer.start({ bodyOf, ...options.server });
    const url = `${options.server?.tls ? "https" : "http"}://127.0.0.1:${server.port}`;
    const settings: SettingValues = {
      baseUrl: url,
      queueUrl: url,
      ...credentials,
      deadlineSeconds,
      maxConcurrency: 200,
      ...(await options.settings?.(server)),
    };
    const preload = [options.preload, options.lookup && preloadOf(options.lookup)].filter(Boolean).join("\n");
    const host = await Host.start({ config: configuration(settings), preload, patience: 120_000 });
    const restore = options.lookup ? patchLookup(options.lookup) : undefined;
    const lookup = (name: string) => (settings[name] === undefined ? undefined : String(settings[name]));
    const { flowControl } = new PlatformClient(new Settings(lookup));
    return new World(server, host, flowControl, deadlineSeconds, async () => {
      restore?.();
      await options.close?.();
    });
  }

  async close(): Promise<void> {
    await this.host.stop();
    await this.server.close();
    await this.closeMore();
  }
}
