import {
  type AxiosError,
  AxiosHeaders,
  type AxiosPromise,
  getAdapter,
  type InternalAxiosRequestConfig,
} from "axios";
import { setImmediate as nextTurn } from "node:timers/promises";
import PQueue from "p-queue";
import { pathPartProblem } from "../records/fields";
import { type Connection, ConnectionError, type Connections } from "./connections";
import { InputError, RequestError, type RequestFacts } from "../domain/errors";
import { errorOf, type ServiceName } from "./failures";
import { packageVersion } from "../domain/ownPackage";
import { type KnownSecrets } from "./redact";
import { decideRetry, deliveryOfFailure, type Failure, readRetryAfter } from "./retry";

/** The receiver of requests: one of the platform's two services, or a database. */
export interface Service {
  readonly name: ServiceName;
  /** Address without a trailing slash. */
  readonly baseUrl: string;
  /** Undefined if a credential is elsewhere in its requests. */
  readonly authorization?: string | undefined;
}

export interface ApiRequest
  extends Pick<RequestFacts, "purpose" | "toCheck">, Partial<Pick<RequestFacts, "consequences">> {
  readonly method: "GET" | "POST";
  /** A POST may be delivered twice without harm. Default: it is not repeated once it may have arrived. */
  readonly idempotent?: boolean;
  /** It changes a secret: it needs what a reset needs, although it may be repeated. Default: `!idempotent`. */
  readonly changesSecret?: boolean;
  /** Sent as JSON. */
  readonly body?: object;
  /** Path below the service's address, its parts already encoded, without a query: it is sent, and shown in errors. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>> | URLSearchParams;
  /** In addition to those that every request has, or instead of them. They are never shown. */
  readonly headers?: Readonly<Record<string, string>>;
  /** It needs a new connection, because its response may not show to which request it belongs. */
  readonly newConnection?: boolean;
  /** A status counts as a response, whatever follows it. */
  readonly isStatusEnough?: boolean;
  /** The response is a list, which may be larger than a record. */
  readonly isList?: boolean;
}

/** A 2xx response. Its body is unparsed text, which the caller parses. */
export interface ApiResponse {
  readonly status: number;
  readonly body: string;
  /** Details of the request, for errors about this response. */
  readonly facts: RequestFacts;
  readonly service: ServiceName;
  /**
   * A reused one has carried another request, of which this may be a response. It is closed unless the caller
   * recognizes the response as the one to this request.
   */
  readonly connection: Pick<Connection, "isReused" | "isRecognized">;
}

/**
 * The requests that a call of the engine may send in addition to reads: `nothing`; `limits`, which includes all that
 * may be repeated; or `resets`, which includes resets of secrets.
 */
export type Permission = "nothing" | "limits" | "resets";

/** Sends requests to one service of the platform. */
export interface Requester {
  /** Secrets that its errors never show. */
  readonly secrets: KnownSecrets;
  /** @throws RequestError for any response but 2xx, and for none. */
  send(request: ApiRequest): Promise<ApiResponse>;
}

export interface RequesterOptions {
  /** Secrets that errors never show, whichever service repeats them. */
  readonly secrets: KnownSecrets;
  /** The requests that it may send in addition to reads. Default: nothing. */
  readonly permission?: Permission | undefined;
  /** Milliseconds until a request fails, retries included, from its first attempt. */
  readonly deadlineMs: number;
  /**
   * Called immediately before the first byte of a request that changes a secret, when its connection is ready;
   * throws a RequestError if the request must not be sent.
   */
  readonly beforeSend?: ((facts: RequestFacts) => Promise<void>) | undefined;
  /**
   * Headers with which the platform says when it accepts requests again, in Unix seconds, if it sends no `Retry-After`.
   * The first one with a time to come counts. Default: none.
   */
  readonly resetHeaders?: readonly string[] | undefined;
}

/** Axios without its interceptors and defaults: those of the program would see our secrets, and they take time. */
const httpAdapter = getAdapter("http") as (
  config: InternalAxiosRequestConfig,
) => AxiosPromise<string>;

