import { type Socket } from "node:net";
import { Connections, type ConnectionSettings } from "./connections";
import { type ConnectionError } from "./openConnection";
import { type RequestFacts, RequestError } from "./errors";
import { isCertificateCode, isTlsAlert, whyNotSent } from "./failures";
import { type KnownSecrets } from "./redact";
import { quote } from "./serverWords";
import { ask, NoReplyError, notRedis } from "./redisCommands";
import { RequestQueue } from "./requestQueue";
import { HttpRequester, type RequesterOptions, tokenService } from "./http";
import { tryReadObject } from "../records/response";
import { type ClientEndpoint, restAddressOf } from "./address";
import { type Credential, type HttpProbe, nameOf, type ProbeEndpoint, secretOf, shownEndpoint } from "./credential";
import { isLoopback } from "../records/fields";

/** What a server does with a credential. */
export type ProbeResult =
  | { readonly kind: "accepted" }
  /** @param words the server's own, without secrets */
  | { readonly kind: "refused"; readonly words: string }
  /** It is unknown. @param why may be shown. @param advice what to do, if that depends on the reason */
  | { readonly kind: "unknown"; readonly why: string; readonly advice?: string | undefined };

export interface ProbeRequest {
  /** What has the credential, in messages: `database "sessions"` */
  readonly owner: string;
  readonly endpoint: ProbeEndpoint;
  readonly credential: Credential;
  /** Other credentials of the same kind, which are not shown if the server repeats them. */
  readonly otherSecrets: readonly string[];
  /** Milliseconds until the attempt is given up. */
  readonly timeoutMs: number;
}

export interface ProbeOptions extends ConnectionSettings {
  /** What results never show. */
  readonly secrets: KnownSecrets;
  /** Called before each connection. @throws RequestError if nothing may be sent */
  readonly beforeSend?: RequesterOptions["beforeSend"] | undefined;
}

const accepted: ProbeResult = { kind: "accepted" };
const tooLate = "the server did not respond in time";

/**
 * Tries credentials, each time on a new connection. It sends nothing but `AUTH` and `PING` to databases, and one GET to
 * others.
 */
export class CredentialProbe {
  readonly #secure: Connections;
  /** To this machine, and so not through a proxy. */
  readonly #plain = new Connections();

  constructor(private readonly options: ProbeOptions) {
    this.#secure = new Connections(options);
  }

  /**
   * Tries a credential once.
   *
   * @throws RequestError if the engine is gone
   */
  async probe(request: ProbeRequest): Promise<ProbeResult> {
    const { owner, credential, otherSecrets, timeoutMs } = request;
    const endpoint = withTls(request.endpoint);
    const facts: RequestFacts = {
      purpose: `verify the ${nameOf(credential)} of ${owner}`,
      method: "password" in credential ? "AUTH" : "restToken" in credential ? "PING" : "GET",
      url: shownEndpoint(endpoint, credential),
      consequences: { unchanged: "The rotation itself is saved." },
    };
    await this.options.beforeSend?.(facts);
    const secret = secretOf(credential);
    this.options.secrets.add([...otherSecrets, secret]);
    if ("path" in endpoint) return this.#get(endpoint, secret, facts, timeoutMs);
    if ("password" in credential) return this.#askRedis(endpoint, credential, timeoutMs);
    return this.#get({ service: "database", baseUrl: facts.url, path: "/PING" }, secret, facts, timeoutMs);
  }

