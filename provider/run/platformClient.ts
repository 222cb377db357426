import { AclUsers, type RedisAdmin } from "../clients/aclUsers";
import { listAccount, type ListedRecord, showsEmptyToken } from "../platform/accountList";
import { Connections } from "../platform/connections";
import { FlowControl, type Queue } from "../platform/flowControl";
import {
  HttpRequester,
  type Permission,
  type Requester,
  type RequesterOptions,
  RequestQueue,
  type Service,
} from "../platform/http";
import {
  CredentialProbe,
  type ProbeRequest,
  type ProbeResult,
  type ProgramRequest,
  type StatusResult,
} from "../clients/probe";
import { NextTokens } from "../platform/nextTokens";
import { type QueueUser, ReadTokenRequester } from "../platform/readToken";
import { KnownSecrets } from "../platform/redact";
import { type Path, queueToken, type SecretKind } from "../domain/secretKind";
import { SecretOperations } from "../platform/secretOperations";
import { isSameId } from "../records/fields";
import { type Settings } from "../settings/settings";

/** Objects that all requests of a run share. Those that depend on settings are made when they are first needed. */
interface Shared {
  readonly secrets: KnownSecrets;
  readonly queueUser: QueueUser;
  requestQueue?: RequestQueue;
  connections?: Connections;
  /** The kinds whose responses to resets have shown the id. */
  readonly withId: Set<SecretKind>;
  queue?: Queue;
}

/** The permission of one call of the engine, and the longest time that a request of it may take. */
export interface Call {
  readonly permission?: Permission | undefined;
  readonly limitMs?: number | undefined;
}

/** The `Platform` of a run, configured by the settings. Each setting is read when it is first needed. */
export class PlatformClient {
  /** @param beforeSend called before a reset or a credential is sent. @throws RequestError if it must not be sent */
  constructor(
    private readonly settings: Settings,
    private readonly beforeSend?: RequesterOptions["beforeSend"],
    private readonly call: Call = {},
    private readonly shared: Shared = {
      secrets: new KnownSecrets(settings.secrets),
      queueUser: {},
      withId: new Set(),
    },
  ) {}

  get secrets(): KnownSecrets {
    return this.shared.secrets;
  }

  /** The same platform for one call, which is part of this one. */
  during({ permission = this.call.permission, limitMs = Infinity }: Call): PlatformClient {
    const call = { permission, limitMs: Math.min(limitMs, this.call.limitMs ?? Infinity) };
    return new PlatformClient(this.settings, this.beforeSend, call, this.shared);
  }

  operations(kind: SecretKind): SecretOperations {
    const { reset, read } = kind.paths ?? {};
    const paths = { reset: this.#path(reset), read: this.#path(read) };
    const requester = kind.service === "queue" ? this.#toQueue : this.#toManagement;
    return new SecretOperations(requester, kind, paths, this.shared.withId);
  }

  get nextTokens(): NextTokens {
    return new NextTokens(this.#toManagement);
  }

  async list(kind: SecretKind): Promise<ListedRecord[]> {
    return listAccount(this.#toManagement, kind, this.#path(kind.paths?.list));
  }

  /** True if the API key seems to be read-only: the platform shows it no token of the queue's users. */
  isReadOnly(): Promise<boolean> {
    return showsEmptyToken(this.#toManagement, queueToken, this.#path(queueToken.paths?.list));
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

  #path(path: Path | undefined): string {
    if (path === undefined) throw new Error("the platform has no such operation");
    return typeof path === "string" ? path : this.settings.require(path.setting);
  }

  get #toManagement(): HttpRequester {
    const { settings } = this;
    const baseUrl = settings.require("baseUrl");
    const credentials = `${settings.require("username")}:${settings.require("password")}`;
    const authorization = `Basic ${Buffer.from(credentials).toString("base64")}`;
    return this.#requester({ name: "management", baseUrl, authorization });
  }

  /** With `rekey:queueUserId`, it reads its token. */
  get #toQueue(): Requester {
    const { settings, shared } = this;
    const baseUrl = settings.require("queueUrl");
    const requesterWith = (token: string) =>
      this.#requester({ name: "queue", baseUrl, authorization: `Bearer ${token}` });
    const userId = settings.get("queueUserId");
    if (userId === undefined) return requesterWith(settings.require("queueToken"));
    const sources = { userId, baseUrl, users: this.operations(queueToken), requesterWith };
    return new ReadTokenRequester(shared.queueUser, sources, this.secrets);
  }

  useQueueToken(userId: string, token: string | undefined): void {
    if (!isSameId(this.settings.get("queueUserId") ?? "", userId)) return;
    this.shared.queueUser.current =
      token === undefined ? undefined : Promise.resolve({ credentials: { token } });
  }

  /**
   * A queue in front of the one that all requests share, for callers that decide late whether to send a request. Its
   * concurrency is the same, so that nothing waits in both.
   */
  queueWithin(): RequestQueue {
    return new RequestQueue(this.settings.get("maxConcurrency"));
  }

  probe(request: ProbeRequest): Promise<ProbeResult> {
    return this.#probe.probe(request);
  }

  statusOf(request: ProgramRequest, deadlineMs: number): Promise<StatusResult> {
    return this.#probe.statusOf(request, deadlineMs);
  }

  aclUsers(admin: RedisAdmin): AclUsers {
    return new AclUsers(admin, {
      ...this.#requestOptions,
      connections: this.#connections,
      queue: this.#requestQueue,
    });
  }

  get #probe(): CredentialProbe {
    const { beforeSend, secrets } = this;
    return new CredentialProbe({ connections: this.#connections, secrets, beforeSend });
  }

  #requester(service: Service): HttpRequester {
    return new HttpRequester(service, this.#connections, this.#requestQueue, {
      ...this.#requestOptions,
      resetHeaders: this.settings.preset?.resetHeaders,
    });
  }

  get #requestOptions(): RequesterOptions {
    const { settings, beforeSend, secrets } = this;
    const { permission, limitMs = Infinity } = this.call;
    return { deadlineMs: Math.min(settings.deadlineMs, limitMs), secrets, permission, beforeSend };
  }

  get #requestQueue(): RequestQueue {
    const { settings, shared } = this;
    return (shared.requestQueue ??= new RequestQueue(
      settings.get("maxConcurrency"),
      settings.get("requestsPerSecond"),
    ));
  }

  get #connections(): Connections {
    const { settings, shared } = this;
    return (shared.connections ??= new Connections({
      proxy: settings.get("proxy"),
      extraCertificates: settings.get("caFile"),
    }));
  }
}
