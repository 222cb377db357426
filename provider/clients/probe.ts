import { type Socket } from "node:net";
import { tryReadObject } from "../records/response";
import {
  type ConnectionError,
  Connections,
  type ConnectionSettings,
} from "../platform/connections";
import {
  type ClientEndpoint,
  type Credential,
  type HttpProbe,
  credentialNoun,
  type ProbeEndpoint,
  restAddressOf,
  shownEndpoint,
} from "../domain/endpoint";
import { RequestError, type RequestFacts } from "../domain/errors";
import { whyNotSent } from "../platform/failures";
import { HttpRequester, type RequesterOptions, RequestQueue } from "../platform/http";
import { quote } from "../platform/quote";
import { type KnownSecrets } from "../platform/redact";

/** What a server does with a credential; `words` are its own, without secrets, and `why` may be shown, too. */
export type ProbeResult =
  | { readonly kind: "accepted" }
  | { readonly kind: "refused"; readonly words: string }
  | { readonly kind: "unknown"; readonly why: string };

export interface ProbeRequest {
  /** What has the credential, in messages: `database "sessions"` */
  readonly owner: string;
  readonly endpoint: ProbeEndpoint;
  readonly credential: Credential;
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

/** Tries credentials, each time on a new connection. It sends only `AUTH` to databases, and one GET to others. */
export class CredentialProbe {
  readonly #secure: Connections;
  /** To this machine, and so not through a proxy. */
  readonly #plain = new Connections();

  constructor(private readonly options: ProbeOptions) {
    this.#secure = new Connections(options);
  }

  /** Tries a credential once. */
  async probe({ owner, endpoint, credential, timeoutMs }: ProbeRequest): Promise<ProbeResult> {
    const facts: RequestFacts = {
      purpose: `verify the ${credentialNoun(credential)} of ${owner}`,
      method: credential.name === "password" ? "AUTH" : "GET",
      url: shownEndpoint(endpoint, credential),
      consequences: { unchanged: "The rotation itself is saved." },
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

  async #authenticate(
    endpoint: ClientEndpoint,
    { username, value }: Credential,
    timeoutMs: number,
  ): Promise<ProbeResult> {
    const endsAt = performance.now() + timeoutMs;
    try {
      const url = new URL(restAddressOf(endpoint));
      const socket = await this.#connectionsTo(url).open(url, { timeoutMs });
      const reply = await replyTo(
        socket,
        ["AUTH", ...(username ? [username] : []), value],
        endsAt - performance.now(),
      );
      if (reply === "+OK") return accepted;
      const words = quote(reply.slice(1), this.options.secrets);
      if (/^-(WRONGPASS|ERR invalid password)\b/i.test(reply)) return { kind: "refused", words };
      if (reply.startsWith("-")) {
        return unknown(`the server responded to AUTH with an error: ${words}`);
      }
      return unknown("the reply to AUTH is not that of a Redis");
    } catch (error) {
      if (error instanceof NoReplyError) return unknown(error.message);
      return unknown(whyNotSent("database", error as ConnectionError).happened);
    }
  }

  #connectionsTo({ protocol }: URL): Connections {
    return protocol === "https:" ? this.#secure : this.#plain;
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
      this.#connectionsTo(new URL(baseUrl)),
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

function unknown(why: string): ProbeResult {
  return { kind: "unknown", why };
}

/** The server sent nothing that can be read as a reply. The message may be shown. */
class NoReplyError extends Error {}

/** Characters. A Redis replies to `AUTH` with one short line. */
const longestReply = 64 * 1024;

/**
 * Sends a command to a Redis, and closes the connection after its reply.
 *
 * @returns the first line of a status (`+`) or an error (`-`), without its line break
 * @throws NoReplyError for any other reply, and for none within the time
 */
async function replyTo(
  socket: Socket,
  command: readonly string[],
  timeoutMs: number,
): Promise<string> {
  const late = new NoReplyError("the server did not respond in time");
  const timer = setTimeout(() => socket.destroy(late), timeoutMs);
  const parts = command.map((part) => `$${Buffer.byteLength(part)}\r\n${part}\r\n`);
  try {
    socket.setEncoding("utf8").write(`*${command.length}\r\n${parts.join("")}`);
    let reply = "";
    // Leaving the loop closes the connection.
    for await (const text of socket) {
      reply += text as string;
      if (!/^[+-]/.test(reply) || reply.length > longestReply) {
        throw new NoReplyError(`the reply to ${command[0]} is not that of a Redis`);
      }
      const [line = "", ...rest] = reply.split("\r\n");
      if (rest.length > 0) return line;
    }
    throw new NoReplyError("the server closed the connection");
  } finally {
    clearTimeout(timer);
  }
}
