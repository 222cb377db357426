import type * as redis from "@redis/client";
import { isIP, type Socket } from "node:net";
import { Connections } from "./connections";
import { addressOf, type Endpoint, hostInUrl, isLoopback } from "./endpoint";
import { RejectedError, type RequestFacts, RequestError } from "./errors";
import { whyNotSent } from "./failures";
import { type ConnectionError, openConnection, trusting } from "./openConnection";
import { redact } from "./redact";
import { RequestQueue } from "./requestQueue";
import { HttpRequester, type RequesterOptions, restService } from "./requester";
import { readJson } from "../records/json";
import { isObject } from "../records/fields";

/** What a database authenticates: a password, or a token of its REST interface. */
export type Credential =
  { readonly username?: string | undefined; readonly password: string } | { readonly restToken: string };

/** What a database does with a credential. */
export type ProbeResult =
  | { readonly is: "accepted" }
  /** @param words the server's own, without secrets */
  | { readonly is: "refused"; readonly words: string }
  /** It is unknown. @param why may be shown */
  | { readonly is: "unknown"; readonly why: string };

export interface ProbeRequest {
  readonly databaseId: string;
  readonly endpoint: Endpoint;
  readonly credential: Credential;
  /** Other credentials of the database, which are not shown if the server repeats them. */
  readonly otherSecrets: readonly string[];
}

export interface ProbeOptions {
  readonly proxy?: string | undefined;
  /** Certificates (PEM) that are trusted in addition to those that Node trusts. */
  readonly extraCertificates?: string | undefined;
  /** Secrets that results never show. */
  readonly secrets: readonly string[];
  /** Called before each connection. @throws NotSentError if nothing may be sent */
  readonly beforeProbe?: RequesterOptions["beforeReset"] | undefined;
  /** Milliseconds until an attempt is given up. Default: 5000. */
  readonly timeoutMs?: number;
}

const accepted: ProbeResult = { is: "accepted" };
const notRedis = "the server there is not a Redis";

/** Tries credentials at databases. It sends nothing but `AUTH` and `PING`, each time on a new connection. */
export class DatabaseProbe {
  readonly #timeoutMs: number;
  readonly #secure: Connections;
  /** To this machine, and so not through a proxy. */
  readonly #plain = new Connections({});
  #trust: ReturnType<typeof trusting> | undefined;

  constructor(private readonly options: ProbeOptions) {
    this.#timeoutMs = options.timeoutMs ?? 5_000;
    this.#secure = new Connections(options);
  }

  /**
   * Tries a credential once.
   *
   * @throws NotSentError if the engine is gone
   */
  async probe(request: ProbeRequest): Promise<ProbeResult> {
    const { databaseId, credential, otherSecrets } = request;
    const { host, tls } = request.endpoint;
    // A credential never leaves this machine in plain text, even if the endpoint has no TLS.
    const endpoint = { ...request.endpoint, tls: tls || !isLoopback(host) };
    const isPassword = "password" in credential;
    const saved = "The rotation itself is saved.";
    const facts: RequestFacts = {
      purpose: `verify the password of database ${JSON.stringify(databaseId)}`,
      method: isPassword ? "AUTH" : "PING",
      url: isPassword ? addressOf(endpoint) : restUrl(endpoint),
      consequences: { "not sent": saved, rejected: saved, "maybe applied": saved },
    };
    await this.options.beforeProbe?.(facts);
    const secret = isPassword ? credential.password : credential.restToken;
    const secrets = [...this.options.secrets, ...otherSecrets, secret];
    return isPassword
      ? this.#askRedis(endpoint, credential, secrets)
      : this.#askRest(endpoint, credential.restToken, facts, secrets);
  }

