import { tryReadObject } from "../records/response";
import { ConnectionError } from "../platform/connections";
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
  HttpRequester,
  type RequesterOptions,
  RequestQueue,
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
import { type ServerConnections } from "./serverConnections";

/**
 * Whether a server accepts a credential. Neither `words`, which are its own, nor `why` contains secrets; `advice` says
 * what to do, if that is known.
 */
export type ProbeResult =
  | { readonly kind: "accepted" }
  | { readonly kind: "refused"; readonly words: string }
  | { readonly kind: "unknown"; readonly why: string; readonly advice?: string | undefined };

export interface ProbeRequest {
  /** What has the credential, in messages: `database "sessions"` */
  readonly owner: string;
  readonly endpoint: ProbeEndpoint;
  readonly credential: Credential;
  /** Milliseconds until the attempt is given up. */
  readonly timeoutMs: number;
  /** What an error says of the changes so far if nothing may be sent. Default: `The rotation itself is saved.` */
  readonly unchanged?: string;
}

/** A request of a program, with a credential in its headers or its query. */
export interface ProgramRequest extends Required<
  Pick<ApiRequest, "method" | "path" | "search" | "headers">
> {
  readonly baseUrl: string;
}

/** The status of a response, or why there is none. */
export type ProgramResult = { readonly status: number } | { readonly why: string };

export interface ProbeOptions {
  readonly connections: ServerConnections;
  /** What results never show. */
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
    if ("path" in endpoint) return this.#get(endpoint, credential, facts, timeoutMs);
    if (credential.name === "password") return this.#authenticate(endpoint, credential, timeoutMs);
    return this.#get(
      { service: "database", baseUrl: facts.url, path: "/PING" },
      credential,
      facts,
      timeoutMs,
    );
  }

  /** Sends a request of a program, on a new connection. Nothing but the status of the response is returned. */
  async send(request: ProgramRequest, timeoutMs: number): Promise<ProgramResult> {
    const { baseUrl, ...sent } = request;
    const facts: RequestFacts = {
      purpose: "verify a credential",
      method: sent.method,
      url: `${baseUrl}${sent.path}`,
      consequences: { unchanged: "Nothing was changed." },
    };
    await this.options.beforeSend?.(facts);
    const requester = new HttpRequester(
      { name: "queue", baseUrl },
      this.options.connections.to(new URL(baseUrl)),
      new RequestQueue(1),
      { deadlineMs: timeoutMs, secrets: this.options.secrets, permission: "limits" },
    );
    const { purpose } = facts;
    try {
      return await requester.send({ ...sent, idempotent: true, newConnection: true, purpose });
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      const { status, happened } = error;
      return status === undefined ? { why: happened } : { status };
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
    const requester = new HttpRequester(
      { name, baseUrl, authorization: `Bearer ${value}` },
      this.options.connections.to(new URL(baseUrl)),
      new RequestQueue(1),
      { deadlineMs: timeoutMs, secrets: this.options.secrets },
    );
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