/** Bytes of the largest bodies that are read, decompressed. */
const maxRecordBytes = 1024 * 1024;
const maxListBytes = 16 * maxRecordBytes;
/** Turns of the event loop in which what arrived before a deadline is read. Each of them reads a chunk of 64 kB. */
const turnsAfterDeadline = 100;

/**
 * The only module that sends HTTP requests. It throws no axios error: those contain the request's headers and so
 * secrets.
 */
export class HttpRequester implements Requester {
  constructor(
    private readonly service: Service,
    private readonly connections: Connections,
    private readonly queue: RequestQueue,
    private readonly options: RequesterOptions,
  ) {}

  get secrets(): KnownSecrets {
    return this.options.secrets;
  }

  async send(request: ApiRequest): Promise<ApiResponse> {
    const facts = factsOf(request, this.service.baseUrl);
    const { deadlineMs, permission = "nothing" } = this.options;
    const isPermitted = permission === "limits" ? !changesSecret(request) : permission === "resets";
    if (request.method !== "GET" && !isPermitted) throw notPermitted(facts);
    let endsAtMs: number | undefined;
    for (let attempt = 1; ; attempt++) {
      const turn = async () => {
        endsAtMs ??= performance.now() + deadlineMs;
        const result = await this.#attempt(request, facts, endsAtMs);
        if ("facts" in result) return result;
        const remainingMs = endsAtMs - performance.now();
        const failed = { ...result, attempt, idempotent: isIdempotent(request), remainingMs };
        const retry = decideRetry(failed, Math.random());
        if (!retry) throw errorOf(facts, this.service.name, failed, this.secrets);
        // Before this task ends, because the next one would start.
        if (retry.appliesToAll) this.queue.pauseFor(retry.waitMs);
        return retry;
      };
      const result = await this.queue.run(turn, { isRetry: attempt > 1 });
      if ("facts" in result) return result;
      if (!result.appliesToAll) await new Promise((resolve) => setTimeout(resolve, result.waitMs));
    }
  }

  async #attempt(
    request: ApiRequest,
    facts: RequestFacts,
    endsAtMs: number,
  ): Promise<ApiResponse | Failure> {
    const { name: service } = this.service;
    const { beforeSend } = this.options;
    let connection: Connection;
    try {
      connection = await this.connections.take(new URL(facts.url), {
        endsAtMs,
        isNew: request.newConnection === true,
        beforeSend: changesSecret(request) ? async () => beforeSend?.(facts) : undefined,
      });
    } catch (error) {
      if (!(error instanceof ConnectionError)) throw error;
      return { delivery: "not sent", code: error.code, proxy: error.proxy };
    }
    const loss = lossOf(connection, endsAtMs);
    try {
      const { status, data, headers } = await Promise.race([
        this.#exchange(request, facts.url, connection),
        loss.lost,
      ]);
      if (isSuccess(status)) return { status, body: data, facts, service, connection };
      const sent = headers as Partial<Record<string, string>>;
      const retryAfterMs = readRetryAfter(
        sent,
        Date.now(),
        status === 429 ? this.options.resetHeaders : [],
      );
      return { delivery: deliveryOfFailure(status), status, body: data, retryAfterMs };
    } catch (error) {
      connection.close();
      if (request.isStatusEnough && connection.status !== undefined) {
        return { status: connection.status, body: "", facts, service, connection };
      }
      const { message, code } = error as AxiosError;
      const isTooLarge = message.startsWith("maxContentLength");
      const { status = 200, isSent } = connection;
      // Of an error, only what the page says is not known.
      if (isTooLarge && !isSuccess(status)) return { delivery: deliveryOfFailure(status), status };
      const delivery = isSent ? "maybe applied" : "not sent";
      return { delivery, code: isTooLarge ? "too large" : code };
    } finally {
      loss.stop();
    }
  }

  #exchange(request: ApiRequest, url: string, connection: Connection) {
    const { method, query, headers, body, isList } = request;
    const { authorization } = this.service;
    return httpAdapter({
      method,
      url,
      params: query,
      headers: AxiosHeaders.from({
        Accept: "application/json",
        Connection: "keep-alive",
        "User-Agent": `pulumi-rekey/${packageVersion()}`,
        ...(body && { "Content-Type": "application/json" }),
        ...headers,
        ...(authorization && { Authorization: authorization }),
      }),
      ...(body && { data: JSON.stringify(body) }),
      maxContentLength: isList ? maxListBytes : maxRecordBytes,
      maxRedirects: 0,
      // The connection is through the proxy, if there is one.
      proxy: false,
      responseType: "text",
      transport: connection,
    });
  }
}

