import { listAccount, type ListedRecord } from "./platform/accountList";
import { Connections } from "./platform/connections";
import { FlowControl, type Queue } from "./platform/flowControl";
import {
  HttpRequester,
  managementService,
  type Permission,
  type Requester,
  type RequesterOptions,
  type Service,
  tokenService,
} from "./platform/http";
import { CredentialProbe, type ProbeRequest, type ProbeResult } from "./platform/probe";
import { queueToken } from "./platform/queueToken";
import { KnownSecrets } from "./platform/redact";
import { RequestQueue } from "./platform/requestQueue";
import { type SecretKind } from "./platform/secretKind";
import { SecretOperations } from "./platform/secretOperations";
import { type ReadUser, ReadTokenRequester } from "./readTokenRequester";
import { type Settings } from "./settings/settings";

/** What all requests of a run share. What depends on settings is made when it is first needed. */
interface Shared {
  readonly secrets: KnownSecrets;
  readonly queueUser: ReadUser;
  requests?: { readonly queue: RequestQueue; readonly connections: Connections };
  probe?: CredentialProbe;
  queue?: Queue;
}

/** What one call of the engine may send, and the longest time that a request of it may take. */
interface Call {
  readonly permission?: Permission;
  readonly limitMs?: number;
}

/** The `Platform` of a run, configured by the settings. Each setting is read when it is first needed. */
export class PlatformClient {
  /** @param beforeSend called before a reset or a credential is sent. @throws RequestError if it must not be sent */
  constructor(
    private readonly settings: Settings,
    private readonly beforeSend?: RequesterOptions["beforeSend"],
    private readonly call: Call = {},
    private readonly shared: Shared = { secrets: new KnownSecrets(settings.secrets), queueUser: {} },
  ) {}

  get secrets(): KnownSecrets {
    return this.shared.secrets;
  }

  within(limitMs: number): PlatformClient {
    return this.#during({ ...this.call, limitMs: Math.min(limitMs, this.call.limitMs ?? Infinity) });
  }

  permitting(permission: Permission): PlatformClient {
    return this.#during({ ...this.call, permission });
  }

  #during(call: Call): PlatformClient {
    return new PlatformClient(this.settings, this.beforeSend, call, this.shared);
  }

  operations(kind: SecretKind): SecretOperations {
    const { settings } = this;
    const requester = kind.service === "management" ? this.#toManagement : this.#toQueue;
    const paths = kind.paths ?? {
      reset: settings.get("resetPasswordPath"),
      read: settings.get("databasePath"),
    };
    return new SecretOperations(requester, kind, paths);
  }

  async list(kind: SecretKind): Promise<ListedRecord[]> {
    const path = kind.paths?.list ?? this.settings.require("databaseListPath");
    return listAccount(this.#toManagement, kind, path);
  }

  get flowControl(): FlowControl {
    const { settings, shared } = this;
    // Only with the preset does another action take its place: a value that is set is used as it is.
    const isOfPreset = settings.find("flowControlResetAction")?.source === "preset";
    const requester = this.#toQueue;
    shared.queue ??= {
      resetAction: settings.get("flowControlResetAction"),
      otherAction: isOfPreset ? "resetRate" : undefined,
    };
    return new FlowControl(requester, shared.queue);
  }

  get #toManagement(): HttpRequester {
    const { settings } = this;
    return this.#requester(
      managementService(settings.require("baseUrl"), settings.require("username"), settings.require("password")),
    );
  }

  /** With `rekey:queueUserId`, it reads its token. */
  get #toQueue(): Requester {
    const { settings, shared } = this;
    const baseUrl = settings.require("queueUrl");
    const requesterWith = (token: string) => this.#requester(tokenService("queue", baseUrl, token));
    const userId = settings.get("queueUserId");
    if (userId === undefined) return requesterWith(settings.require("queueToken"));
    const sources = { userId, baseUrl, users: this.operations(queueToken), requesterWith };
    return new ReadTokenRequester(shared.queueUser, sources, this.secrets);
  }

  useQueueToken(userId: string, token: string | undefined): void {
    if (this.settings.get("queueUserId") !== userId) return;
    this.shared.queueUser.current = token === undefined ? undefined : Promise.resolve({ credentials: { token } });
  }

  /**
   * A queue in front of the one that all requests share, for callers that decide late whether to send a request. Its
   * concurrency is never higher, so that nothing waits in both.
   */
  queueWithin(concurrency = Infinity): RequestQueue {
    const maxConcurrency = Math.min(concurrency, this.settings.get("maxConcurrency"));
    return new RequestQueue({ maxConcurrency });
  }

  probe(request: ProbeRequest): Promise<ProbeResult> {
    this.shared.probe ??= new CredentialProbe({
      proxy: this.settings.get("proxy"),
      extraCertificates: this.settings.get("caFile"),
      secrets: this.secrets,
      beforeSend: this.beforeSend,
    });
    return this.shared.probe.probe(request);
  }

  #requester(service: Service): HttpRequester {
    const { settings, shared, beforeSend, secrets } = this;
    const { permission, limitMs = Infinity } = this.call;
    const proxy = settings.proxyFor(service.baseUrl);
    const { queue, connections } = (shared.requests ??= {
      queue: new RequestQueue({
        maxConcurrency: settings.get("maxConcurrency"),
        requestsPerSecond: settings.get("requestsPerSecond"),
      }),
      connections: new Connections({ proxy, extraCertificates: settings.get("caFile") }),
    });
    return new HttpRequester(service, connections, queue, {
      deadlineMs: Math.min(settings.deadlineMs, limitMs),
      secrets,
      ...(permission && { permission }),
      resetHeaders: settings.preset?.resetHeaders,
      beforeSend,
    });
  }
}