  async #askRedis(
    endpoint: ClientEndpoint,
    { username, password }: Extract<Credential, { password: string }>,
    timeoutMs: number,
  ): Promise<ProbeResult> {
    const endsAt = performance.now() + timeoutMs;
    let socket: Socket | undefined;
    try {
      const url = new URL(restAddressOf(endpoint));
      const connection = (socket = await this.#connectionsTo(url).open(url, { timeoutMs }));
      const send = (...command: string[]) => ask(connection, command, endsAt - performance.now());
      const login = await send("AUTH", ...(username ? [username] : []), password);
      if (login.startsWith("-")) return judgeRefusal(login.slice(1), this.options.secrets);
      if (login !== "+OK") throw notRedis("AUTH");
      const pong = await send("PING");
      // A user without the permission is authenticated all the same.
      if (pong === "+PONG" || pong.startsWith("-NOPERM ")) return accepted;
      if (pong.startsWith("-")) return unknown(responded("PING", pong.slice(1), this.options.secrets));
      throw notRedis("PING");
    } catch (error) {
      return error instanceof NoReplyError ? unknown(error.message) : this.#whyNotConnected(error as ConnectionError);
    } finally {
      socket?.destroy();
    }
  }

  #connectionsTo({ protocol }: URL): Connections {
    return protocol === "https:" ? this.#secure : this.#plain;
  }

  /** Of the error, only its kind is shown. */
  #whyNotConnected({ code, proxy, inHandshake }: ConnectionError): ProbeResult {
    const { happened, advice } = whyNotSent("database", { code, proxy });
    if (isCertificateCode(code)) return unknown(happened, advice);
    if (!inHandshake) return unknown(happened);
    const handshake = `the TLS handshake ${code === "ETIMEDOUT" ? "was not finished in time" : `failed (${code})`}`;
    if (isTlsAlert(code)) return unknown(handshake);
    return unknown(
      `${handshake}: the port may not use TLS`,
      "Check that host and port are those of an endpoint with TLS: only a database on this machine is used without it.",
    );
  }

  async #get(
    { service, baseUrl, path }: HttpProbe,
    token: string,
    { purpose }: RequestFacts,
    timeoutMs: number,
  ): Promise<ProbeResult> {
    const requester = new HttpRequester(
      // In errors, what responds for an index is the platform, as for the queue.
      tokenService(service === "database" ? "database" : "queue", baseUrl, token),
      this.#connectionsTo(new URL(baseUrl)),
      new RequestQueue({ maxConcurrency: 1 }),
      { deadlineMs: timeoutMs, secrets: this.options.secrets },
    );
    try {
      const { body } = await requester.send({ method: "GET", path, ownConnection: true, purpose });
      const response = tryReadObject(body);
      const isExpected = service === "database" ? response?.["result"] === "PONG" : response !== undefined;
      return isExpected ? accepted : unknown(`the server there is not ${expectedAt[service]}`);
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      const { happened, status = 0, networkCode } = error;
      if (networkCode === "deadline") return unknown(tooLate);
      // The address of an index is in no setting that the advice could name.
      const advice = isCertificateCode(networkCode) && service !== "index" ? error.advice : undefined;
      if (error.delivery !== "rejected") return unknown(happened, advice);
      // A user without the permission to PING is authenticated all the same.
      if (service === "database" && error.words?.startsWith("NOPERM ")) return accepted;
      return [401, 403].includes(status) ? { kind: "refused", words: happened } : unknown(happened);
    }
  }
}

const expectedAt = {
  database: "the REST interface of a Redis",
  index: "the REST interface of an index",
  queue: "the message queue",
} as const;

/** A credential never leaves this machine in plain text, even if the endpoint of a database has no TLS. */
function withTls(endpoint: ProbeEndpoint): ProbeEndpoint {
  return "path" in endpoint ? endpoint : { ...endpoint, tls: endpoint.tls || !isLoopback(endpoint.host) };
}

/** What an error in response to `AUTH` means. */
function judgeRefusal(words: string, secrets: KnownSecrets): ProbeResult {
  if (/^(WRONGPASS|ERR invalid password)\b/i.test(words)) return { kind: "refused", words: quote(words, secrets) };
  if (/^ERR unknown command/i.test(words)) return unknown("the server does not know the command AUTH");
  return unknown(responded("AUTH", words, secrets));
}

function responded(command: string, words: string, secrets: KnownSecrets): string {
  if (words === "") return `the server responded to ${command} with an empty error`;
  return `the server responded to ${command} with an error: ${quote(words, secrets)}`;
}

function unknown(why: string, advice?: string): ProbeResult {
  return { kind: "unknown", why, ...(advice !== undefined && { advice }) };
}
