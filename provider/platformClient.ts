import { advise, deadlineName } from "./settings/advice";
import { type Settings } from "./settings/settings";
import { Connections } from "./platform/agents";
import { DatabaseProbe, type ProbeRequest, type ProbeResult } from "./platform/probe";
import { Databases } from "./platform/databases";
import { FlowControl } from "./platform/flowControl";
import { KnownSecrets } from "./platform/redact";
import { RequestQueue } from "./platform/requestQueue";
import { HttpRequester, managementService, type RequesterOptions, tokenService } from "./platform/http";
import { type Service } from "./platform/failures";

/** What all requests of a run share. What depends on settings is made when it is first needed. */
interface Shared {
  readonly secrets: KnownSecrets;
  transport?: { readonly queue: RequestQueue; readonly connections: Connections };
  probe?: DatabaseProbe;
}

/** The platform's operations, configured by the settings. Each setting is read when it is first needed. */
export class PlatformClient {
  #databases: Databases | undefined;
  #flowControl: FlowControl | undefined;

  /** @param beforeSend called before a reset or a credential is sent. @throws NotSentError if it must not be sent */
  constructor(
    private readonly settings: Settings,
    private readonly beforeSend?: RequesterOptions["beforeSend"],
    private readonly limitMs = Infinity,
    private readonly shared: Shared = { secrets: new KnownSecrets(settings.secrets) },
  ) {}

  /** What no message of this run shows: the secret settings, and the credentials that were read since. */
  get secrets(): KnownSecrets {
    return this.shared.secrets;
  }

  /** The same platform, whose requests fail after a time, if that is earlier than their deadline. */
  within(limitMs: number): PlatformClient {
    return new PlatformClient(this.settings, this.beforeSend, limitMs, this.shared);
  }

  /** @throws SettingsError if a setting is missing or cannot be used. */
  get databases(): Databases {
    return (this.#databases ??= this.#createDatabases());
  }

  /** Makes sure that resets can be sent. @throws SettingsError if a setting is missing or cannot be used. */
  prepareResets(): void {
    this.#databases ??= this.#createDatabases();
  }

  #createDatabases(): Databases {
    return new Databases(
      this.#requester(
        managementService(
          this.settings.require("baseUrl"),
          this.settings.require("username"),
          this.settings.require("password"),
        ),
      ),
      this.settings.getOrDefault("resetPasswordPath"),
      this.settings.getOrDefault("databasePath"),
    );
  }

  /** @throws SettingsError if a setting is missing or cannot be used. */
  get flowControl(): FlowControl {
    return (this.#flowControl ??= new FlowControl(
      this.#requester(tokenService("queue", this.settings.require("queueUrl"), this.settings.require("queueToken"))),
      this.settings.getOrDefault("flowControlResetAction"),
    ));
  }

  /**
   * A queue in front of the one that all requests share, for callers that decide late whether to send a request. Its
   * concurrency is never higher, so that nothing waits in both.
   *
   * @throws SettingsError if rekey:maxConcurrency cannot be used.
   */
  queueWithin(concurrency = Infinity): RequestQueue {
    return new RequestQueue({ maxConcurrency: Math.min(concurrency, this.#maxConcurrency) });
  }

  /**
   * Tries a credential at a database.
   *
   * @throws SettingsError if rekey:proxy or rekey:caFile cannot be used
   */
  probe(request: ProbeRequest): Promise<ProbeResult> {
    this.shared.probe ??= new DatabaseProbe({
      proxy: this.settings.get("proxy"),
      extraCertificates: this.settings.get("caFile"),
      secrets: this.secrets,
      advise,
      beforeSend: this.beforeSend,
    });
    return this.shared.probe.probe(request);
  }

  get #maxConcurrency(): number {
    return this.settings.getOrDefault("maxConcurrency");
  }

  #requester(service: Service): HttpRequester {
    const { settings } = this;
    const maxConcurrency = this.#maxConcurrency;
    const proxy = settings.proxyFor(service.baseUrl);
    this.shared.transport ??= {
      queue: new RequestQueue({ maxConcurrency, requestsPerSecond: settings.get("requestsPerSecond") }),
      connections: new Connections({ proxy, extraCertificates: settings.get("caFile") }),
    };
    return new HttpRequester(service, this.shared.transport.connections, this.shared.transport.queue, {
      deadlineMs: Math.min(settings.getOrDefault("deadlineSeconds") * 1000, this.limitMs),
      deadlineName,
      advise,
      secrets: this.secrets,
      ...(this.beforeSend && { beforeSend: this.beforeSend }),
    });
  }
}
