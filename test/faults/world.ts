import { PlatformClient } from "../../provider/engine/platformClient";
import { type FlowControl } from "../../provider/platform/flowControl";
import { Settings } from "../../provider/settings/settings";
import { configuration, Host, type HostOptions, type Result } from "../support/host";
import { type LookupAnswer, patchLookup, preloadOf } from "./nameService";
import { bodyOf } from "./platformBodies";
import { RawServer, type ServerOptions } from "./rawServer";

const credentials = {
  username: "owner@example.com",
  password: "canary-management-password",
  queueToken: "canary-queue-token",
};

/** What no adapter may show, in any form. */
export const canaries = {
  "management password": credentials.password,
  "queue token": credentials.queueToken,
  "former password": "former-password",
  "former token": "former-token",
  "proxy password": "canary-proxy-password",
};

type SettingValues = Record<string, string | number | undefined>;

export interface WorldOptions extends Pick<HostOptions, "adapter" | "preload"> {
  readonly server?: Partial<ServerOptions>;
  /** Settings in addition to the addresses and credentials, or instead of them. */
  readonly settings?: (server: RawServer) => SettingValues | Promise<SettingValues>;
  /** The lookup result for every host name that ends in `.test`. */
  readonly lookup?: LookupAnswer;
  /** Default: 60, which no fault uses up, however busy the machine is. */
  readonly deadlineSeconds?: number;
  /** What to end with the world. */
  readonly close?: () => Promise<void>;
}

/** A platform, the process of an adapter that is configured for it, and a program that reads from it. */
export class World {
  private constructor(
    readonly server: RawServer,
    readonly host: Host,
    private readonly flowControl: FlowControl,
    readonly deadlineSeconds: number,
    private readonly closeMore: () => Promise<void>,
  ) {}

  static async start({ adapter, deadlineSeconds = 60, ...options }: WorldOptions = {}): Promise<World> {
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
    const host = await Host.start({ adapter, config: configuration(settings), preload, timeoutMs: 120_000 });
    const restore = options.lookup && host.adapter === "dynamic" ? patchLookup(options.lookup) : undefined;
    const lookup = (name: string) => (settings[name] === undefined ? undefined : String(settings[name]));
    const { flowControl } = new PlatformClient(new Settings(lookup));
    return new World(server, host, flowControl, deadlineSeconds, async () => {
      restore?.();
      await options.close?.();
    });
  }

  /** Reads a flow-control key: the dynamic adapter has no functions, so a program reads in its own process. */
  read(key: string): Promise<Result> {
    if (this.host.adapter === "plugin") return this.host.invoke("getFlowControlKey", { flowControlKey: key });
    return this.flowControl.get(key).then(
      (read): Result => ({ kind: "done", id: "", outs: { ...read } }),
      (error: Error): Result => ({ kind: "failed", message: error.message }),
    );
  }

  async close(): Promise<void> {
    await this.host.stop();
    await this.server.close();
    await this.closeMore();
  }
}
