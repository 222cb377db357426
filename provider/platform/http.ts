import { Axios, type AxiosError } from "axios";
import { type AttemptState, type Connections, type Deadline } from "./agents";
import { ConnectionError } from "./openConnection";
import { decideRetry, deliveryOfResponse, readRetryAfter } from "./retry";
import { NotSentError, type RequestFacts, InputError } from "./errors";
import { adviceOnContent, errorOf, type FailedAttempt, type Service } from "./failures";
import { type KnownSecrets } from "./redact";
import { type RequestQueue } from "./requestQueue";
import { type Readable } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import { packageVersion } from "./version";
import { pathPartProblem } from "../records/fields";

/**
 * The management interface.
 *
 * @see docs/interface.md#authentication
 */
export function managementService(baseUrl: string, username: string, password: string): Service {
  return {
    name: "management",
    baseUrl,
    authorization: `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`,
  };
}

/**
 * The message queue's interface, or the REST interface of one database.
 *
 * @see docs/interface.md#authentication
 */
export function tokenService(name: "queue" | "database", baseUrl: string, token: string): Service {
  return { name, baseUrl, authorization: `Bearer ${token}` };
}

/** What distinguishes requests that only read from those that change something. */
type Effect =
  | { readonly method: "GET" }
  | {
      readonly method: "POST";
      /**
       * Whether the request may be delivered twice without harm. One that may not is never repeated once it may have
       * arrived.
       */
      readonly idempotent: boolean;
      readonly consequences: RequestFacts["consequences"];
    };

export type ApiRequest = Effect & {
  /** What the request is for: `reset the password of database "x"`. */
  readonly purpose: string;
  /** Path below the service's address, its parts already encoded. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  /**
   * Whether it has a connection of its own, because its response does not show to which request it belongs.
   *
   * @default false
   */
  readonly ownConnection?: boolean;
  /**
   * Bytes of the largest 2xx body that is read, decompressed.
   *
   * @default 1 MiB, which a record cannot exceed
   */
  readonly maxBytes?: number;
};

/** A 2xx response. Its body is unparsed text, which the caller parses. */
export interface ApiResponse {
  readonly status: number;
  readonly body: string;
  /** Details of the request, for errors about this response. */
  readonly facts: RequestFacts;
  /** What to do if its body cannot be used, for the same errors. */
  readonly advice: string;
  /** Whether its connection carried another request before: it may be another response to that one. */
  readonly isReused: boolean;
  /** To be called once it is recognized as the response to its request: its connection is closed otherwise. */
  readonly recognize: () => void;
}

/**
 * What a call of the engine may send in addition to reads: `nothing`; `limits`, which includes all that may be
 * repeated; or `resets`, which includes resets of secrets.
 */
export type Permission = "nothing" | "limits" | "resets";

/** Sends requests to one service of the platform. */
export interface Requester {
  /** What its errors never show. */
  readonly secrets: KnownSecrets;
  /** @throws RequestError for any response but 2xx, and for none. */
  send(request: ApiRequest): Promise<ApiResponse>;
}

export interface RequesterOptions {
  /** What errors never show, whichever service repeats it. */
  readonly secrets: KnownSecrets;
  /**
   * What it may send.
   *
   * @default "nothing"
   */
  readonly permission?: Permission;
  /** Milliseconds until a request fails, retries included, from its first attempt. */
  readonly deadlineMs: number;
  /**
   * Called immediately before the first byte of a request that must not be repeated, when its connection is ready;
   * throws a NotSentError if the request must not be sent.
   */
  readonly beforeSend?: (facts: RequestFacts) => Promise<void>;
  /**
   * Headers with which the platform says when it accepts requests again, in Unix seconds, if it sends no `Retry-After`.
   * The first one with a time to come counts. Default: none.
   */
  readonly resetHeaders?: readonly string[] | undefined;
}

/** An attempt with a 2xx response. */
interface Answered {
  readonly delivery: "responded";
  readonly status: number;
  readonly body: string;
  readonly state: AttemptState;
}

/** An instance of our own: the defaults and interceptors of the program's axios would see our secrets. */
const http = new Axios({});