/** A preview or a read that asks for a change is a bug. */
export function notPermitted(facts: RequestFacts): RequestError {
  return new RequestError("not sent", facts, {
    happened: "it was asked for in a call of the engine that may not change it",
    advice: "This is a bug of Rekey. Please report it.",
    code: "REKEY_INTERNAL",
  });
}

/** Rejects at the deadline, unless the response has arrived, and when the connection ends without one. */
function lossOf(
  connection: Connection,
  endsAtMs: number,
): { readonly lost: Promise<never>; readonly stop: () => void } {
  let timer: NodeJS.Timeout | undefined;
  const lost = new Promise<never>((_, reject) => {
    const lose = (code: string) => reject(Object.assign(new Error("lost"), { code }));
    connection.onLost = () => lose("ECONNRESET");
    const end = async () => {
      // A response may have arrived, and the process may have been too busy to read it.
      for (let turn = 0; turn < turnsAfterDeadline && !connection.isComplete; turn++) {
        await nextTurn();
      }
      if (!connection.isComplete) lose("deadline");
    };
    timer = setTimeout(() => void end(), endsAtMs - performance.now());
  });
  return { lost, stop: () => clearTimeout(timer) };
}

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

/** True if a request may be delivered twice without harm. */
export function isIdempotent(request: ApiRequest): boolean {
  return request.method === "GET" || request.idempotent === true;
}

/** True if a request may only be sent in a call that may reset secrets, while the engine can save the result. */
function changesSecret(request: ApiRequest): boolean {
  return request.changesSecret ?? !isIdempotent(request);
}

/** Facts for errors about a request to a service at an address. */
export function factsOf(request: ApiRequest, baseUrl: string): RequestFacts {
  const {
    purpose,
    method,
    path,
    toCheck,
    consequences = { unchanged: "Nothing was changed." },
  } = request;
  return { purpose, method, url: `${baseUrl}${path}`, toCheck, consequences };
}

/**
 * Fills the `{name}` parts of a path, each checked and percent-encoded.
 *
 * @throws InputError for a part that is empty, a dot segment (which clients resolve) or malformed Unicode.
 */
export function fillPath(template: string, parts: Readonly<Record<string, string>>): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const part = parts[name] ?? "";
    const wrong = pathPartProblem(part);
    if (wrong) throw new InputError(name, wrong);
    return encodeURIComponent(part);
  });
}

export class RequestQueue {
  readonly #queue: PQueue;
  /** Milliseconds between the starts of two requests. */
  readonly #intervalMs: number;
  /** Measured with the monotonic clock: setting the system clock back must not stop the queue. */
  #pausedUntilMs = 0;
  /** Ends the pause. It keeps the process alive only while a request waits. */
  #pause: NodeJS.Timeout | undefined;

  constructor(maxConcurrency: number, requestsPerSecond = Infinity) {
    // Without its own interval, which is measured with the system clock.
    this.#queue = new PQueue({ concurrency: maxConcurrency });
    this.#intervalMs = 1000 / requestsPerSecond;
  }

  /** Runs a task when its turn has come; a retry goes before what has not begun. */
  run<T>(task: () => Promise<T>, { isRetry = false } = {}): Promise<T> {
    const start = (): Promise<T> => {
      if (this.#intervalMs > 0) this.pauseFor(this.#intervalMs);
      return task();
    };
    this.#pause?.ref();
    return this.#queue.add(start, { priority: isRetry ? 1 : 0 });
  }

  /** Starts no request for a time. */
  pauseFor(durationMs: number): void {
    this.#pausedUntilMs = Math.max(this.#pausedUntilMs, performance.now() + durationMs);
    this.#queue.pause();
    clearTimeout(this.#pause);
    // A timer may fire a millisecond early.
    this.#pause = setTimeout(
      () => this.#queue.start(),
      this.#pausedUntilMs - performance.now() + 1,
    );
    if (this.#queue.size === 0) this.#pause.unref();
  }
}
