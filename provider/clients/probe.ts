import { tryReadObject } from "../records/response";
import { ConnectionError, type Connections } from "../platform/connections";
import {
  type ClientEndpoint,
  type Credential,
  type HttpProbe,
  credentialNoun,
  type ProbeEndpoint,
  shownEndpoint,
} from "../domain/endpoint";
import { RequestError, type RequestFacts } from "../domain/errors";
import { whyNotSent } from "../platform/failures";
import {
  type ApiRequest,
  factsOf,
  HttpRequester,
  type RequesterOptions,
  RequestQueue,
  type Service,
} from "../platform/http";
import { quote } from "../platform/quote";
import { type KnownSecrets } from "../platform/redact";
import {
  connectToRedis,
  ErrorReply,
  isOk,
  NoReplyError,
  type RedisConnection,
} from "./redisConnection";

/**
 * The result of trying a credential at a server. Neither `words`, which are the server's own, nor `why` contains
 * secrets; `advice` says what to do, if that is known.
 */
export type ProbeResult =
  | { readonly kind: "accepted" }
  | { readonly kind: "refused"; readonly words: string }
  | { readonly kind: "unknown"; readonly why: string; readonly advice?: string | undefined };

export interface ProbeRequest {
  /** The owner of the credential, in messages: `database "sessions"` */
  readonly owner: string;
  readonly endpoint: ProbeEndpoint;
  readonly credential: Credential;
  /** Milliseconds until the attempt is given up. */
  readonly timeoutMs: number;
  /** An error's words on the changes so far if nothing may be sent. Default: `The rotation itself is saved.` */
  readonly unchanged?: string;
}

/** A request of a program that has a credential in its headers or its query. */
export type ProgramRequest = Omit<Service, "name"> &
  Pick<ApiRequest, "method" | "path" | "query" | "headers">;

export type StatusResult = Partial<Pick<RequestError, "status" | "happened" | "advice">>;

export interface ProbeOptions {
  readonly connections: Connections;
  /** Secrets that results never show. */
  readonly secrets: KnownSecrets;
  /** Called before each connection. @throws RequestError if nothing may be sent */
  readonly beforeSend?: RequesterOptions["beforeSend"] | undefined;
}

const accepted: ProbeResult = { kind: "accepted" };

/** Tries credentials, each time on a new connection. It sends only `AUTH` to databases, and one GET to others. */
export class CredentialProbe {
  constructor(private readonly options: ProbeOptions) {}

  /** Tries a credential once. */
  async probe(request: ProbeRequest): Promise<ProbeResult> {
    const {
      owner,
      endpoint,
      credential,
      timeoutMs,
      unchanged = "The rotation itself is saved.",
    } = request;
    const facts: RequestFacts = {
      purpose: `verify the ${credentialNoun(credential)} of ${owner}`,
      method: credential.name === "password" ? "AUTH" : "GET",
      url: shownEndpoint(endpoint, credential),
      consequences: { unchanged },
    };
    await this.options.beforeSend?.(facts);
    this.options.secrets.add([credential.value]);
    if (!("path" in endpoint) && credential.name === "password") {
      return this.#authenticate(endpoint, credential, timeoutMs);
    }
    const ping: HttpProbe = { service: "database", baseUrl: facts.url, path: "/PING" };
    return this.#get("path" in endpoint ? endpoint : ping, credential, facts, timeoutMs);
  }

  /** Sends a request of a program. @returns the status of the response, or why there is none, and what to do */
  async statusOf(
    { baseUrl, authorization, ...given }: ProgramRequest,
    deadlineMs: number,
  ): Promise<StatusResult> {
    const request = {
      ...given,
      purpose: "verify a credential",
      idempotent: true,
      newConnection: true,
      isStatusEnough: true,
    };
    await this.options.beforeSend?.(factsOf(request, baseUrl));
    const requester = this.#requesterFor({ name: "vendor", baseUrl, authorization }, deadlineMs);
    try {
      return await requester.send(request);
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      return error;
    }
  }

  async #authenticate(
    endpoint: ClientEndpoint,
    credential: Credential,
    timeoutMs: number,
  ): Promise<ProbeResult> {
    const { connections, secrets } = this.options;
    try {
      const connection = await connectToRedis(connections, endpoint, timeoutMs);
      return await authenticate(connection, credential, secrets).finally(() => connection.close());
    } catch (error) {
      if (error instanceof ConnectionError) return unknown(whyNotSent("database", error).happened);
      throw error;
    }
  }

  async #get(
    { service, baseUrl, path }: HttpProbe,
    { value }: Credential,
    { purpose }: RequestFacts,
    timeoutMs: number,
  ): Promise<ProbeResult> {
    // In errors, what responds for an index is the platform, as for the queue.
    const name = service === "database" ? "database" : "queue";
    const authorization = `Bearer ${value}`;
    const requester = this.#requesterFor({ name, baseUrl, authorization }, timeoutMs);
    try {
      const { body } = await requester.send({ method: "GET", path, newConnection: true, purpose });
      const response = tryReadObject(body);
      const isExpected =
        service === "database" ? response?.["result"] === "PONG" : response !== undefined;
      return isExpected
        ? accepted
        : unknown(`the response to GET ${path} is not that of the ${service}`);
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      const { happened, status = 0, words = "" } = error;
      // A user without the permission to PING is authenticated all the same.
      if (service === "database" && words.startsWith("NOPERM ")) return accepted;
      return [401, 403].includes(status) ? { kind: "refused", words: happened } : unknown(happened);
    }
  }

  #requesterFor(service: Service, deadlineMs: number): HttpRequester {
    const { connections, secrets } = this.options;
    return new HttpRequester(service, connections, new RequestQueue(1), {
      deadlineMs,
      secrets,
      permission: "limits",
    });
  }
}

function unknown(why: string, advice?: string): ProbeResult {
  return { kind: "unknown", why, advice };
}

/** Logs in with a password, on a connection that stays open. */
export async function authenticate(
  connection: RedisConnection,
  { username, value }: Pick<Credential, "username" | "value">,
  secrets: KnownSecrets,
): Promise<ProbeResult> {
  secrets.add([value]);
  try {
    const reply = await connection.send("AUTH", ...(username ? [username] : []), value);
    if (isOk(reply)) return accepted;
    if (!(reply instanceof ErrorReply)) return unknown("the reply to AUTH is not that of a Redis");
    const words = quote(reply.text, secrets);
    if (/^(WRONGPASS|ERR invalid password)\b/i.test(reply.text)) return { kind: "refused", words };
    return unknown(`the server responded to AUTH with an error: ${words}`);
  } catch (error) {
    if (error instanceof NoReplyError) return unknown(error.message, error.advice);
    throw error;
  }
}
