import { type Settings } from "./settings/settings";
import { Connections } from "./platform/agents";
import { CredentialProbe, type ProbeRequest, type ProbeResult } from "./platform/probe";
import { FlowControl, type QueueResponses, type ResetAction } from "./platform/flowControl";
import { KnownSecrets } from "./platform/redact";
import { RequestQueue } from "./platform/requestQueue";
import {
  HttpRequester,
  managementService,
  type Permission,
  type Requester,
  type RequesterOptions,
  tokenService,
} from "./platform/http";
import { queueToken } from "./platform/queueToken";
import { listAccount, type ListedRecord } from "./platform/accountList";
import { type SecretKind } from "./platform/secretKind";
import { SecretOperations } from "./platform/secretOperations";
import { type Service } from "./platform/failures";
import { type ReadToken, ReadTokenRequester } from "./readTokenRequester";

/** What all requests of a run share. What depends on settings is made when it is first needed. */
interface Shared {
  readonly secrets: KnownSecrets;
  readonly queueToken: ReadToken;
  readonly queueResponses: QueueResponses;
  transport?: { readonly queue: RequestQueue; readonly connections: Connections };
  probe?: CredentialProbe;
  resetAction?: ResetAction;
}

/** The platform's operations, configured by the settings. Each setting is read when it is first needed. */
export class PlatformClient {
  /** @param beforeSend called before a reset or a credential is sent. @throws NotSentError if it must not be sent */
  constructor(
    private readonly settings: Settings,
    private readonly beforeSend?: RequesterOptions["beforeSend"],
    private readonly limitMs = Infinity,
    private readonly shared: Shared = {
      secrets: new KnownSecrets(settings.secrets),
      queueToken: {},
      queueResponses: {},
    },
    private readonly permission: Permission = "nothing",
  ) {}

  /** What no message of this run shows: the secret settings, and the credentials that were read since. */
  get secrets(): KnownSecrets {
    return this.shared.secrets;
  }

  /** The same platform, whose requests fail after a time, if that is earlier than their deadline. */
  within(limitMs: number): PlatformClient {
    return new PlatformClient(
      this.settings,
      this.beforeSend,
      Math.min(limitMs, this.limitMs),
      this.shared,
      this.permission,
    );
  }

  /** The same platform, which may be changed. By default, it may only be read. */
  permitting(permission: Permission): PlatformClient {
    return new PlatformClient(this.settings, this.beforeSend, this.limitMs, this.shared, permission);
  }

  /** The operations on secrets of one kind. @throws SettingsError if a setting is missing or cannot be used. */
  operations(kind: SecretKind): SecretOperations {
    const requester = kind.service === "management" ? this.#toManagement : this.#toQueue;
    const { settings } = this;
    const paths = kind.paths ?? {
      reset: settings.getOrDefault("resetPasswordPath"),
      read: settings.getOrDefault("databasePath"),
    };
    return new SecretOperations(requester, kind, paths);
  }

  /**
   * Lists what has a secret of one kind.
   *
   * @throws SettingsError if a setting is missing or cannot be used
   */
  async list(kind: SecretKind): Promise<ListedRecord[]> {
    const own = kind.paths?.list;
    const path = own ?? this.settings.require("databaseListPath");
    const advice = own === undefined ? "Check rekey:baseUrl and rekey:databaseListPath." : "Check rekey:baseUrl.";
    return listAccount(this.#toManagement, kind, { path, advice });
  }

  /** @throws SettingsError if a setting is missing or cannot be used. */
  get flowControl(): FlowControl {
    return new FlowControl(this.#toQueue, this.#resetAction, this.shared.queueResponses);
  }

  /** Only with the preset does another action take the place of `reset`: a value that is set is used as it is. */
  get #resetAction(): ResetAction {
    const { settings } = this;
    const isOfPreset = settings.find("flowControlResetAction")?.source === "preset";
    const name = settings.getOrDefault("flowControlResetAction");
    return (this.shared.resetAction ??= { name, otherwise: isOfPreset ? "resetRate" : undefined });
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
    return new ReadTokenRequester(shared.queueToken, sources, this.secrets);
  }

  /** Makes the new token of a queue user that of this run, if it is read there. */
  useQueueToken(userId: string, token: string | undefined): void {
    if (this.settings.get("queueUserId") !== userId) return;
    this.shared.queueToken.current = token === undefined ? undefined : Promise.resolve(token);
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
   * Tries a credential once.
   *
   * @throws SettingsError if rekey:proxy or rekey:caFile cannot be used
   */
  probe(request: ProbeRequest): Promise<ProbeResult> {
    this.shared.probe ??= new CredentialProbe({
      proxy: this.settings.get("proxy"),
      extraCertificates: this.settings.get("caFile"),
      secrets: this.secrets,
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
      deadlineMs: Math.min(settings.deadlineMs, this.limitMs),
      secrets: this.secrets,
      permission: this.permission,
      resetHeaders: settings.preset?.resetHeaders,
      ...(this.beforeSend && { beforeSend: this.beforeSend }),
    });
  }
}
