import { PlatformClient } from "../../provider/run/platformClient";
import { type FlowControl } from "../../provider/platform/flowControl";
import { Settings } from "../../provider/settings/settings";
import { type Adapter, Host, type HostOptions, type Result } from "../support/host";
import { type LookupAnswer, patchLookup, preloadOf } from "./network";
import { HttpServer, type ServerOptions } from "../support/httpServer";

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

export interface FixtureOptions extends Pick<HostOptions, "preload"> {
  readonly server?: ServerOptions;
  /** Settings in addition to the addresses and credentials, or instead of them. */
  readonly settings?: (server: HttpServer, fixture: Fixture) => SettingValues | Promise<SettingValues>;
  /** The lookup result for every host name that ends in `.test`. */
  readonly lookup?: LookupAnswer;
  /** Default: 60, which no fault uses up, however busy the machine is. */
  readonly deadlineSeconds?: number;
}

/** A platform, the process of an adapter that is configured for it, and a program that reads from it. */
export class Fixture {
  server!: HttpServer;
  host!: Host;
  deadlineSeconds = 60;
  #values!: SettingValues;
  #flowControl: FlowControl | undefined;
  readonly #open: { close(): unknown }[] = [];

  constructor(readonly adapter: Adapter) {}

  /** Starts the platform and the adapter. */
  async start({ deadlineSeconds = 60, ...options }: FixtureOptions = {}): Promise<this> {
    this.deadlineSeconds = deadlineSeconds;
    this.server = this.closes(await HttpServer.start(options.server));
    const { url } = this.server;
    this.#values = {
      baseUrl: url,
      queueUrl: url,
      ...credentials,
      deadlineSeconds,
      maxConcurrency: 200,
      ...(await options.settings?.(this.server, this)),
    };
    const preload = [options.preload, options.lookup && preloadOf(options.lookup)].filter(Boolean).join("\n");
    this.host = await this.startHost({ settings: this.#values, preload });
    if (options.lookup && this.adapter === "dynamic") this.closes({ close: patchLookup(options.lookup) });
    return this;
  }

  /** Starts another process of the adapter. */
  async startHost(options: HostOptions): Promise<Host> {
    const host = await Host.start({ adapter: this.adapter, ...options });
    this.closes({ close: () => host.stop() });
    return host;
  }

  /** Starts the process of the next run, without `preload`. */
  nextRun(): Promise<Host> {
    return this.startHost({ settings: this.#values });
  }

  /** Reads a flow-control key: the dynamic adapter has no functions, so a program reads in its own process. */
  read(key: string): Promise<Result> {
    if (this.adapter === "plugin") return this.host.invoke("getFlowControlKey", { flowControlKey: key });
    this.#flowControl ??= new PlatformClient(new Settings((name) => this.#values[name]?.toString())).flowControl;
    return this.#flowControl.get(key).then(
      (read): Result => ({ kind: "done", id: "", outs: { ...read } }),
      (error: Error): Result => ({ kind: "failed", message: error.message }),
    );
  }

  /** Closes this with the fixture, before what was started earlier. */
  closes<T extends { close(): unknown }>(one: T): T {
    this.#open.push(one);
    return one;
  }

  async close(): Promise<void> {
    for (const one of this.#open.reverse()) await one.close();
  }
}
