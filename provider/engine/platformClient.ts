import { advise, deadlineName } from "../settings/advice";
import { type Settings } from "../settings/settings";
import { Connections } from "../platform/sockets";
import { DatabaseProbe, type ProbeRequest, type ProbeResult } from "../verification/probe";
import { Databases } from "../platform/databases";
import { FlowControl } from "../platform/flowControl";
import { KnownSecrets } from "../platform/redact";
import { RequestQueue, ResetCount } from "../platform/requestQueue";
import { HttpRequester, managementService, type RequesterOptions, tokenService } from "../platform/http";
import { type Service } from "../platform/failures";

/** The platform's operations, configured by the settings. Each setting is read when it is first needed. */
export class PlatformClient {
  #databases: Databases | undefined;
  #flowControl: FlowControl | undefined;
  #probe: DatabaseProbe | undefined;
  readonly #resets = new ResetCount();
  #shared: { queue: RequestQueue; connections: Connections } | undefined;

  /** What no message of this run shows: the secret settings, and the credentials that were read since. */
  readonly secrets: KnownSecrets;

  constructor(
    private readonly settings: Settings,
    private readonly beforeReset?: RequesterOptions["beforeReset"],
  ) {
    this.secrets = new KnownSecrets(settings.secrets);
  }

  /** @throws SettingsError if a setting is missing or cannot be used. */
  get databases(): Databases {
    return (this.#databases ??= new Databases(
      this.#requester(
        managementService(
          this.settings.require("baseUrl"),
          this.settings.require("username"),
          this.settings.require("password"),
        ),
      ),
      this.settings.getOrDefault("resetPasswordPath"),
      this.settings.getOrDefault("databasePath"),
    ));
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
    return new RequestQueue({ maxConcurrency: Math.min(concurrency, this.#maxConcurrency) }, this.#resets);
  }

  /**
   * Tries a credential at a database.
   *
   * @throws SettingsError if rekey:proxy or rekey:caFile cannot be used
   */
  readonly probe = (request: ProbeRequest): Promise<ProbeResult> => {
    this.#probe ??= new DatabaseProbe({
      proxy: this.settings.get("proxy"),
      extraCertificates: this.settings.get("caFile"),
      secrets: this.secrets,
      advise,
      beforeProbe: this.beforeReset,
    });
    return this.#probe.probe(request);
  };

  get #maxConcurrency(): number {
    return this.settings.getOrDefault("maxConcurrency");
  }

  #requester(service: Service): HttpRequester {
    const { settings } = this;
    const maxConcurrency = this.#maxConcurrency;
    const proxy = settings.proxyFor(service.baseUrl);
    this.#shared ??= {
      queue: new RequestQueue({ maxConcurrency, requestsPerSecond: settings.get("requestsPerSecond") }, this.#resets),
      connections: new Connections({ proxy, extraCertificates: settings.get("caFile"), maxConcurrency }, this.#resets),
    };
    return new HttpRequester(service, this.#shared.connections, this.#shared.queue, {
      deadlineMs: settings.getOrDefault("deadlineSeconds") * 1000,
      deadlineName,
      advise,
      secrets: this.secrets,
      ...(this.beforeReset && { beforeReset: this.beforeReset }),
    });
  }
}