  async #askRedis(
    endpoint: Endpoint,
    { username, password }: Extract<Credential, { password: string }>,
    secrets: readonly string[],
  ): Promise<ProbeResult> {
    // Loaded on first use: most runs verify nothing.
    const { createClient, ErrorReply } = require("@redis/client") as typeof redis;
    let timer: NodeJS.Timeout | undefined;
    let tunnel: Socket | undefined;
    try {
      const { host, port } = endpoint;
      if (endpoint.tls) tunnel = await this.#openTcp(endpoint);
      const client = createClient({
        // With these options, the client sends nothing by itself.
        RESP: 2,
        disableClientInfo: true,
        maintNotifications: "disabled",
        socket: {
          host,
          port,
          ...(tunnel && { tls: true as const, socket: tunnel, ...this.#trusted() }),
          ...(tunnel && isIP(host) === 0 && { servername: host }),
          connectTimeout: this.#timeoutMs,
          reconnectStrategy: false,
        },
      });
      const failed = new Promise<never>((_, reject) => {
        client.on("error", reject);
        timer = setTimeout(() => reject(new ProbeTimeout(client.isReady)), this.#timeoutMs);
      });
      const ask = (...command: string[]): Promise<unknown> =>
        client.sendCommand(command).catch((error: Error) => {
          if (error instanceof ErrorReply) return error;
          throw error;
        });
      const converse = async (): Promise<ProbeResult> => {
        await client.connect();
        const login = await ask("AUTH", ...(username ? [username] : []), password);
        if (login instanceof Error) return judgeRefusal(login.message, secrets);
        const pong = login === "OK" ? await ask("PING") : login;
        if (pong === "PONG") return accepted;
        return unknown(pong instanceof Error ? responded("PING", pong.message, secrets) : notRedis);
      };
      try {
        return await Promise.race([converse(), failed]);
      } finally {
        client.destroy();
      }
    } catch (error) {
      return unknown(whyUnknown(error));
    } finally {
      clearTimeout(timer);
      tunnel?.destroy();
    }
  }

  /** Opens a connection without TLS, through the proxy if there is one. */
  #openTcp({ host, port }: Endpoint): Promise<Socket> {
    const { proxy } = this.options;
    const url = new URL(`http://${hostInUrl(host)}:${port}`);
    return openConnection(url, { proxy, ...this.#trusted(), timeoutMs: this.#timeoutMs });
  }

  #trusted(): ReturnType<typeof trusting> {
    return (this.#trust ??= trusting(this.options.extraCertificates));
  }

  async #askRest(
    endpoint: Endpoint,
    token: string,
    { purpose, consequences }: RequestFacts,
    secrets: readonly string[],
  ): Promise<ProbeResult> {
    const requester = new HttpRequester(
      restService(restUrl(endpoint), token),
      endpoint.tls ? this.#secure : this.#plain,
      new RequestQueue({ maxConcurrency: 1 }),
      { deadlineMs: this.#timeoutMs, secrets },
    );
    try {
      const { body } = await requester.send({ method: "GET", path: "/PING", idempotent: true, purpose, consequences });
      return isPong(body) ? accepted : unknown("the server there is not the REST interface of a Redis");
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      const refused = error instanceof RejectedError && [401, 403].includes(error.status ?? 0);
      return refused ? { is: "refused", words: error.happened } : unknown(error.happened);
    }
  }
}

function restUrl(endpoint: Endpoint): string {
  return addressOf(endpoint).replace(/^redis/, "http");
}

function isPong(body: string): boolean {
  try {
    const { value } = readJson(body);
    return isObject(value) && value["result"] === "PONG";
  } catch {
    return false;
  }
}

/** What an error in response to `AUTH` means. */
function judgeRefusal(words: string, secrets: readonly string[]): ProbeResult {
  if (/^(WRONGPASS|ERR invalid password)\b/i.test(words)) return { is: "refused", words: redact(words, secrets) };
  if (/^ERR unknown command/i.test(words)) return unknown("the server does not know the command AUTH");
  return unknown(responded("AUTH", words, secrets));
}

function responded(command: string, words: string, secrets: readonly string[]): string {
  return `the server responded to ${command} with an error: ${redact(words, secrets)}`;
}

/** Why there was no usable response. Of the client's errors only the kind is shown. */
function whyUnknown(error: unknown): string {
  if (error instanceof ProbeTimeout) return error.message;
  const { code, proxy } = error as ConnectionError;
  if (proxy !== undefined || typeof code === "string") {
    return whyNotSent({ addressSetting: "" }, { code, proxy, attempts: 1 }).happened;
  }
  const { SocketClosedUnexpectedlyError, ConnectionTimeoutError } = require("@redis/client") as typeof redis;
  if (error instanceof SocketClosedUnexpectedlyError) return "the server closed the connection";
  return error instanceof ConnectionTimeoutError ? "the connection timed out" : notRedis;
}

class ProbeTimeout extends Error {
  constructor(isConnected: boolean) {
    super(isConnected ? "the server did not respond in time" : "the connection timed out");
  }
}

function unknown(why: string): ProbeResult {
  return { is: "unknown", why };
}