/** Bytes of the largest body that is read, decompressed. */
const maxRecordBytes = 1024 * 1024;
const maxErrorBytes = 64 * 1024;
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
    if (!isPermitted(request, this.options.permission)) {
      throw new NotSentError(facts, {
        happened: "it was asked for in a call of the engine that may not change it",
        advice: "This is a bug of Rekey. Please report it.",
        code: "REKEY_INTERNAL",
      });
    }
    const { deadlineMs } = this.options;
    let endsAtMs: number | undefined;
    for (let attempt = 1; ; attempt++) {
      const turn = async () => {
        endsAtMs ??= performance.now() + deadlineMs;
        const outcome = await this.#attempt(request, facts, { deadlineMs, endsAtMs });
        const remainingMs = endsAtMs - performance.now();
        const decision = decideRetry(
          { ...outcome, idempotent: isIdempotent(request), attempt, remainingMs },
          Math.random(),
        );
        // Before this task ends, because the next one would start.
        if (decision.kind === "wait" && decision.appliesToAll) this.queue.pauseFor(decision.waitMs);
        return { outcome, decision };
      };
      const { outcome, decision } = await this.queue.run(turn, { isRetry: attempt > 1 });
      const service = this.service.name;
      if (outcome.delivery === "responded") {
        const advice = adviceOnContent(service, facts.method);
        const { status, body, state } = outcome;
        const recognize = () => {
          state.isRecognized = true;
        };
        return { status, body, facts, advice, isReused: state.isReused === true, recognize };
      }
      if (decision.kind === "stop") {
        throw errorOf(facts, service, { ...outcome, attempts: attempt }, this.secrets);
      }
      if (!decision.appliesToAll) await new Promise((resolve) => setTimeout(resolve, decision.waitMs));
    }
  }

  /** @throws NotSentError if the request must not be sent */
  async #attempt(request: ApiRequest, facts: RequestFacts, deadline: Deadline): Promise<Answered | FailedAttempt> {
    const { url } = facts;
    const state: AttemptState = { sent: false };
    const abort = new AbortController();
    const { signal } = abort;
    const remainingMs = deadline.endsAtMs - performance.now();
    if (remainingMs <= 0) abort.abort();
    const timer = setTimeout(() => void abortUnlessComplete(abort, state), remainingMs);
    const use = {
      deadline,
      state,
      ownConnection: request.ownConnection,
      beforeSend: isIdempotent(request) ? undefined : async () => this.options.beforeSend?.(facts),
    };
    try {
      const response = await http.request<Readable>({
        method: request.method,
        url,
        params: request.query,
        headers: {
          Authorization: this.service.authorization,
          Accept: "application/json",
          // There is no body, but axios would send a content type.
          "Content-Type": false,
          "User-Agent": `pulumi-rekey/${packageVersion()}`,
        },
        adapter: "http",
        maxRedirects: 0,
        proxy: false,
        responseType: "stream",
        validateStatus: () => true,
        signal,
        transport: this.connections.transportFor(new URL(url), use),
      });
      const { status, data, headers } = response;
      const delivery = deliveryOfResponse(status);
      const isAnswered = delivery === "responded";
      const body = await readText(data, isAnswered ? (request.maxBytes ?? maxRecordBytes) : maxErrorBytes);
      if (isAnswered) return body === undefined ? tooLarge : { delivery, status, body, state };
      const resetHeaders = status === 429 ? this.options.resetHeaders : [];
      const sent = headers as Partial<Record<string, string>>;
      return { delivery, status, body, retryAfterMs: readRetryAfter(sent, Date.now(), resetHeaders) };
    } catch (error) {
      const { cause } = error as AxiosError;
      if (cause instanceof NotSentError) throw cause;
      if (cause instanceof ConnectionError) return { delivery: "not sent", code: cause.code, proxy: cause.proxy };
      const { code } = error as NodeJS.ErrnoException;
      // The code does not tell: a connection can be reset before a request was sent, and after it was applied.
      return { delivery: state.sent ? "maybe applied" : "not sent", code: signal.aborted ? "deadline" : code };
    } finally {
      clearTimeout(timer);
    }
  }
}

/** Each reset needs the permission, and none is given by default: a preview or a read that asks for one is a bug. */
function isPermitted(request: ApiRequest, permission: Permission = "nothing"): boolean {
  if (request.method === "GET" || permission === "resets") return true;
  return permission === "limits" && request.idempotent;
}

/** Whether a request may be delivered twice without harm. */
export function isIdempotent(request: ApiRequest): boolean {
  return request.method === "GET" || request.idempotent;
}

const unchanged = "Nothing was changed.";
const nothingChanged = { "not sent": unchanged, rejected: unchanged, "maybe applied": unchanged };

/** What errors say about a request to a service at an address. */
export function factsOf(request: ApiRequest, baseUrl: string): RequestFacts {
  const { purpose, method, path } = request;
  // A path from the settings may contain a key in its query.
  const url = `${baseUrl}${path}`.replace(/[?#].*/s, "");
  return { purpose, method, url, consequences: method === "GET" ? nothingChanged : request.consequences };
}

const tooLarge: FailedAttempt = { delivery: "maybe applied", code: "too large" };

/** Ends an attempt at its deadline, unless its response has arrived: the process may have been too busy to read it. */
async function abortUnlessComplete(abort: AbortController, state: AttemptState): Promise<void> {
  for (let turn = 0; state.sent && turn < turnsAfterDeadline; turn++) {
    await nextTurn();
    if (state.response?.complete) return;
  }
  abort.abort();
}

/** The text of a body; undefined, and nothing more is read, if it is too large. */
async function readText(body: Readable, maxBytes: number): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBytes) return undefined;
    chunks.push(chunk);
  }
  return new TextDecoder().decode(Buffer.concat(chunks));
}

/**
 * Fills the `{name}` parts of a path, each checked and percent-encoded.
 *
 * @throws InputError for a part that is empty, a dot segment (which clients resolve) or malformed Unicode.
 */
export function fillPath(template: string, parts: Readonly<Record<string, string>>): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) => encodePart(name, parts[name] ?? ""));
}

function encodePart(name: string, part: string): string {
  const wrong = pathPartProblem(part);
  if (wrong) throw new InputError(name, wrong);
  return encodeURIComponent(part);
}
